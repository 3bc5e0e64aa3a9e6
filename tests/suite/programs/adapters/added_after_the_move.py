import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Adapter(nn.Module):
    def __init__(self, d, r=2):
        super().__init__()
        self.down = nn.Linear(d, r, bias=False)
        self.up = nn.Linear(r, d, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.up(self.down(x))


class Wrapped(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.adapters = nn.ModuleDict()
        self.active = None

    def add(self, name):
        self.adapters[name] = Adapter(self.layer.out_features)
        self.active = name

    def forward(self, x):
        y = self.layer(x)
        if self.active is not None:
            y = y + self.adapters[self.active](y)
        return y


torch.manual_seed(0)
model = nn.Sequential(Wrapped(nn.Linear(6, 8)), nn.ReLU(), Wrapped(nn.Linear(8, 2))).to(device)
x, y = torch.randn(32, 6).to(device), torch.randint(0, 2, (32,)).to(device)
print(tuple(model(x).shape))
for m in model.modules():
    if isinstance(m, Wrapped):
        m.add("task_a")
params = [p for n, p in model.named_parameters() if "adapters" in n]
opt = torch.optim.Adam(params, 1e-2)
for _ in range(5):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("%.3f" % loss.item())
