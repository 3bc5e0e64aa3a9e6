"""What a file asks for unless a user says otherwise."""

from __future__ import annotations

import ast

from samedevice.inference.forced import by_default, defaults_of
from samedevice.reading.syntax import Parents

_GUARDED = """
import torch

def batch(device="cuda"):
    return torch.ones(3, device=device)

def main():
    device = {device}
    if device == "cuda":
        torch.cuda.synchronize()
"""


def _lines(text: str) -> list[int]:
    tree = ast.parse(text)
    found = by_default(tree, Parents(tree), lambda: defaults_of(tree))
    return [asked.node.lineno for asked in found if isinstance(asked.node, ast.expr)]


def test_a_default_of_cuda_turns_it_on() -> None:
    assert _lines(_GUARDED.format(device="options.device")) == [10]


def test_a_name_that_asks_what_is_there_is_no_default() -> None:
    asks = '"cuda" if torch.cuda.is_available() else "cpu"'
    assert _lines(_GUARDED.format(device=asks)) == []
