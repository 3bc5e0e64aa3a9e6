import torch
from torch import nn

torch.manual_seed(0)


def fit(draw, steps=3, device="cpu"):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x = torch.cat((draw(4), draw(4)), dim=1).to(device)
        target = torch.zeros(4, 1, device=device)
        loss = (model(x) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, loss


def evaluate(model, x, device="cpu"):
    return model(x.to(device)).mean()


def draw(n):
    return torch.rand(n, 1)


if __name__ == "__main__":
    model, loss = fit(draw)
    print(loss.item(), evaluate(model, torch.ones(1, 2)).item())
