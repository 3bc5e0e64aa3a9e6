import torch
from torch import nn


class Scorer:
    def __init__(self, device):
        self.net = nn.Linear(3, 1).to(device)
        self.baseline = self.first(torch.zeros(1, 3, device=device))

    @torch.no_grad()
    def first(self, x):
        return self.net(x)

    @torch.inference_mode()
    def __call__(self, x):
        return (self.net(x) - self.baseline).sum().item()


torch.manual_seed(0)
where = "cuda" if torch.cuda.is_available() else "cpu"
print(f"{Scorer(where)(torch.ones(4, 3, device=where)):.4f}")
