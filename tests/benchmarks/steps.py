"""Four small networks in training, for `python`, `samedevice run` and `samedevice run --record`.

Each prints the processor time of one step in milliseconds, the best of four rounds of fifteen, with
one thread: `docs/virtual-accelerator.md` has the figures beside each other.
"""

import time

import torch
from torch import nn


class Tagger(nn.Module):
    """Words in, a class out, by a recurrent network."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.cells = nn.LSTM(32, 64, batch_first=True)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        """Return scores."""
        return self.out(self.cells(self.words(x))[0][:, -1])


def layer():
    """Return a layer of a transformer."""
    return nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)


NETWORKS = {
    "three linear layers of 128": (
        nn.Sequential(
            *(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
        ),
        (64, 64),
    ),
    "two convolutions": (
        nn.Sequential(
            *(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU()),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
        ),
        (16, 3, 24, 24),
    ),
    "two layers of a transformer": (
        nn.Sequential(layer(), layer(), nn.Flatten(), nn.Linear(64 * 16, 10)),
        (8, 16, 64),
    ),
    "an LSTM": (Tagger(), (16, 20)),
}


def milliseconds(network, shape, device):
    """Return the processor time of one step."""
    network.to(device)
    optimizer = torch.optim.Adam(network.parameters())

    def step():
        words = isinstance(network, Tagger)
        x = torch.randint(0, 100, shape) if words else torch.randn(*shape)
        labels = torch.randint(0, 10, (shape[0],)).to(device)
        loss = nn.functional.cross_entropy(network(x.to(device)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    rounds = []
    for _ in range(4):
        start = time.process_time()
        for _ in range(15):
            step()
        rounds.append((time.process_time() - start) / 15)
    return min(rounds) * 1e3


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for name, (network, shape) in NETWORKS.items():
        print(f"{name}: {milliseconds(network, shape, device):.2f} ms", flush=True)
