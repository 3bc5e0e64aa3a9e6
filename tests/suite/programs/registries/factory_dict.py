import torch
from torch import nn

BUILDERS = {
    "zeros": lambda n, **kw: torch.zeros(n, **kw),
    "eye": lambda n, **kw: torch.eye(n, **kw).sum(0),
    "range": torch.arange,
}
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(5, 1).to(device)
for name, build in BUILDERS.items():
    x = build(5, device=device).float()
    print(name, f"{net(x).item():.4f}")
