import torch
import torch.nn.functional as F
from collections import OrderedDict


def init_params(sizes, gen):
    params = OrderedDict()
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        params[f"w{i}"] = (torch.randn(b, a, generator=gen) * (2 / a) ** 0.5).requires_grad_()
        params[f"b{i}"] = torch.zeros(b, requires_grad=True)
    return params


def net(params, x):
    n = len(params) // 2
    for i in range(n):
        x = F.linear(x, params[f"w{i}"], params[f"b{i}"])
        if i < n - 1:
            x = x.relu()
    return x


def adapt(params, x, y, lr=0.05, steps=2):
    fast = params
    for _ in range(steps):
        loss = F.mse_loss(net(fast, x), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = OrderedDict((k, p - lr * g) for (k, p), g in zip(fast.items(), grads))
    return fast


class SineTasks:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            amp = torch.rand(1, generator=self.gen) * 4 + 0.1
            phase = torch.rand(1, generator=self.gen) * 3.14
            xs = torch.rand(20, 1, generator=self.gen) * 10 - 5
            ys = amp * torch.sin(xs + phase)
            yield (xs[:10], ys[:10]), (xs[10:], ys[10:])


params = init_params([1, 20, 20, 1], torch.Generator().manual_seed(0))
meta = torch.optim.Adam(params.values(), lr=1e-3)
tasks = iter(SineTasks(1))
for it in range(8):
    meta_loss = 0.0
    for _ in range(3):
        (sx, sy), (qx, qy) = next(tasks)
        meta_loss += F.mse_loss(net(adapt(params, sx, sy), qx), qy)
    meta.zero_grad()
    (meta_loss / 3).backward()
    meta.step()
print("meta loss %.2f" % (meta_loss.item() / 3))
print(sum(p.numel() for p in params.values()))
