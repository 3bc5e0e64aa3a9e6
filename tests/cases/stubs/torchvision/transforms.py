"""From arrays to tensors."""

from __future__ import annotations

from typing import Any

import torch


class ToTensor:
    def __call__(self, image: Any) -> torch.Tensor:
        return torch.from_numpy(image)[None].float() / 255
