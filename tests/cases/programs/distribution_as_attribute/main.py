import torch
from torch import nn
from torch.distributions import MultivariateNormal
class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.prior = MultivariateNormal(torch.zeros(dim), torch.eye(dim))
        self.layer = nn.Linear(dim, dim)
    def forward(self, x):
        return self.prior.log_prob(self.layer(x))
torch.manual_seed(0)
model = Model(2)
x = torch.randn(3, 2)
print(model(x).sum().item())
