import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 4)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(20):
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
accuracy = (net(x).argmax(1) == y).float().mean()
print(f"{loss.item():.3f} {accuracy.item():.3f}")
