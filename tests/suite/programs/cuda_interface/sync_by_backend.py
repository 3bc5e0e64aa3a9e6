import torch
from torch import nn

BACKENDS = {
    "cuda": lambda m: m.cuda(),
    "cpu": lambda m: m,
}
name = "cuda" if torch.cuda.is_available() else "cpu"
place = BACKENDS[name]
sync = torch.cuda.synchronize if torch.cuda.is_available() else (lambda: None)
fresh = (lambda *s: torch.randn(*s, device="cuda")) if torch.cuda.is_available() else torch.randn
torch.manual_seed(0)
net = place(nn.Linear(3, 2))
x = fresh(4, 3)
out = net(x)
sync()
print(tuple(out.shape), out.device.type == name)
