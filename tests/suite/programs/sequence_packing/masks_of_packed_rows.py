import torch
from torch import nn


def pack(seqs, max_tokens):
    """Greedily packs sequences into rows of at most max_tokens tokens."""
    rows, cur, n = [], [], 0
    for s in seqs:
        if n + len(s) > max_tokens and cur:
            rows.append(cur)
            cur, n = [], 0
        cur.append(s)
        n += len(s)
    if cur:
        rows.append(cur)
    return rows


def block_mask(lengths):
    ids = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    same = ids[:, None] == ids[None, :]
    return same & torch.ones_like(same).tril()


class Block(nn.Module):
    def __init__(self, vocab=20, d=8):
        super().__init__()
        self.emb, self.qkv, self.out = nn.Embedding(vocab, d), nn.Linear(d, 3 * d), nn.Linear(d, vocab)

    def forward(self, tokens, mask):
        q, k, v = self.qkv(self.emb(tokens)).chunk(3, -1)
        att = (q @ k.T / q.size(-1) ** 0.5).masked_fill(~mask, float("-inf"))
        return self.out(att.softmax(-1) @ v)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Block().to(device)
opt = torch.optim.Adam(model.parameters(), 1e-2)
seqs = [torch.randint(0, 20, (n,)) for n in (3, 4, 2, 5, 3)]
for row in pack(seqs, 8):
    tokens = torch.cat(row).to(device)
    mask = block_mask([len(s) for s in row])
    logits = model(tokens, mask)
    loss = nn.functional.cross_entropy(logits[:-1], tokens[1:])
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(f"{loss.item():.3f}")
