import torch
from torch import nn


class Buffer:
    def __init__(self, size, dim, device):
        self.states = torch.zeros(size, dim, device=device)
        self.index, self.size = 0, size

    def __len__(self):
        return min(self.index, self.size)

    def add(self, state):
        self.states[self.index % self.size] = torch.as_tensor(state)
        self.index += 1

    def sample(self, n):
        return self.states[torch.arange(n, device=self.states.device) % len(self)]


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
buffer, net = Buffer(4, 2, device), nn.Linear(2, 1).to(device)
for k in range(6):
    buffer.add([float(k), 1.0])
print(len(buffer), f"{net(buffer.sample(3)).sum().item():.4f}")
