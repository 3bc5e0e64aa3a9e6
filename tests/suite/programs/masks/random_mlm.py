import torch
from torch import nn

MASK, VOCAB = 0, 20


def mask_tokens(ids):
    chosen = torch.rand(ids.shape) < 0.5
    labels = ids.masked_fill(~chosen, -100)
    return ids.masked_fill(chosen, MASK), labels


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Embedding(VOCAB, 8), nn.Linear(8, VOCAB)).to(device)
ids = torch.randint(1, VOCAB, (4, 6)).to(device)
inputs, labels = mask_tokens(ids)
loss = nn.functional.cross_entropy(model(inputs).view(-1, VOCAB), labels.view(-1))
print(f"{loss.item():.4f}")
