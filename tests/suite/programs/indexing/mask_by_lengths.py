import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mask_of(lengths, longest):
    return torch.arange(longest)[None, :] < lengths[:, None]


def pad(seqs):
    lengths = torch.tensor([len(s) for s in seqs])
    out = torch.zeros(len(seqs), int(lengths.max()), dtype=torch.long)
    for i, s in enumerate(seqs):
        out[i, :len(s)] = torch.tensor(s)
    return out, lengths


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 6)
        self.query = nn.Parameter(torch.zeros(6))
        self.out = nn.Linear(6, 2)

    def forward(self, ids, mask):
        e = self.emb(ids)
        att = (e @ self.query).masked_fill(~mask, -1e9).softmax(-1)
        return self.out((att.unsqueeze(-1) * e).sum(1))


torch.manual_seed(0)
net = Pooler().to(device)
ids, lengths = pad([[1, 2, 3], [4, 5], [6, 7, 8, 9]])
logits = net(ids.to(device), mask_of(lengths.to(device), ids.size(1)))
logits.sum().backward()
print(logits.shape)
