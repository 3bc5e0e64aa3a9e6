import torch
from torch import nn


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


class TopK(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        val, idx = x.topk(k, -1)
        mask = torch.zeros_like(x).scatter_(-1, idx, 1.0)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        mask, = ctx.saved_tensors
        return g * mask, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.c, self.d = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x, lam):
        h = TopK.apply(self.f(x), 3)
        return self.c(h), self.d(GradReverse.apply(h, lam))


torch.manual_seed(0)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = DANN().to(dev)
opt = torch.optim.SGD(net.parameters(), 0.1)
src = torch.randn(8, 4).to(dev)
tgt = torch.randn(8, 4).to(dev) + 1
y = (src.sum(1) > 0).long()
dom = torch.cat([torch.zeros(8), torch.ones(8)]).long().to(dev)
for i in range(5):
    c, d = net(torch.cat([src, tgt]), i / 5)
    loss = nn.functional.cross_entropy(c[:8], y) + nn.functional.cross_entropy(d, dom)
    opt.zero_grad(); loss.backward(); opt.step()
print("%.4f" % loss.item())
