from torch import nn


class Head(nn.Module):
    def __init__(self, d, out):
        super().__init__()
        self.fc = nn.Linear(d, out)

    def forward(self, h):
        return self.fc(h.mean(1))
