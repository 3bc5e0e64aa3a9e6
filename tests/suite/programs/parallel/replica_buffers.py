import torch
from torch import nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        steps = torch.linspace(0, 1, x.shape[1])
        return self.lin(x + steps)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Shift()
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
model = model.to(device)
print(f"{model(torch.zeros(2, 4, device=device)).sum().item():.4f}")
