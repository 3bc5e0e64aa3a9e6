"""Loaders of graphs."""


class DataLoader:
    """A loader of one graph after the other."""

    def __init__(self, dataset, batch_size=1):
        self._dataset = dataset

    def __iter__(self):
        return iter(self._dataset[each] for each in range(len(self._dataset)))
