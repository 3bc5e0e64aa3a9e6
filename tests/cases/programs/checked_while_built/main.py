import torch
from torch import nn


class Dynamics(nn.Module):
    def __init__(self, device="cpu"):
        super().__init__()
        self.device = device
        self.layer = nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(x + torch.zeros(1).to(self.device))


class Diffusion(nn.Module):
    def __init__(self, dynamics):
        super().__init__()
        self.gamma = nn.Linear(1, 1)
        self.dynamics = dynamics
        self.check()

    def check(self):
        print(self.gamma(torch.zeros((1, 1))).shape)

    def forward(self, x):
        return self.gamma(self.dynamics(x))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Diffusion(Dynamics(device)).to(device)
print(model(torch.ones(2, 1, device=device)).sum().item())
model.check
