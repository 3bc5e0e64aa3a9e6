"""A package that the program imports from elsewhere."""

from __future__ import annotations

import torch


class Perceiver(torch.nn.Module):
    def __init__(self, depth: int, inverted: bool) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.layer(image.mean((1, 2)))
