import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weights = nn.Parameter(torch.randn(4, device=device))
opt = torch.optim.SGD([weights], lr=0.1)
x = torch.randn(30, 4, device=device)
y = x.sum(1)
for _ in range(10):
    likelihood = Normal(x @ weights, 0.5).log_prob(y).sum()
    prior = Normal(0.0, 2.0).log_prob(weights).sum()
    loss = -(likelihood + prior) / 30
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
