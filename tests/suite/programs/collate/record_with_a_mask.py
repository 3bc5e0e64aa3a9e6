from dataclasses import dataclass, fields
from typing import List

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


@dataclass
class Example:
    tokens: torch.Tensor
    tags: torch.Tensor
    text: str


@dataclass
class Padded:
    tokens: torch.Tensor
    tags: torch.Tensor
    mask: torch.Tensor
    texts: List[str]

    @classmethod
    def of(cls, examples):
        tokens = pad_sequence([e.tokens for e in examples], batch_first=True)
        tags = pad_sequence([e.tags for e in examples], batch_first=True, padding_value=-1)
        return cls(tokens, tags, tags.ge(0), [e.text for e in examples])


class Tags(Dataset):
    def __init__(self):
        gen = torch.Generator().manual_seed(1)
        self.rows = []
        for n in (4, 6, 3, 5):
            tokens = torch.randint(1, 20, (n,), generator=gen)
            self.rows.append(Example(tokens, tokens % 3, " ".join(map(str, tokens.tolist()))))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8, padding_idx=0)
        self.rnn = nn.LSTM(8, 6, bidirectional=True, batch_first=True)
        self.out = nn.Linear(12, 3)

    def forward(self, padded):
        lengths = padded.mask.sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.emb(padded.tokens), lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(hidden)


torch.manual_seed(0)
tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), 0.02)
for _ in range(3):
    for padded in DataLoader(Tags(), 2, collate_fn=Padded.of):
        scores = tagger(padded)
        loss = nn.functional.cross_entropy(scores[padded.mask], padded.tags[padded.mask])
        opt.zero_grad()
        loss.backward()
        opt.step()
right = (tagger(padded).argmax(-1) == padded.tags)[padded.mask].sum().item()
print([f.name for f in fields(padded)], right >= 0, padded.texts[0].count(" "))
