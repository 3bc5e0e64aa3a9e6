import torch
from torch import nn


class Bigram(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.table = nn.Embedding(vocab, vocab)

    def forward(self, idx):
        return self.table(idx)

    @torch.no_grad()
    def generate(self, idx, steps):
        for _ in range(steps):
            logits = self(idx)[:, -1]
            idx = torch.cat([idx, logits.argmax(-1, keepdim=True)], dim=1)
        return idx


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Bigram(11).to(device)
context = torch.zeros((1, 1), dtype=torch.long)
print(model.generate(context, 8)[0].tolist())
