import torch
from torch import nn

device = torch.device("cuda:0")
torch.cuda.set_device(device)
torch.manual_seed(0)
net = nn.Linear(2, 2).to(device)
print(f"{net(torch.ones(2, 2, device=device)).sum().item():.4f}")
