import torch
from torch import nn


class Ordinal(nn.Module):
    def __init__(self, costs):
        super().__init__()
        self.costs = torch.tensor(costs)

    def forward(self, logits, y):
        return (logits.softmax(-1) * self.costs[y]).sum(-1).mean()


def make_loss(name):
    if name == "weighted":
        return nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]))
    if name == "ordinal":
        return Ordinal([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    return nn.MultiMarginLoss()
