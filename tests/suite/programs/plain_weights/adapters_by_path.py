import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, inner, dim):
        super().__init__()
        self.inner = inner
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.inner(x) * self.scale


def wrap_linears(net):
    for name, mod in list(net.named_modules()):
        if isinstance(mod, nn.Linear):
            *path, leaf = name.split(".")
            parent = net
            for p in path:
                parent = getattr(parent, p)
            setattr(parent, leaf, Adapter(mod, mod.out_features))
    for n, p in net.named_parameters():
        p.requires_grad = n.endswith("scale")
    return net


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(3, 6), nn.ReLU())
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.fc(x))


torch.manual_seed(0)
model = Block()
model = wrap_linears(model)
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), 0.05)
x = torch.randn(20, 3)
y = (x[:, 0] > 0).long()
for _ in range(5):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(f"{loss.item():.4f}")
