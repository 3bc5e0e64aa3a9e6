import torch
from torch import nn

HAS = torch.cuda.is_available()
DEV = ["cpu", "cuda"][HAS]
kw = dict(device=DEV, dtype=torch.float32)
mk = {"z": lambda *s: torch.zeros(*s, **kw), "r": lambda *s: torch.randn(*s, **kw)}
torch.manual_seed(0)
w = mk["r"](4, 2).requires_grad_()
b = mk["z"](2).requires_grad_()
opt = torch.optim.SGD([w, b], lr=0.1)
on = (lambda t: t.cuda()) if HAS else (lambda t: t)
for step in range(5):
    x = on(torch.randn(8, 4))
    y = x[:, :2] if step % 2 else mk["r"](8, 2)
    loss = ((x @ w + b - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
