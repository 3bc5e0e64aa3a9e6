import torch
from torch import nn


def r2(pred, true):
    return 1 - ((true - pred) ** 2).sum() / ((true - true.mean()) ** 2).sum()


torch.manual_seed(0)
w = torch.tensor([[1.5], [-0.5]])
x = torch.randn(80, 2)
y = x @ w + 0.05 * torch.randn(80, 1)
model = nn.Linear(2, 1)
opt = torch.optim.LBFGS(model.parameters(), max_iter=10)


def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


opt.step(closure)
print(f"{r2(model(x), y).item():.3f}")
