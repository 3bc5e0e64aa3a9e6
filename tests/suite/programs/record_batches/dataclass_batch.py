from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class Sample:
    x: torch.Tensor
    mask: torch.Tensor
    y: torch.Tensor


def pad(rows):
    longest = max(len(r) for r, _ in rows)
    x = torch.zeros(len(rows), longest)
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, (row, _) in enumerate(rows):
        x[i, : len(row)] = row
        mask[i, : len(row)] = True
    return Sample(x=x, mask=mask, y=torch.tensor([t for _, t in rows]))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = [(torch.randn(3 + i % 4), float(i % 2)) for i in range(12)]
scorer = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
for sample in DataLoader(rows, batch_size=4, collate_fn=pad):
    scores = scorer(sample.x.unsqueeze(-1)).squeeze(-1)
    pooled = scores.masked_fill(~sample.mask, 0).sum(1)
    loss = nn.functional.binary_cross_entropy_with_logits(pooled, sample.y)
    print(f"{loss.item():.4f}")
