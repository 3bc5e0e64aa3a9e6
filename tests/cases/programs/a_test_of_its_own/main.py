import torch
from memory import memory

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
memory.load(torch.rand(3, device=device))
print((memory.scale * torch.ones(3, device=device)).sum().item())
