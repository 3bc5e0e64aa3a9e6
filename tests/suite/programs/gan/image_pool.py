import torch
from torch import nn


class ImagePool:
    def __init__(self, size, shape):
        self.images = torch.zeros(size, *shape)
        self.used = 0

    def query(self, batch):
        out = []
        for image in batch:
            if self.used < len(self.images):
                self.images[self.used] = image
                self.used += 1
                out.append(image)
            else:
                out.append(self.images[0].clone())
        return torch.stack(out)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
G, D = nn.Linear(2, 3).to(device), nn.Linear(3, 1).to(device)
pool = ImagePool(3, (3,))
for _ in range(2):
    fake = G(torch.ones(2, 2, device=device)).detach()
    score = D(pool.query(fake)).mean()
print(f"{score.item():.4f}")
