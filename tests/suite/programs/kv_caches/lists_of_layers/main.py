import torch
import torch.nn as nn
import torch.nn.functional as F

from cache import KVCache


class Layer(nn.Module):
    def __init__(self, d, h, index):
        super().__init__()
        self.h, self.index = h, index
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q, k, v = (z.view(B, T, self.h, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = cache.update(self.index, k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        return x + self.o(y.transpose(1, 2).reshape(B, T, D))


class Decoder(nn.Module):
    def __init__(self, v=12, d=8, h=2, n=2):
        super().__init__()
        self.h, self.d, self.n = h, d, n
        self.emb = nn.Embedding(v, d)
        self.layers = nn.ModuleList(Layer(d, h, i) for i in range(n))
        self.head = nn.Linear(d, v)

    def forward(self, ids, cache=None):
        x = self.emb(ids)
        for l in self.layers:
            x = l(x, cache)
        if cache is not None:
            cache.advance(ids.size(1))
        return self.head(x)

    @torch.no_grad()
    def generate(self, ids, n):
        cache = KVCache(self.n, ids.size(0), self.h, 32, self.d // self.h)
        out = [ids]
        cur = ids
        for _ in range(n):
            cur = self(cur, cache)[:, -1].argmax(-1, keepdim=True)
            out.append(cur)
        return torch.cat(out, 1)


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = Decoder().to(device).eval()
prompt = torch.tensor([[1, 2, 3], [4, 5, 6]], device=device)
a = model.generate(prompt, 4)
print(a.shape, a[:, :3].tolist())
