import torch
from torch import nn


class Rgb(nn.Module):
    weights = torch.tensor([0.3, 0.6, 0.1])

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, image):
        return (image * self.weights.view(1, 3, 1, 1)).sum(1) * self.scale


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gray = Rgb().to(device)
print(f"{gray(torch.ones(2, 3, 4, 4, device=device)).sum().item():.2f}")
