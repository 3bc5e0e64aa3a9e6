import argparse

import numpy as np
import torch
from torch import nn, optim


class Planar(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.w


class Model(nn.Module):
    def __init__(self, flows):
        super().__init__()
        self.prior = torch.distributions.MultivariateNormal(torch.zeros(1), torch.eye(1))
        self.flows = nn.ModuleList(flows)

    def forward(self, x):
        for flow in self.flows:
            x = flow.forward(x)
        return x, self.prior.log_prob(x)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--flow", default="Planar", type=str)
    args = parser.parse_args()
    flow = eval(args.flow)
    model = Model([flow() for _ in range(2)])
    torch.manual_seed(0)
    np.random.seed(0)
    optimizer = optim.Adam(model.parameters(), lr=0.005)
    x = torch.Tensor(np.random.randn(8, 1))
    for _ in range(3):
        optimizer.zero_grad()
        z, log_prob = model(x)
        loss = -log_prob.mean()
        loss.backward()
        optimizer.step()
    print(loss.item())
