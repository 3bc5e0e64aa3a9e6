import torch
from torch import nn

torch.set_default_device("cuda")
torch.manual_seed(0)


class Mixture(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.means = nn.Parameter(torch.linspace(-1, 1, k))
        self.logits = nn.Parameter(torch.zeros(k))

    def forward(self, x):
        comp = torch.distributions.Normal(self.means, torch.ones(len(self.means)))
        return torch.logsumexp(self.logits.log_softmax(0) + comp.log_prob(x[:, None]), 1)


mixture = Mixture()
opt = torch.optim.Adam(mixture.parameters(), 0.05)
x = torch.cat([torch.randn(10) - 2, torch.randn(10) + 2])
for _ in range(5):
    loss = -mixture(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(mixture.means.detach().cpu().numpy().shape, loss.item() > 0)
