from typing import NamedTuple

import torch
from torch import nn
from torch.utils.data import DataLoader


class Batch(NamedTuple):
    tokens: torch.Tensor
    label: torch.Tensor


def collate(items):
    tokens, labels = zip(*items)
    return Batch(torch.stack(tokens), torch.tensor(labels))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [(torch.randint(20, (6,)), i % 2) for i in range(16)]
embed = nn.EmbeddingBag(20, 8).to(device)
head = nn.Linear(8, 2).to(device)
for batch in DataLoader(data, batch_size=8, collate_fn=collate):
    batch = Batch(*(member.to(device) for member in batch))
    loss = nn.functional.cross_entropy(head(embed(batch.tokens)), batch.label)
    print(f"{loss.item():.4f}")
