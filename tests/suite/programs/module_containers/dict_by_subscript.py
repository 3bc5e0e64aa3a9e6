import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.encoders = {}
        for name, dim in dims.items():
            self.encoders[name] = nn.Linear(dim, 4)
        self.out = nn.Linear(4 * len(dims), 1)

    def forward(self, inputs):
        parts = [self.encoders[name](inputs[name]) for name in sorted(inputs)]
        return self.out(torch.cat(parts, dim=-1))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
fusion = Fusion({"audio": 3, "text": 5}).to(device)
inputs = {"audio": torch.randn(2, 3).to(device), "text": torch.randn(2, 5).to(device)}
print(f"{fusion(inputs).sum().item():.4f}")
