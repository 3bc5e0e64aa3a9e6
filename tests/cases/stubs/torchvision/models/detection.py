"""A detector that wants its images and the boxes of its targets where it is."""

from __future__ import annotations

from typing import Any

import torch


class _Detector(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 1)

    def forward(self, images: list[Any], targets: list[Any]) -> dict[str, Any]:
        losses = {}
        for number, (image, target) in enumerate(zip(images, targets, strict=True)):
            found = self.conv(image[None]).mean((0, 2, 3))
            losses[str(number)] = (found - target["boxes"]).sum() * target["labels"].sum()
        return losses


def fasterrcnn_resnet50_fpn(**options: Any) -> torch.nn.Module:
    torch.manual_seed(0)
    return _Detector()
