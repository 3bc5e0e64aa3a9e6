import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Queue:
    def __init__(self, size, dim):
        self.data = F.normalize(torch.randn(size, dim), dim=1)
        self.ptr = 0

    def push(self, keys):
        n = keys.shape[0]
        end = self.ptr + n
        if end <= len(self.data):
            self.data[self.ptr:end] = keys
        else:
            cut = len(self.data) - self.ptr
            self.data[self.ptr:] = keys[:cut]
            self.data[:n - cut] = keys[cut:]
        self.ptr = end % len(self.data)


class MoCo(nn.Module):
    def __init__(self, encoder, dim=8, K=48, m=0.9, T=0.2):
        super().__init__()
        self.m, self.T = m, T
        self.q = encoder
        self.k = copy.deepcopy(encoder)
        for p in self.k.parameters():
            p.requires_grad = False
        self.queue = Queue(K, dim)

    @torch.no_grad()
    def momentum(self):
        for a, b in zip(self.q.parameters(), self.k.parameters()):
            b.data = b.data * self.m + a.data * (1 - self.m)

    def forward(self, im_q, im_k):
        q = F.normalize(self.q(im_q), dim=1)
        with torch.no_grad():
            self.momentum()
            order = torch.randperm(im_k.shape[0])
            back = torch.argsort(order)
            k = F.normalize(self.k(im_k[order]), dim=1)[back]
        pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        neg = q @ self.queue.data.clone().detach().T
        logits = torch.cat([pos, neg], 1) / self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self.queue.push(k)
        return logits, labels
