"""A plugin of pytest for suites that choose no device: all they make is on CUDA by default."""

import torch

torch.set_default_device("cuda")
