import torch
from torch import nn
import torch.nn.functional as F


class Pyramid(nn.Module):
    def __init__(self, sizes=(3, 5)):
        super().__init__()
        self.sizes = sizes
        for k in sizes:
            self.register_buffer(f"kernel{k}", torch.ones(1, 1, k, k) / k**2, persistent=False)
        self.mix = nn.Conv2d(len(sizes), 1, 1)

    def forward(self, img):
        levels = [F.conv2d(img, getattr(self, f"kernel{k}"), padding=k // 2) for k in self.sizes]
        return self.mix(torch.cat(levels, 1))


torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(f"{Pyramid().to(device)(torch.ones(1, 1, 6, 6, device=device)).mean().item():.4f}")
