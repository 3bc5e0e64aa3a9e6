import torch
from torch import nn


class Store:
    """Keeps what is not needed on the host, and brings it back by key."""

    def __init__(self):
        self._kept = {}

    def put(self, key, value):
        self._kept[key] = value.detach().to("cpu", copy=True)

    def get(self, key, like):
        return self._kept[key].to(like.device, like.dtype)

    def stats(self):
        return {k: float(v.mean()) for k, v in self._kept.items()}


class Net(nn.Module):
    def __init__(self, store):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)
        self.store = store

    def forward(self, x):
        h = torch.tanh(self.a(x))
        self.store.put("h", h)
        return self.b(h + 0.0 * self.store.get("h", h))


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
store = Store()
net = Net(store).to(device)
x = torch.randn(6, 4)
opt = torch.optim.Adam(net.parameters())
history = torch.zeros(3)
for i in range(3):
    loss = net(x.to(device)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history[i] = loss.item()
print(history.shape, sorted(store.stats()))
