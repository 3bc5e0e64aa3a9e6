import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
host = {name: p.detach().cpu().clone() for name, p in net.named_parameters()}
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.ones(5, 3, device=device)
for step in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for name, p in net.named_parameters():
        host[name].lerp_(p.detach().cpu(), 0.1)
with torch.no_grad():
    for name, p in net.named_parameters():
        p.copy_(host[name])
    net[0].bias.data = host["0.bias"].to(net[0].bias.device)
print(net(x).shape)
