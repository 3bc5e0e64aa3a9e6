import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 4).to(device)
scores = net(torch.arange(15.0, device=device).view(5, 3))
order = torch.tensor([4, 2, 0])
print(f"{scores[order].sum().item():.4f} {scores[order > 1 if False else [0, 1]].shape[0]}")
