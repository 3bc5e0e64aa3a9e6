import torch
from torch import nn
from meter import Meter
from other import Thing


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Linear(3, 2).to(device)
    meter = Meter()
    for i in range(2):
        meter.add(net(torch.ones(1, 3).to(device)).detach()[0])
    print(meter.total.sum().item(), Thing().see().sum().item())


if __name__ == "__main__":
    main()
