"""A little of datasets: rows of tensors by name."""

import torch


def load_dataset(name):
    """Return four rows of two tokens each."""
    return [
        {"input_ids": torch.tensor([each, each + 1]), "labels": torch.tensor(each % 2)}
        for each in range(4)
    ]
