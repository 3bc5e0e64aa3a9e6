import torch
import torch.nn as nn


class Runner:
    def __init__(self):
        self.device = torch.device("cuda")
        self.images = torch.ones(4, 3, 3)
        self.model = nn.Linear(3, 1).to(self.device)

    def rays(self, i):
        return self.images[i].to(self.device)

    def train(self):
        order = torch.randperm(4).to(self.device)
        times = torch.linspace(0, 1, 3)
        for k in range(4):
            print(self.model(self.rays(order[k])).shape)
        for t in times:
            print((self.model(self.rays(0)) * t).shape)


if __name__ == "__main__":
    Runner().train()
