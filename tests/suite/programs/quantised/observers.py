import torch
import torch.nn as nn
import torch.nn.functional as F


class MinMaxObserver:
    def __init__(self, bits=8):
        self.bits = bits
        self.min_val = torch.tensor(float("inf"))
        self.max_val = torch.tensor(float("-inf"))

    def observe(self, x):
        self.min_val = torch.min(self.min_val, x.detach().min())
        self.max_val = torch.max(self.max_val, x.detach().max())

    def qparams(self):
        qmax = 2 ** self.bits - 1
        scale = (self.max_val - self.min_val) / qmax
        zero = torch.round(-self.min_val / scale)
        return scale, zero, qmax


class FakeQuant(nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.observer = MinMaxObserver(bits)
        self.enabled = True

    def forward(self, x):
        if self.training:
            self.observer.observe(x)
        if not self.enabled:
            return x
        scale, zero, qmax = self.observer.qparams()
        q = torch.clamp(torch.round(x / scale + zero), 0, qmax)
        dq = (q - zero) * scale
        return x + (dq - x).detach()


class QLinear(nn.Linear):
    def __init__(self, i, o, bits=8):
        super().__init__(i, o)
        self.wq = FakeQuant(bits)
        self.aq = FakeQuant(bits)

    def forward(self, x):
        return F.linear(self.aq(x), self.wq(self.weight), self.bias)


def swap(model, bits):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            q = QLinear(child.in_features, child.out_features, bits)
            q.load_state_dict(child.state_dict())
            setattr(model, name, q)
        else:
            swap(child, bits)
    return model


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sequential(nn.Linear(16, 8), nn.ReLU()), nn.Linear(8, 2))
model = swap(model, bits=4)
x = torch.randn(20, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    logits = model(x)
print("%.4f %.3f" % (loss.item(), (logits.argmax(1) == y).float().mean()))
