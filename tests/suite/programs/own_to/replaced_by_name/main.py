import torch
from torch import nn

from types_ import Rays

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
rays = Rays(torch.zeros(20, 3), nn.functional.normalize(torch.randn(20, 3), dim=1), 0.5)
target = torch.rand(20, 3)
field = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
opt = torch.optim.Adam(field.parameters(), 1e-2)
for chunk in torch.randperm(20).split(5):
    part = rays[chunk].to(device)
    t = torch.rand(len(part), device=device)
    loss = (field(part.at(t)) - target[chunk].to(device)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.2f" % loss.item())
