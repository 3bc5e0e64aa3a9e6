import torch
from torch import nn


class Trainer:
    def __init__(self, cfg, device):
        self.device = device
        self.model = nn.ModuleList([nn.Linear(4, 4) for _ in range(cfg["layers"])]).to(device)
        self.gates = [torch.sigmoid(torch.tensor(g)) for g in cfg["gates"]]
        self.targets = {k: torch.full((4,), v) for k, v in cfg["targets"].items()}
        self.history = []
        self.opt = torch.optim.SGD(self.model.parameters(), cfg["lr"])

    def forward(self, x):
        for gate, layer in zip(self.gates, self.model):
            x = x + gate * torch.tanh(layer(x))
        return x

    def step(self, x, key):
        out = self.forward(x.to(self.device))
        loss = ((out - self.targets[key]) ** 2).mean()
        penalty = torch.zeros(1)
        for p in self.model.parameters():
            penalty = penalty + p.pow(2).sum()
        loss = loss + 1e-3 * penalty.squeeze()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.history.append(loss.detach())
        return loss.item()

    def summary(self):
        h = torch.stack(self.history)
        w = torch.linspace(0, 1, len(h))
        return ((h * w).sum() / w.sum()).item()
