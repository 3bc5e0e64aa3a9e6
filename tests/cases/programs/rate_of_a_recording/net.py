import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 8_000
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


def load(path):
    return torch.load(path, weights_only=False)
