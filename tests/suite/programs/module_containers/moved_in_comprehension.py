import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
heads = {name: nn.Linear(4, n).to(device) for name, n in (("a", 2), ("b", 3))}
body = nn.Linear(3, 4).to(device)
h = body(torch.ones(2, 3, device=device))
print({name: f"{head(h).sum().item():.4f}" for name, head in heads.items()})
