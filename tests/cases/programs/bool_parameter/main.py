import torch
from torch import nn
from perceiver import Perceiver  # not in this project

def test_perceiver(inverted):
    model = Perceiver(depth=2, inverted=inverted)
    img = torch.randn(1, 32, 32, 3)
    out = model(img)
    assert out.shape == (1, 10)
    print(out.shape)

if __name__ == "__main__":
    test_perceiver(True)
    test_perceiver(False)
