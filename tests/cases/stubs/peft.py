"""A little of peft: an adapter around a model, which can be merged into it."""

from torch import nn


class PeftModel(nn.Module):
    """A model with an adapter."""

    def __init__(self, base):
        super().__init__()
        self.base = base

    @classmethod
    def from_pretrained(cls, base, name):
        """Return a model with the adapter of that name."""
        return cls(base)

    def merge_and_unload(self):
        """Return the model with the adapter's weights added to its own."""
        return self.base
