from helpers import rows
from model import Policy


def build():
    return Policy(device="cpu"), rows(3)


def test_shape():
    policy, x = build()
    assert policy(x).shape == (3, 2)


def test_sum():
    assert rows(2).sum() == 28
