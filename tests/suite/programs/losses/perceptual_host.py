import torch
from torch import nn


class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3)).eval()
        for p in self.features.parameters():
            p.requires_grad_(False)
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)
        self.std = torch.tensor([0.229, 0.224, 0.225]).view(-1, 1, 1)

    def forward(self, x, y):
        x, y = ((t - self.mean) / self.std for t in (x, y))
        return nn.functional.l1_loss(self.features(x), self.features(y))


torch.manual_seed(0)
content = torch.rand(1, 3, 8, 8)
image = content.clone().mul_(0.5).requires_grad_(True)
loss_fn = Perceptual()
optimizer = torch.optim.Adam([image], lr=0.05)
for _ in range(4):
    loss = loss_fn(image, content)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
