import torch
from torch import nn

torch.manual_seed(0)
VOCAB = 9
lm = nn.Sequential(nn.Embedding(VOCAB, 8), nn.Linear(8, VOCAB)).eval()


@torch.no_grad()
def beam(width=3, steps=4):
    beams = torch.zeros(1, 1, dtype=torch.long)
    scores = torch.zeros(1)
    for _ in range(steps):
        logp = lm(beams[:, -1]).log_softmax(-1)
        total = (scores[:, None] + logp).view(-1)
        scores, flat = total.topk(min(width, total.numel()))
        rows = torch.div(flat, VOCAB, rounding_mode="floor")
        beams = torch.cat([beams[rows], (flat % VOCAB)[:, None]], 1)
    return beams, scores


beams, scores = beam()
print(beams.tolist(), [round(s, 3) for s in scores.tolist()])
