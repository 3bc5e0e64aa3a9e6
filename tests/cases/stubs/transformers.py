"""A little of transformers: models that are read, and perhaps placed, by their library."""

import torch
from torch import nn


class PreTrainedModel(nn.Module):
    """A model that refuses to be moved once its layers are where there was room."""

    placed = False

    @classmethod
    def from_pretrained(cls, name, torch_dtype=None, device_map=None):
        """Return a model, on the accelerator if there is one and it may choose."""
        made = cls()
        if device_map is not None:
            made.to("cuda" if torch.cuda.is_available() else "cpu")
            made.placed = True
        return made

    def to(self, *args, **kwargs):
        """Move the model, unless its library did."""
        if self.placed:
            raise RuntimeError("You can't move a model that has some modules offloaded")
        return super().to(*args, **kwargs)


class OPTForCausalLM(PreTrainedModel):
    """A language model of one layer."""

    def __init__(self):
        super().__init__()
        self.head = nn.Embedding(8, 2)

    def forward(self, ids):
        """Return one number for each token."""
        return self.head(ids).sum(-1)
