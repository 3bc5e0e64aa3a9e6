"""An autoencoder that is handed what it encodes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch


class AutoencoderKL(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    @classmethod
    def from_pretrained(cls, name: str) -> AutoencoderKL:
        return cls()

    def encode(self, x: torch.Tensor) -> Any:
        latent = self.layer(x)
        return SimpleNamespace(latent_dist=SimpleNamespace(sample=lambda: latent))
