import torch
from torch import nn


class TD:
    def __init__(self, source, batch_size, device=None):
        self._d, self.batch_size, self.device = dict(source), batch_size, device
        if device is not None:
            self._d = {k: v.to(device) for k, v in self._d.items()}

    def __getitem__(self, k):
        return self._d[k] if isinstance(k, str) else TD({n: v[k] for n, v in self._d.items()}, None)

    def set(self, k, v):
        self._d[k] = v if self.device is None else v.to(self.device)
        return self

    def items(self):
        return self._d.items()

    def to(self, device):
        return TD(self._d, self.batch_size, device)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 2)

    def forward(self, td):
        return td.set("action", self.net(td["obs"]).argmax(-1))


class Env:
    def __init__(self, device):
        self.device = device
        self.drift = torch.tensor([0.1, 0.0, -0.1], device=device)

    def reset(self):
        return TD({"obs": torch.zeros(4, 3)}, [4], self.device)

    def step(self, td):
        return td.set("obs", td["obs"] + self.drift + td["action"][:, None])


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
env, actor = Env(device), Actor().to(device)
td = env.reset()
for _ in range(3):
    td = env.step(actor(td))
print(td["obs"].shape, td[0]["obs"].cpu().numpy().shape)
