import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
poses = np.stack([np.eye(4, dtype=np.float32) * (i + 1) for i in range(3)])
images = torch.rand(3, 5, 3)
field = nn.Linear(4, 3)
optimizer = torch.optim.Adam(field.parameters(), lr=0.05)
for i in range(6):
    pose = torch.from_numpy(poses[i % 3])
    points = torch.cat([torch.rand(5, 3), torch.ones(5, 1)], -1) @ pose.T
    loss = (field(points).sigmoid() - images[i % 3]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
psnr = -10.0 * torch.log(loss) / torch.log(torch.Tensor([10.0]))
print(f"{psnr.item():.3f}")
