import torch
from torch import nn


class Anchors(nn.Module):
    """Keeps a list of plain tensors and moves it itself."""

    def __init__(self, sizes):
        super().__init__()
        self.cells = [torch.tensor([[-s, -s, s, s]]) for s in sizes]
        self.offset = torch.tensor([0.5] * 4)

    def _apply(self, fn, *args, **kwargs):
        super()._apply(fn, *args, **kwargs)
        self.cells = [fn(c) for c in self.cells]
        self.offset = fn(self.offset)
        return self

    def forward(self, feats):
        out = []
        for f, c in zip(feats, self.cells):
            n = f.size(-1)
            shift = torch.arange(n, device=f.device, dtype=f.dtype)[:, None].repeat(1, 4)
            out.append(shift + c + self.offset)
        return torch.cat(out)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchors = Anchors((2.0, 4.0))
        self.conv = nn.Conv1d(1, 4, 3, padding=1)

    def forward(self, x):
        f1 = self.conv(x)
        f2 = f1[..., ::2]
        pred = torch.cat([f1[0].t(), f2[0].t()])
        return (pred - self.anchors([f1, f2])).pow(2).mean()


torch.manual_seed(0)
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
m = Model().to(dev)
print("%.4f" % m(torch.randn(1, 1, 8, device=dev)).item())
