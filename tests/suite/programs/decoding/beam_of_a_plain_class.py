import torch
from torch import nn


class Beam:
    def __init__(self, k):
        self.k = k
        self.scores = torch.zeros(k)
        self.tokens = [[0] for _ in range(k)]

    def advance(self, logp):
        total = self.scores[:, None] + logp
        best, flat = total.view(-1).topk(self.k)
        n = logp.size(1)
        self.tokens = [self.tokens[int(i) // n] + [int(i) % n] for i in flat]
        self.scores = best

    @property
    def last(self):
        return torch.tensor([t[-1] for t in self.tokens])


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
emb, out = nn.Embedding(7, 4).to(device), nn.Linear(4, 7).to(device)
beam = Beam(3)
with torch.no_grad():
    for _ in range(4):
        beam.advance(out(emb(beam.last)).log_softmax(1))
print(beam.tokens[0])
