import torch
from torch import nn
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader

torch.manual_seed(0)
data = [{"x": (torch.rand(3), torch.rand(2)), "y": torch.rand(1)} for _ in range(6)]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
a, b = nn.Linear(3, 1).to(device), nn.Linear(2, 1).to(device)
for batch in DataLoader(data, batch_size=3):
    batch = tree_map(lambda t: t.to(device), batch)
    left, right = batch["x"]
    print(f"{(a(left) + b(right) - batch['y']).abs().mean().item():.4f}")
