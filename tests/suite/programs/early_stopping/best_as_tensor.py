import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
best = torch.tensor([float("inf")])
for epoch in range(3):
    loss = (model(torch.full((1, 3), float(epoch), device=device))).abs().mean(dim=0)
    best = torch.minimum(best, loss.detach())
print(f"{best.item():.4f}")
