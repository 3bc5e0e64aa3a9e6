"""A little of open_clip: a model, on the CPU unless it is told, and its transforms."""

import torch
from torch import nn


class CLIP(nn.Module):
    """A model that encodes texts."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 2)

    def encode_text(self, tokens):
        """Return one row for each text."""
        return self.table(tokens).sum(1)


def create_model_and_transforms(name, device="cpu"):
    """Return a model, and what prepares its images in training and in evaluation."""
    return CLIP().to(device), torch.relu, torch.relu


def tokenize(texts):
    """Return the numbers of texts."""
    return torch.tensor([[len(text) % 8] for text in texts])
