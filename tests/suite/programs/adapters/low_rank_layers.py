import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    """A frozen linear layer and a low-rank correction."""

    def __init__(self, base: nn.Linear, r=4, alpha=8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.scale = alpha / r
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        if not self.merged:
            y = y + F.linear(F.linear(x, self.A), self.B) * self.scale
        return y

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.B @ self.A * self.scale
        self.merged = True


def inject(model, names=("q", "v"), r=4):
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if name in names and isinstance(child, nn.Linear):
                setattr(parent, name, LoRALinear(child, r))
    return model


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.out = nn.Linear(d, 2)

    def forward(self, x):
        w = self.q(x) @ self.k(x).transpose(-1, -2) / math.sqrt(x.size(-1))
        return self.out((w.softmax(-1) @ self.v(x)).mean(1))


torch.manual_seed(0)
base = Attn(8)
X = torch.randn(40, 5, 8)
Y = (X.mean((1, 2)) > 0).long()
model = inject(base)
trainable = [p for n, p in model.named_parameters() if p.requires_grad]
opt = torch.optim.AdamW(trainable, lr=0.02)
for step in range(12):
    idx = torch.randperm(len(X))[:16]
    loss = F.cross_entropy(model(X[idx]), Y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss %.3f" % loss.item())
before = model(X)
for m in model.modules():
    if isinstance(m, LoRALinear):
        m.merge()
print("same after merging:", torch.allclose(before, model(X), atol=1e-5))
lora_state = {k: v for k, v in model.state_dict().items() if k.endswith((".A", ".B"))}
print(sorted(lora_state))
