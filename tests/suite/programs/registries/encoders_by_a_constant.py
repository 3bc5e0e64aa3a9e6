import torch
from torch import nn


class MeanEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)

    def forward(self, x):
        return self.lin(x).mean(1)


class AttnEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d))
        self.bias = torch.linspace(-1, 1, 6)

    def forward(self, x):
        w = (x @ self.query + self.bias).softmax(1)
        return (w[..., None] * x).sum(1)


class DecayEncoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        decay = 0.5 ** torch.arange(x.size(1), dtype=torch.float32)
        return (x * decay[None, :, None]).sum(1) * self.scale


ENCODERS = {"mean": MeanEncoder, "attn": AttnEncoder, "decay": DecayEncoder}
ENCODER = "mean"


def run(name, device):
    torch.manual_seed(0)
    enc = ENCODERS[name](4).to(device)
    x = torch.randn(3, 6, 4, device=device)
    return enc(x).sum().item()


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(f"{run(ENCODER, device):.4f}")
    for other in sorted(ENCODERS):
        print(other, f"{run(other, device):.4f}")
