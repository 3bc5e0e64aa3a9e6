import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
embed, net = nn.Embedding(5, 3).to(device), nn.Linear(5, 2).to(device)
x = torch.zeros(2, 2).to(device)
labels = torch.as_tensor([1, 3], device=device)
null = torch.full_like(labels, 4)
for t in torch.linspace(1, 0, 4, device=device):
    both = torch.cat([x, x]) * t + 0.1
    cond, uncond = net(torch.cat([both, embed(torch.cat([labels, null]))], -1)).chunk(2)
    x = x + 0.1 * (uncond + 2.0 * (cond - uncond))
print(f"{x.sum().item():.4f}")
