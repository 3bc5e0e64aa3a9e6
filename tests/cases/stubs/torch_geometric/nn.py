"""Layers over graphs."""

import torch
from torch import nn


class GCNConv(nn.Module):
    """A layer that adds up its neighbours."""

    def __init__(self, inputs, outputs):
        super().__init__()
        torch.manual_seed(0)
        self.lin = nn.Linear(inputs, outputs)

    def forward(self, x, edge_index):
        """Return one row for each node."""
        rows = self.lin(x)
        return rows + torch.zeros_like(rows).index_add_(0, edge_index[1], rows[edge_index[0]])
