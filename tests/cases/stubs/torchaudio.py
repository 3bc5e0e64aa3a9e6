"""As much of torchaudio as the programs use."""

from __future__ import annotations

import torch


def save(uri: str, src: torch.Tensor, sample_rate: int) -> None:
    assert src.device == torch.device("cpu") and isinstance(sample_rate, int)
    print(uri, tuple(src.shape), sample_rate)


def load(uri: str) -> tuple[torch.Tensor, int]:
    return torch.arange(float(len(uri))).expand(2, -1), 16000
