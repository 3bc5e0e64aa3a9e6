import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 4).to(device)
scores = net(torch.ones(2, 3, device=device))
picked = scores.gather(1, torch.tensor([[0, 1], [2, 3]]))
print(f"{picked.sum().item():.4f}")
