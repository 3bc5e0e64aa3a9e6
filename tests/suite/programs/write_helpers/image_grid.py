import numpy as np
import torch
from torch import nn


def to_image(tensor):
    array = tensor.clamp(0, 1).permute(1, 2, 0).numpy()
    return (array * 255).astype(np.uint8)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gen = nn.Sequential(nn.Linear(4, 3 * 4 * 4), nn.Sigmoid(), nn.Unflatten(1, (3, 4, 4))).to(device)
with torch.no_grad():
    images = gen(torch.randn(2, 4, device=device))
print([int(to_image(image).sum()) for image in images])
