import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, n=24):
        g = torch.Generator().manual_seed(0)
        self.left, self.right = torch.randn(n, 5, generator=g), torch.randn(n, 5, generator=g)

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        return {"views": {"left": self.left[i], "right": self.right[i]}, "name": f"pair{i}"}


def to_device(obj, dev):
    if torch.is_tensor(obj):
        return obj.to(dev)
    if isinstance(obj, dict):
        return {k: to_device(v, dev) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(to_device(v, dev) for v in obj)
    return obj


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
encoder = nn.Linear(5, 3).to(device)
total = 0.0
for batch in DataLoader(Pairs(), batch_size=8):
    batch = to_device(batch, device)
    views = batch["views"]
    similarity = torch.cosine_similarity(encoder(views["left"]), encoder(views["right"]))
    total += similarity.sum().item()
print(len(batch["name"]), f"{total:.4f}")
