import torch
from torch import nn


class AlibiAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.slopes = torch.tensor([2.0 ** -(i + 1) for i in range(heads)])
        self._bias = {}

    def bias(self, n):
        if n not in self._bias:
            pos = torch.arange(n)
            self._bias[n] = -(pos[None] - pos[:, None]).abs().float() * self.slopes[:, None, None]
        return self._bias[n]

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-1, -2) + self.bias(n)).softmax(-1)
        return (att @ v).transpose(1, 2).reshape(b, n, d)


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = AlibiAttention(8, 2).to(device)
    for n in (3, 5, 3):
        out = model(torch.randn(2, n, 8, device=device))
    print(out.shape)


if __name__ == "__main__":
    main()
