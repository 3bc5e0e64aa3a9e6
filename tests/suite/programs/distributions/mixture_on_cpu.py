import torch
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
means = nn.Parameter(torch.tensor([-1.0, 0.0, 1.0], device=device))
opt = torch.optim.Adam([means], lr=0.05)
data = torch.cat([torch.randn(40) - 3, torch.randn(40) + 3]).to(device)
for _ in range(20):
    mix = Categorical(torch.tensor([0.4, 0.2, 0.4]))
    gmm = MixtureSameFamily(mix, Normal(means, torch.ones(3, device=device)))
    loss = -gmm.log_prob(data).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
