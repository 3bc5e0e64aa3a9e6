import torch
from torch import nn

TEXT = "to be or not to be that is the question "
VOCAB = sorted(set(TEXT))
IDS = {c: i for i, c in enumerate(VOCAB)}


class Cache:
    def __init__(self):
        self.k = self.v = None

    def extend(self, k, v):
        self.k = k if self.k is None else torch.cat((self.k, k), dim=1)
        self.v = v if self.v is None else torch.cat((self.v, v), dim=1)
        return self.k, self.v


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, cache=None):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        if cache is not None:
            k, v = cache.extend(k, v)
        att = q @ k.transpose(-1, -2) / k.size(-1) ** 0.5
        if q.size(1) > 1:
            att = att.masked_fill(torch.ones(q.size(1), k.size(1)).tril() == 0, float("-inf"))
        return x + self.proj(att.softmax(-1) @ v)


class Decoder(nn.Module):
    def __init__(self, d=16, depth=2, block=16):
        super().__init__()
        self.block = block
        self.tok, self.pos = nn.Embedding(len(VOCAB), d), nn.Embedding(block, d)
        self.layers = nn.ModuleList(Block(d) for _ in range(depth))
        self.head = nn.Linear(d, len(VOCAB), bias=False)

    def forward(self, ids, caches=None, start=0):
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.size(1)))
        for i, layer in enumerate(self.layers):
            x = layer(x, caches[i] if caches else None)
        return self.head(x)

    @torch.no_grad()
    def write(self, prompt, n):
        caches = [Cache() for _ in self.layers]
        ids = torch.tensor([[IDS[c] for c in prompt]])
        logits, out = self(ids, caches), list(prompt)
        for i in range(n):
            nxt = logits[:, -1].argmax(-1, keepdim=True)
            out.append(VOCAB[nxt.item()])
            logits = self(nxt, caches, len(prompt) + i)
        return "".join(out)


torch.manual_seed(0)
data = torch.tensor([IDS[c] for c in TEXT])
lm = Decoder()
opt = torch.optim.AdamW(lm.parameters(), 1e-2)
for step in range(10):
    at = torch.randint(len(data) - 13, (8,))
    x = torch.stack([data[i:i + 12] for i in at])
    y = torch.stack([data[i + 1:i + 13] for i in at])
    loss = nn.functional.cross_entropy(lm(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(lm.write("to ", 8)), bool(loss < 5))
