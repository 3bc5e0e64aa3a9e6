import torch
from torch import nn

from losses import make_loss

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(4, 3).to(device)
criteria = {name: make_loss(name) for name in ("weighted", "ordinal", "hinge")}
x = torch.randn(10, 4).to(device)
y = torch.randint(0, 3, (10,)).to(device)
total = sum(weight * criteria[name](net(x), y) for name, weight in zip(criteria, (1.0, 0.5, 0.1)))
total.backward()
print(net.weight.grad.shape)
