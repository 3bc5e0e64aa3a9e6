"""Translation with packed sequences, teacher forcing, attention and a beam of one."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(4)
torch.manual_seed(4)
if torch.cuda.is_available():
    torch.cuda.manual_seed_all(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8, padding_idx=0)
        self.gru = nn.GRU(8, 8, bidirectional=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths.cpu(), enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out)
        return out[..., :8] + out[..., 8:], h[:1] + h[1:]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.attn = nn.Linear(16, 1)
        self.cell = nn.GRUCell(16, 8)
        self.out = nn.Linear(8, 12)

    def forward(self, token, h, memory):
        keys = torch.cat([memory, h.expand_as(memory)], 2)
        weights = F.softmax(self.attn(keys).squeeze(2), 0)
        context = torch.einsum("tb,tbh->bh", weights, memory)
        h = self.cell(torch.cat([self.embedding(token), context], 1), h.squeeze(0))
        return F.log_softmax(self.out(h), 1), h.unsqueeze(0)


encoder, decoder = Encoder().to(device), Decoder().to(device)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 0.01)
for step in range(6):
    sentences = [torch.randint(1, 12, (random.randint(2, 5),)) for _ in range(4)]
    lengths = torch.tensor([len(s) for s in sentences])
    source = pad_sequence(sentences).to(device)
    memory, h = encoder(source, lengths)
    token = torch.ones(4, dtype=torch.long, device=device)
    loss = torch.zeros(1, device=device)
    for t in range(source.size(0)):
        scores, h = decoder(token, h, memory)
        loss = loss + F.nll_loss(scores, source[t], ignore_index=0)
        token = source[t] if random.random() < 0.5 else scores.topk(1)[1].squeeze(1).detach()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
