import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x, n):
        pad = torch.zeros([x.shape[0], n, 3])
        pad[:, : x.shape[1]] = x
        y = pad.to(x.device)
        return self.l(y)


net = Net().to(device)
print(net(torch.ones(2, 3, 3).to(device), 5).shape)
