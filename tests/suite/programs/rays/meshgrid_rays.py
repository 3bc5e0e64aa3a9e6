import torch
from torch import nn


def get_rays(h, w, focal):
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    dirs = torch.stack([(xs - w / 2) / focal, -(ys - h / 2) / focal, -torch.ones_like(xs)], -1)
    return dirs.reshape(-1, 3).float()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
field = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
rays = get_rays(3, 4, 2.0)
colors = field(rays)[:, :3].sigmoid()
print(tuple(colors.shape), f"{colors.mean().item():.4f}")
