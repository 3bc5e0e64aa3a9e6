import torch


class Toy:
    def __init__(self, n, seed=0):
        gen = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 5, 4, generator=gen)
        self.y = self.x.mean((1, 2)).gt(0).long()

    def epochs(self, k, batch):
        for _ in range(k):
            for i in range(0, len(self.x), batch):
                yield self.x[i:i + batch], self.y[i:i + batch]
