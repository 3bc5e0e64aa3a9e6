import torch
from torch import nn

defaults = {"bias": True, "dtype": torch.float32}
torch.manual_seed(0)
kw = {**defaults, "device": torch.device("cuda" if torch.cuda.is_available() else "cpu")}
net = nn.Linear(3, 1, **kw)
x = torch.full((2, 3), 1.0, **{k: v for k, v in kw.items() if k != "bias"})
print(f"{net(x).sum().item():.4f}")
