import torch
from model import Net


def test_shape():
    net = Net()
    optimizer = torch.optim.LBFGS(net.parameters())

    def closure():
        optimizer.zero_grad()
        x = torch.rand(8, 3)
        loss = net(x, update=True).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
