from typing import NamedTuple

import torch
from torch import nn
from torch.utils.data import DataLoader


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor
    same: torch.Tensor


def collate(rows):
    return Pair(*(torch.stack(column) for column in zip(*rows)))


def rows(n):
    gen = torch.Generator().manual_seed(0)
    for _ in range(n):
        a, b = torch.randn(2, 4, generator=gen)
        yield a, b, (a.sum() * b.sum() > 0).float()


device = "cuda:0" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
tower = nn.Linear(4, 3).to(device)
opt = torch.optim.SGD(tower.parameters(), 0.1)
for batch in DataLoader(list(rows(12)), batch_size=4, collate_fn=collate):
    left, right = batch.left.to(device), batch.right.to(device)
    similarity = nn.functional.cosine_similarity(tower(left), tower(right))
    loss = nn.functional.binary_cross_entropy_with_logits(similarity, batch.same)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(bool(loss > 0))
