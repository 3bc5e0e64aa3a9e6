import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(3)
samples = [
    (torch.rand(3, 8, 8), {"boxes": torch.rand(k % 3 + 1, 4), "image_id": k}) for k in range(6)
]
loader = DataLoader(samples, batch_size=2, collate_fn=lambda batch: tuple(zip(*batch)))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(192, 4))

    def forward(self, images, targets):
        losses = []
        for image, target in zip(images, targets):
            box = self.body(image[None])
            losses.append((box - target["boxes"]).abs().mean())
        return {"loss_box": torch.stack(losses).mean()}


model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, targets in loader:
    loss = sum(model(images, targets).values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}", [t["image_id"] for t in targets])
