import torch
from torch import nn


class L2SP(nn.Module):
    """Penalises the distance from where training began."""

    def __init__(self, net, strength=0.1):
        super().__init__()
        self.net = net
        self.strength = strength
        self.origin = torch.cat([p.detach().flatten().clone() for p in net.parameters()])

    def penalty(self):
        now = torch.cat([p.flatten() for p in self.net.parameters()])
        return self.strength * (now - self.origin).pow(2).sum()

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = L2SP(nn.Linear(3, 2)).to(device)
opt = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    loss = model(torch.ones(2, 3, device=device)).pow(2).mean() + model.penalty()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
