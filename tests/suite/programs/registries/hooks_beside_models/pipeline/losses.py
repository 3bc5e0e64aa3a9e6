import torch
from torch import nn

from .registry import register


@register
class DiceBCE(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))

    def forward(self, logits, target):
        probs = logits.sigmoid()
        dice = (2 * (probs * target).sum() + self.smooth) / (probs.sum() + target.sum() + self.smooth)
        return self.bce(logits, target) + 1 - dice
