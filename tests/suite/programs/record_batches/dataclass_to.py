from dataclasses import dataclass, fields

import torch
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class Sample:
    x: torch.Tensor
    y: torch.Tensor

    def to(self, device):
        return Sample(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def stack(rows):
    xs, ys = zip(*rows)
    return Sample(torch.stack(xs), torch.tensor(ys))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = [(torch.randn(5), float(i % 2)) for i in range(12)]
net = nn.Linear(5, 1).to(device)
for sample in DataLoader(rows, batch_size=4, collate_fn=stack):
    sample = sample.to(device)
    loss = nn.functional.binary_cross_entropy_with_logits(net(sample.x).squeeze(-1), sample.y)
    print(f"{loss.item():.4f}")
