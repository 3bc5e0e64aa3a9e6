import torch
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, vocab, length, dim):
        super().__init__()
        self.word = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(length, dim)

    def forward(self, ids):
        positions = torch.arange(ids.size(1)).unsqueeze(0).expand_as(ids)
        return self.word(ids) + self.place(positions)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
emb = Embeddings(9, 16, 4).to(device)
print(f"{emb(torch.randint(9, (2, 7), device=device)).sum().item():.4f}")
