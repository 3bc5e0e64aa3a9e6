import copy

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.weights = patience, float("inf"), 0, None

    def step(self, loss, model):
        if loss < self.best:
            self.best, self.bad = loss, 0
            self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.4)
x = torch.eye(3, device=device)
stopper = EarlyStopping(2)
for epoch in range(20):
    loss = (model(x) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if stopper.step(loss.item(), model):
        break
model.load_state_dict(stopper.weights)
print(epoch, f"{(model(x) - 1).pow(2).mean().item():.5f}")
