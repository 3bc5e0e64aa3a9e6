import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
cell = nn.GRUCell(3, 5).to(device)
readout = nn.Linear(5, 1).to(device)
state = None
xs = torch.randn(6, 4, 3).to(device)
out = []
for x in xs:
    state = cell(x, state)
    out.append(readout(state))
print(f"{torch.cat(out).mean().item():.4f}")
