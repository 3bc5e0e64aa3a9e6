import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    rows = [([1, 2, 3], 0.5), ([3, 2, 1], 0.25)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, score = self.rows[i]
        return np.asarray(ids), np.float32(score)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
embed, head = nn.Embedding(5, 4).to(device), nn.Linear(4, 1).to(device)
for ids, score in DataLoader(Words(), batch_size=2):
    ids, score = ids.to(device=device), score.to(device=device)
    print(f"{(head(embed(ids).mean(1)).squeeze(1) - score).abs().mean().item():.4f}")
