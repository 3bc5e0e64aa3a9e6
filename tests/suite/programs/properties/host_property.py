import torch
from torch import nn


class Regression:
    def __init__(self, features):
        self.net = nn.Linear(features, 1)

    @property
    def coef_(self):
        return self.net.weight.detach().numpy().ravel()

    @property
    def intercept_(self):
        return self.net.bias.item()

    def fit(self, x, y, steps=50):
        opt = torch.optim.Adam(self.net.parameters(), lr=0.1)
        for _ in range(steps):
            loss = (self.net(x) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        return self


torch.manual_seed(0)
x = torch.randn(40, 2)
model = Regression(2).fit(x, x @ torch.tensor([[2.0], [-1.0]]) + 0.5)
print(model.coef_.round(1), round(model.intercept_, 1))
