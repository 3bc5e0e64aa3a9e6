import torch
from torch import nn


class Scene:
    def __init__(self, points, colors):
        self.points = points
        self.colors = colors

    def to(self, device):
        self.points = self.points.to(device)
        return self


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scene = Scene(torch.rand(20, 3), torch.rand(20, 3)).to(device)
field = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
loss = (field(scene.points) - scene.colors).pow(2).mean()
loss.backward()
print(f"{loss.item():.4f}")
