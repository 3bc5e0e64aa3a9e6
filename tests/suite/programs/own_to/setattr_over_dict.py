import torch
from torch import nn


class State:
    def __init__(self, n):
        self.position = torch.zeros(n, 2)
        self.velocity = torch.ones(n, 2)
        self.step = 0

    def to(self, device):
        for name, value in vars(self).items():
            if isinstance(value, torch.Tensor):
                setattr(self, name, value.to(device))
        return self


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
state = State(7).to(device)
force = nn.Linear(4, 2).to(device)
with torch.no_grad():
    for _ in range(4):
        state.velocity += 0.1 * force(torch.cat([state.position, state.velocity], 1))
        state.position += 0.1 * state.velocity
        state.step += 1
print(state.step, f"{state.position.norm().item():.4f}")
