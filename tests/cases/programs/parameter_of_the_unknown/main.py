import importlib

import torch
from torch import nn

books = importlib.import_module("books")


class Features(nn.Module):
    def __init__(self, train=False):
        super().__init__()
        weights = torch.cat([book.codes for book in books.load()], dim=0)
        self.weights = nn.Parameter(weights, requires_grad=train)

    def forward(self, codes):
        offsets = torch.arange(0, 4, 2, device=codes.device)
        return nn.functional.embedding(codes + offsets, self.weights).sum(dim=0)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Features(train=True).to(device)
print(sorted(model.state_dict()), model(torch.zeros(2, dtype=torch.long, device=device)).shape)
