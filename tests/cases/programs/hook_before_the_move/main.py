import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
scale = torch.full((2,), 2.0, device=device)
net = nn.Linear(3, 2)
net.register_forward_hook(lambda module, given, out: out * scale)
net.to(device)
print(round(net(torch.ones(1, 3, device=device)).sum().item(), 3))
