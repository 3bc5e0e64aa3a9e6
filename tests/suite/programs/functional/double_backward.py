import torch
from torch import nn


class Cubic(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x, a)
        return a * x ** 3

    @staticmethod
    def backward(ctx, grad_out):
        x, a = ctx.saved_tensors
        gx = CubicBackward.apply(grad_out, x, a)
        ga = (grad_out * x ** 3).sum().reshape(1)
        return gx, ga


class CubicBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, g, x, a):
        ctx.save_for_backward(g, x, a)
        return g * 3 * a * x ** 2

    @staticmethod
    def backward(ctx, gg):
        g, x, a = ctx.saved_tensors
        return gg * 3 * a * x ** 2, gg * g * 6 * a * x, None


class Act(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return Cubic.apply(x, self.a)


torch.manual_seed(0)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(2, 3), Act(), nn.Linear(3, 1)).to(dev)
x = torch.randn(5, 2, device=dev, requires_grad=True)
g, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
(g ** 2).sum().backward()
print(f"{net[0].weight.grad.sum().item():.4f}")
