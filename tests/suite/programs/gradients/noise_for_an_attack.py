import torch
from torch import nn


def attack(model, x, y, eps=0.1, steps=3):
    delta = torch.empty(x.shape).uniform_(-eps, eps)
    low, high = torch.tensor(-1.0), torch.tensor(1.0)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = nn.functional.cross_entropy(model(x + delta), y)
        grad, = torch.autograd.grad(loss, delta)
        delta = (delta + eps / steps * grad.sign()).detach().clamp(-eps, eps)
        delta = torch.max(torch.min(delta, high - x), low - x)
    return x + delta


def train(model, device):
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        x = torch.rand(8, 4, device=device) * 2 - 1
        y = (x.sum(1) > 0).long()
        adv = attack(model, x, y)
        loss = nn.functional.cross_entropy(model(adv), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    print(bool(train(net, device) > 0))
