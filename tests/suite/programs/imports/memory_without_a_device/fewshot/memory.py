import torch


class Prototypes:
    def __init__(self, ways, dim):
        self.sums = torch.zeros(ways, dim)
        self.counts = torch.zeros(ways, 1)

    def add(self, features, labels):
        self.sums.index_add_(0, labels, features.detach())
        self.counts.index_add_(0, labels, torch.ones_like(features[:, :1]))

    def logits(self, queries):
        means = self.sums / self.counts.clamp(min=1)
        return -torch.cdist(queries, means)
