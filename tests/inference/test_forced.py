"""What a file asks for unless a user says otherwise."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from samedevice.inference import forced
from samedevice.inference.forced import by_default
from samedevice.inference.set_by_default import defaults_of
from samedevice.reading import syntax
from samedevice.reading.syntax import Parents

FIXTURES = Path(__file__).parents[2] / "fixtures"
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
    found = by_default(tree, text, Parents(tree), lambda: defaults_of(tree))
    return [asked.node.lineno for asked in found if isinstance(asked.node, ast.expr)]


def test_a_default_of_cuda_turns_it_on() -> None:
    assert _lines(_GUARDED.format(device="options.device")) == [10]


def test_a_name_that_asks_what_is_there_is_no_default() -> None:
    asks = '"cuda" if torch.cuda.is_available() else "cpu"'
    assert _lines(_GUARDED.format(device=asks)) == []


def _asked(text: str) -> list[tuple[int, int, str, bool]]:
    tree = ast.parse(text)
    parents = Parents(tree)
    found = [
        *forced.forced(tree, text, parents),
        *forced.forced(tree, text, parents, "ifs"),
        *by_default(tree, text, parents, lambda: defaults_of(tree)),
    ]
    return [(one.node.lineno, one.node.col_offset, one.kind, one.by_default) for one in found]


def _parses(text: str) -> bool:
    try:
        return bool(ast.parse(text))
    except SyntaxError:
        return False


def test_what_asks_is_found_under_another_name() -> None:
    text = """
import torch.cuda as c
from torch import load as read
from torch import cuda as d

c.set_device(0)
d.synchronize()
weights = read("weights.pt")
device = torch.device("mps" if mac else "xpu")
"""
    assert [line for line, *_ in _asked(text)] == [6, 7, 8, 9]


def test_lines_without_a_word_ask_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text("utf-8") for path in sorted(FIXTURES.rglob("*.py"))]
    texts = [text for text in texts if forced.WORDS.search(text) and _parses(text)]
    found = list(map(_asked, texts))
    assert sum(map(len, found)) > 500

    def every(tree: ast.Module, text: str, words: re.Pattern[str]) -> list[ast.AST]:
        return syntax.walk(tree)

    monkeypatch.setattr(syntax, "walk_with", every)
    assert list(map(_asked, texts)) == found
