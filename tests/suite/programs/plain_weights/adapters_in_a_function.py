import copy
import math
import re
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r
        base.weight.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scaling

    def merge(self):
        self.base.weight.data += self.B @ self.A * self.scaling
        return self.base


def inject(model, pattern):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear) and re.search(pattern, name):
            setattr(model, name, LoRALinear(child))
        else:
            inject(child, pattern)
    return model


def merge(model):
    for name, child in model.named_children():
        if isinstance(child, LoRALinear):
            setattr(model, name, child.merge())
        else:
            merge(child)
    return model


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.v_proj, self.out = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.out(torch.tanh(self.q_proj(x)) * self.v_proj(x))


torch.manual_seed(0)
net = inject(Net(), r"^[qv]_proj$")
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], 1e-2)
x = torch.randn(40, 6)
y = (x[:, 0] > 0).long()
for _ in range(10):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
before = net(x)
after = merge(copy.deepcopy(net))(x)
print("%.4f" % loss.item(), torch.allclose(before, after, atol=1e-5))
