import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
cells = nn.ModuleList([nn.GRUCell(3, 3) for _ in range(2)]).to(device)
states = [torch.zeros(1, 3, device=device) for _ in cells]
for t in range(4):
    x = torch.full((1, 3), float(t), device=device)
    for i, cell in enumerate(cells):
        states[i] = x = cell(x, states[i])
print(f"{torch.cat(states).sum().item():.4f}")
