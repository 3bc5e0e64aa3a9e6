"""Two steps of the VQGAN of dome272/VQGAN-pytorch, and of its transformer."""

from types import SimpleNamespace

import torch
from vqgan import VQGAN

device = "cuda" if torch.cuda.is_available() else "cpu"
args = SimpleNamespace(
    latent_dim=16, num_codebook_vectors=8, beta=0.25, image_channels=3, device=device
)
net = VQGAN(args).to(device=device)
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    image = torch.rand(1, 3, 32, 32).to(device)
    optimizer.zero_grad()
    decoded, indices, q_loss = net(image)
    loss = (decoded - image).abs().mean() + q_loss
    loss.backward()
    optimizer.step()
    print(loss.item(), net.calculate_lambda((a := net(image)[0]).mean(), a.square().mean()).item())
