"""Two steps of the autoencoder of luost26/diffusion-point-cloud, and samples of it."""

from types import SimpleNamespace

import torch
from models.autoencoder import AutoEncoder

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
args = SimpleNamespace(
    latent_dim=8, num_steps=4, beta_1=1e-4, beta_T=0.05, sched_mode="linear", residual=True
)
model = AutoEncoder(args).to(device)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    points = torch.rand(4, 16, 3).to(device)
    optimizer.zero_grad()
    loss = model.get_loss(points)
    loss.backward()
    optimizer.step()
    print(loss.item())
with torch.no_grad():
    print(model.decode(model.encode(points), 16).mean().item())
