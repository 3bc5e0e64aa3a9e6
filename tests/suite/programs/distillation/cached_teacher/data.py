import torch
from torch.utils.data import Dataset


class Blobs(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=g)
        centers = torch.randn(3, 10, generator=torch.Generator().manual_seed(9)) * 2
        self.x = centers[self.y] + torch.randn(n, 10, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return {"x": self.x[idx], "y": self.y[idx], "idx": idx}
