import torch
from torch import nn

told = {"asked": torch.cuda.is_initialized()}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)


def fresh(layer):
    weights = torch.load(saved(layer))
    return weights["weight"].cuda() * torch.ones(2, 1).cuda()


def saved(layer):
    torch.save(layer.state_dict(), "saved.pt")
    return "saved.pt"
