import torch
from torch import nn
from torch.utils.data import DataLoader


class Collator:
    def __init__(self, device):
        self.device = device

    def __call__(self, rows):
        x = torch.stack([r["x"] for r in rows])
        return {"x": x.to(self.device), "id": [r["id"] for r in rows]}


torch.manual_seed(0)
data = [{"x": torch.rand(3), "id": i} for i in range(6)]
net = nn.Linear(3, 1).to("cuda")
for batch in DataLoader(data, batch_size=3, collate_fn=Collator("cuda")):
    print(batch["id"], f"{net(batch['x']).sum().item():.4f}")
