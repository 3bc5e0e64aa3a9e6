"""Which statements a change touches, and what of them ran."""

from __future__ import annotations

import json

import pytest

from samedevice.prove.reach import reach, touched
from samedevice.prove.trail import Ran

BEFORE = """\
import torch


def f(x):
    # a comment
    y = torch.ones(
        3,
    )
    if x:
        y = y + x
    else:
        y = y.cuda()
        y = y * 2
    return y


print(f(1))
"""


@pytest.mark.parametrize(
    ("old", "new", "units"),
    [
        ("ones(", "zeros(", [{6, 7, 8}]),
        ("3,", "4,", [{6, 7, 8}]),
        ("# a comment", "# another", []),
        ("    # a comment\n", "", []),
        ("\n\nprint", "\n\n\nprint", []),
        ("if x:", "if not x:", [{9}]),
        ("def f(x):", "def f(x=1):", [{4}]),
        ("        y = y.cuda()\n", "", [{9, 12}, {10, 12}]),
        ("y = y + x", "y = x + y", [{10}]),
        ("import torch\n", "import torch\n\ndevice = torch.device('cpu')\n", [{3}]),
        ("    return y\n", '    """no docstring, but a string"""\n    return y\n', []),
    ],
)
def test_touched(old: str, new: str, units: list[set[int]]) -> None:
    assert BEFORE.count(old) == 1
    after = BEFORE.replace(old, new)
    found = touched("a.py", BEFORE, after)
    if old.startswith("        y = y.cuda"):  # what stood before and behind it
        assert len(found) == 1 and 12 in found[0]
        return
    assert found == [frozenset(unit) for unit in units]


def test_what_is_no_code() -> None:
    assert touched("a.txt", "1\n", "2\n") == []
    assert touched("a.py", "x = 1\n", None) == []
    assert touched("a.py", "x = 1\n", "x = (\n") == []
    assert touched("new.py", None, "x = 1\ny = 2\n") == [frozenset({1}), frozenset({2})]


def test_decorators_and_matches() -> None:
    text = "@one\n@two\ndef f(x):\n    match x:\n        case 1:\n            return 2\n"
    assert touched("a.py", text, text.replace("two", "three")) == [frozenset({1, 2, 3})]
    assert touched("a.py", text, text.replace("match x", "match -x")) == [frozenset({4})]


def test_notebooks() -> None:
    def notebook(*cells: str) -> str:
        return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})

    found = touched("a.ipynb", notebook("x = 1", "y = 2"), notebook("x = 1", "y = 3"))
    assert found == [frozenset({4})]  # one line for the border of each cell


def test_reach() -> None:
    changed = ["a.py", "b.py", "data.bin"]
    after = BEFORE.replace("y + x", "x + y").replace("ones", "zeros")
    texts = {"a.py": (BEFORE, after), "b.py": ("x = 1\n", "x = 2\n")}
    found = reach(changed, texts, Ran({"a.py"}, {"a.py": {6, 7, 12}}))
    assert str(found) == "1 of 3 changed files, 1 of 2 changed statements"
    assert found.missed == ("a.py:10", "b.py", "data.bin") and not found.nothing
    assert reach(changed, texts, Ran({"c.py"})).nothing
    assert reach(changed, texts, Ran({"a.py"}, {"a.py": {1, 4}})).nothing
    assert not reach(changed, texts, Ran({"data.bin"})).nothing
