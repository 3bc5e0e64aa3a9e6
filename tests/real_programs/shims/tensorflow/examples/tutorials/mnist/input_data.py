"""Synthetic digits behind the interface of TensorFlow 1's reader."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


class _Part:
    """Images as rows of 784 floats in [0, 1]; labels as classes or one-hot rows."""

    def __init__(self, count: int, one_hot: bool) -> None:
        self._source = np.random.RandomState(count)
        labels = self._source.randint(0, 10, count)
        self.images = self._source.rand(count, 784).astype(np.float32)
        self.labels = np.eye(10)[labels] if one_hot else labels
        self.num_examples = count

    def next_batch(self, size: int, shuffle: bool = True):
        """``size`` images and their labels, drawn with replacement."""
        chosen = self._source.randint(0, self.num_examples, size)
        return self.images[chosen], self.labels[chosen]


def read_data_sets(folder: str, one_hot: bool = False, **kwargs):
    """Three parts with the attributes ``images`` and ``labels``; nothing is read."""
    return SimpleNamespace(
        train=_Part(512, one_hot), validation=_Part(128, one_hot), test=_Part(128, one_hot)
    )
