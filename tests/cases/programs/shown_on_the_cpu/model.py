import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)


if __name__ == "__main__":
    net = Net()
    x = torch.randn(2, 3)
    print(net(x).shape)
