"""A little of clip: a model, on CUDA where there is one unless it is told, and its transform."""

import torch
from open_clip import CLIP, tokenize

__all__ = ["load", "tokenize"]


def load(name, device=None):
    """Return a model and what prepares its images."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return CLIP().to(device), torch.relu
