"""Two steps of the network of hjxwhy/mipnerf_pl, and a pass that adds its noise to the density."""

from collections import namedtuple

import torch
from models.mip_nerf import MipNerf
from torch.nn.functional import normalize

Rays = namedtuple("Rays", "origins directions viewdirs radii lossmult near far")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = MipNerf(num_samples=8, density_noise=0.5, mlp_net_width=16, mlp_net_width_condition=16)
net.to(device)
optimizer = torch.optim.Adam(net.parameters())
ways, one = normalize(torch.rand(4, 3), dim=-1), torch.ones(4, 1)
fields = (torch.rand(4, 3), ways, ways, 0.01 * one, one, 2 * one, 6 * one)
rays = Rays(*[field.to(device) for field in fields])
for _ in range(2):
    optimizer.zero_grad()
    loss = sum(level[0].mean() for level in net(rays, False, True))
    loss.backward()
    optimizer.step()
    print(loss.item())
print(len(net(rays, True, True)))
