import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 6)
        self.score = nn.Linear(6, 1)

    @property
    def device(self):
        return self.embed.weight.device

    def forward(self, ids, mask):
        h = self.embed(ids)
        extended = (1.0 - mask.to(dtype=h.dtype)) * torch.finfo(h.dtype).min
        return (self.score(h).squeeze(-1) + extended).softmax(-1)


torch.manual_seed(0)
model = Encoder().to("cuda" if torch.cuda.is_available() else "cpu")
ids = torch.randint(30, (2, 4))
mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
out = model(ids.to(model.device), mask.to(model.device))
print([[round(v, 4) for v in row] for row in out.tolist()])
