import torch
from memory import memory


def test_scale():
    assert (memory.scale * torch.ones(3)).sum() > 0
