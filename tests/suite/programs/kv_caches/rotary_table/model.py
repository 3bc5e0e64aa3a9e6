from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocab: int = 20
    dim: int = 16
    heads: int = 2
    layers: int = 2
    max_len: int = 32
    theta: float = 10000.0


def rope_table(dim, length, theta):
    inv = 1.0 / theta ** (torch.arange(0, dim, 2).float() / dim)
    ang = torch.outer(torch.arange(length).float(), inv)
    return torch.polar(torch.ones_like(ang), ang)


def rotate(x, table):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * table).flatten(-2).type_as(x)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h, self.hd = cfg.heads, cfg.dim // cfg.heads
        self.wqkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.wo = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.cache = None

    def forward(self, x, table, mask, start):
        b, t, _ = x.shape
        q, k, v = self.wqkv(x).view(b, t, 3, self.h, self.hd).permute(2, 0, 3, 1, 4)
        q, k = rotate(q, table), rotate(k, table)
        if self.cache is not None:
            ck, cv = self.cache
            ck[:b, :, start:start + t] = k
            cv[:b, :, start:start + t] = v
            k, v = ck[:b, :, :start + t], cv[:b, :, :start + t]
        att = q @ k.transpose(-1, -2) / self.hd ** 0.5
        if mask is not None:
            att = att + mask
        return self.wo((att.softmax(-1) @ v).transpose(1, 2).reshape(b, t, -1))


class Transformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.blocks = nn.ModuleList(nn.ModuleDict({"att": Attention(cfg), "ff": nn.Sequential(nn.Linear(cfg.dim, 32), nn.SiLU(), nn.Linear(32, cfg.dim))}) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)
        self.freqs = rope_table(cfg.dim // cfg.heads, cfg.max_len, cfg.theta)

    def setup_cache(self, batch):
        for blk in self.blocks:
            shape = (batch, self.cfg.heads, self.cfg.max_len, self.cfg.dim // self.cfg.heads)
            blk["att"].cache = (torch.zeros(shape), torch.zeros(shape))

    def clear_cache(self):
        for blk in self.blocks:
            blk["att"].cache = None

    def forward(self, ids, start=0, targets=None):
        t = ids.shape[1]
        x = self.emb(ids)
        table = self.freqs[start:start + t]
        mask = None
        if t > 1:
            mask = torch.full((t, t), float("-inf")).triu(1)
        for blk in self.blocks:
            x = x + blk["att"](x, table, mask, start)
            x = x + blk["ff"](x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
