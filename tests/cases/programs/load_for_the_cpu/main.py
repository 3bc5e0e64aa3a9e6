import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def quantize(layer):
    layer.weight.data = layer.weight.data.round()


def main():
    device = "cuda"
    torch.save(Net().state_dict(), "net.pt")
    with torch.device("cpu"):
        states = torch.load("net.pt")
        model = Net()
        model.load_state_dict(states)
    x = torch.ones(2, 3).to(device)
    for layer in model.layers:
        layer.to(device)
        quantize(layer)
        x = layer(x)
        layer.cpu()
    print(x.shape)


main()
