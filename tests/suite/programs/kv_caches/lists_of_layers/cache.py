import torch


class KVCache:
    def __init__(self, n_layers, batch, heads, length, dim, dtype=torch.float32):
        self.k = [torch.zeros(batch, heads, length, dim, dtype=dtype) for _ in range(n_layers)]
        self.v = [torch.zeros(batch, heads, length, dim, dtype=dtype) for _ in range(n_layers)]
        self.pos = 0

    def update(self, layer, k, v):
        t = k.size(2)
        self.k[layer][:, :, self.pos:self.pos + t] = k
        self.v[layer][:, :, self.pos:self.pos + t] = v
        return self.k[layer][:, :, :self.pos + t], self.v[layer][:, :, :self.pos + t]

    def advance(self, t):
        self.pos += t
