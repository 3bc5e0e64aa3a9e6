from dataclasses import InitVar, dataclass

import torch
from torch import nn


@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    device: InitVar[torch.device]

    def __post_init__(self, device):
        self.x, self.y = self.x.to(device), self.y.to(device)


where = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
net = nn.Linear(3, 2).to(where)
batch = Batch(torch.randn(4, 3), torch.tensor([0, 1, 0, 1]), where)
loss = nn.functional.cross_entropy(net(batch.x), batch.y)
loss.backward()
print(loss.item() > 0)
