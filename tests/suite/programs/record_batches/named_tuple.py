from typing import NamedTuple

import torch
from torch import nn
from torch.utils.data import DataLoader


class Batch(NamedTuple):
    tokens: torch.Tensor
    label: torch.Tensor
    names: list


def collate(items):
    tokens, labels, names = zip(*items)
    return Batch(torch.stack(tokens), torch.tensor(labels), list(names))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [(torch.randint(20, (6,)), i % 2, f"s{i}") for i in range(16)]
embed = nn.EmbeddingBag(20, 8).to(device)
head = nn.Linear(8, 2).to(device)
for batch in DataLoader(data, batch_size=8, collate_fn=collate):
    logits = head(embed(batch.tokens))
    loss = nn.functional.cross_entropy(logits, batch.label)
    print(batch.names[0], f"{loss.item():.4f}")
