"""As much of PyTorch Lightning as the programs need: a module that knows where it is."""

from torch import nn


class LightningModule(nn.Module):
    """A module; Lightning moves it, and the batches of its loaders."""
