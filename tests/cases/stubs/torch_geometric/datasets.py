"""Data sets of graphs."""

import torch


class Graph:
    """Tensors by attribute, which move together."""

    def __init__(self, **tensors):
        self.__dict__.update(tensors)

    def to(self, device):
        """Return the graph on a device."""
        return Graph(**{key: value.to(device) for key, value in vars(self).items()})


class Planetoid:
    """A data set of one graph."""

    num_classes = 2

    def __init__(self, root, name):
        torch.manual_seed(0)
        self._graph = Graph(
            x=torch.rand(4, 3),
            edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]),
            y=torch.tensor([0, 1, 0, 1]),
            train_mask=torch.tensor([True, True, False, False]),
        )

    def __len__(self):
        return 1

    def __getitem__(self, index):
        if index:
            raise IndexError
        return self._graph
