import torch
from net import Net
torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters())
for i in range(3):
    loss = net(4).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
