"""Digits without a download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import Dataset


class MNIST(Dataset):  # type: ignore[type-arg]
    def __init__(
        self, root: str, train: bool = True, transform: Callable[[Any], Any] | None = None
    ) -> None:
        self.transform = transform
        self.data = torch.arange(100 * 28 * 28).remainder(256).to(torch.uint8).view(100, 28, 28)
        self.targets = torch.arange(100) % 10
        self.test_data, self.test_labels = self.data, self.targets

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image = self.data[index].numpy()
        return self.transform(image) if self.transform else image, int(self.targets[index])
