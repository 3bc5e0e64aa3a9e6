from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch


def _move(v: Any, *a, **k) -> Any:
    return v.to(*a, **k) if hasattr(v, "to") else v


@dataclass
class Rays:
    origin: torch.Tensor
    direction: torch.Tensor
    near: float = 0.0

    def to(self, *a, **k) -> Rays:
        return dataclasses.replace(self, **{f.name: _move(getattr(self, f.name), *a, **k) for f in dataclasses.fields(self)})

    def __getitem__(self, i) -> Rays:
        return Rays(self.origin[i], self.direction[i], self.near)

    def __len__(self):
        return len(self.origin)

    def at(self, t: torch.Tensor) -> torch.Tensor:
        return self.origin + (self.near + t)[:, None] * self.direction
