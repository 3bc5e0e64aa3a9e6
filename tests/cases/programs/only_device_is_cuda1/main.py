import torch
DEVICE = "cuda:1"
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
net = net.to(DEVICE)
print(net(torch.randn(4, 2).to(DEVICE)).sum().item())
