"""The resizing of XavierXiao/Dreambooth-Stable-Diffusion, of an image where the device is."""

import torch
from utils_image import imresize

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
image = torch.linspace(0, 1, 3 * 16 * 16).view(3, 16, 16).to(device)
small = imresize(image, 0.5)
print(tuple(small.shape), round(small.cpu().sum().item(), 3))
