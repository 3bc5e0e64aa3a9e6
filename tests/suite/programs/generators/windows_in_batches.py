import itertools

import torch
from torch import nn


def read(n):
    gen = torch.Generator().manual_seed(0)
    for i in range(n):
        yield {"id": f"s{i}", "wave": torch.randn(20 + i % 5, generator=gen), "label": i % 3}


def window(samples, size):
    for s in samples:
        for start in range(0, len(s["wave"]) - size + 1, size):
            yield s["wave"][start:start + size], s["label"]


def batched(items, size):
    items = iter(items)
    while chunk := list(itertools.islice(items, size)):
        waves, labels = zip(*chunk)
        yield torch.stack(waves), torch.tensor(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 6, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        h0 = torch.zeros(1, len(x), 6)
        _, h = self.gru(x.unsqueeze(-1), h0)
        return self.head(h[0])


torch.manual_seed(2)
net = Net()
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)
seen = 0
for x, y in batched(window(read(12), 10), 8):
    loss = nn.functional.nll_loss(net(x).log_softmax(-1), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    seen += len(y)
print("seen", seen, "finite", bool(torch.isfinite(loss)))
