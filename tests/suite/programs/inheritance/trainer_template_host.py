import torch
from torch import nn


class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        self.model = self.make_model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self, epochs):
        for _ in range(epochs):
            for batch in self.batches():
                loss = self.loss(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()


class Identity(Trainer):
    def make_model(self):
        return nn.Linear(3, 3)

    def batches(self):
        return [torch.eye(3), torch.eye(3).flip(0)]

    def loss(self, x):
        return (self.model(x) - x).pow(2).mean()


print(f"{Identity().fit(4):.4f}")
