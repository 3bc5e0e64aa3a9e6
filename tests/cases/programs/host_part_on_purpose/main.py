import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.last = nn.Linear(2, 2)

    def forward(self, x):
        return self.last(self.net(x))


def decode(decoder, x, device):
    return decoder.to(device)(x.to(device))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(2, 2).to(device)
print(net(torch.ones(1, 2, device=device)).sum().item())
decoder = Decoder(net.cpu())
print(decode(decoder, torch.ones(1, 2), device).sum().item())
