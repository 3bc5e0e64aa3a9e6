"""What no edit touches is not read by libcst, and comes back to the letter."""

from __future__ import annotations

import libcst as cst
import pytest

from samedevice import source
from samedevice.finding import Edit, Fix, Span
from samedevice.rewrite import outline, rewrite

LONG = '''
@decorated  # a comment
class Kept{0}(  object ):
    """It's kept: even "quotes" and \\ backslashes."""

    def f(self, x):
        return [
            x
        ]

    def g(self):   # odd   spacing
        pass
        # the last comment
'''
TEXT = (
    "import torch\n\nfirst = 1\n"
    + "".join(LONG.format(index) for index in range(4))
    + "\n\nx = torch.zeros(3)\n\n"
    + "".join(LONG.format(index) for index in range(4, 8))
)


def changed(text: str) -> str:
    before = text.partition("torch.zeros")[0]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2])
    span = Span(line, column, line, column + 14)
    edit = Edit("a.py", span, "keyword", (("name", "device"), ("value", "'cpu'")))
    result = rewrite(source.from_text(text, "a.py"), [Fix((edit,))])
    assert not result.refused
    return result.text


def test_the_rest_is_as_it_was() -> None:
    assert changed(TEXT) == TEXT.replace("zeros(3)", "zeros(3, device='cpu')")


def test_most_of_the_file_is_not_parsed_by_libcst(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, parsed = cst.parse_module, []
    monkeypatch.setattr(cst, "parse_module", lambda text: parsed.append(text) or parse(text))
    changed(TEXT)
    assert parsed
    for text in parsed:
        assert text.count("class Kept") == 2  # the neighbours of what changes
        assert text.count("\n") <= TEXT.count("\n")


def test_short_definitions_stay() -> None:
    text = "import torch\nx = torch.zeros(3)\n\n\ndef f():\n    pass\n"
    assert outline.Outline(source.from_text(text, "a.py"), []).source.text == text


BLOCKS = """\
import torch


def train(steps):
    'Trains.'
    total = 0
    for step in range(steps):
        first = step  # odd   spacing
        second = [
            first,
        ]
        if second: third = 1; fourth = 2
        fifth = \'\'\'text
on two lines\'\'\'
        total += step
        x = torch.zeros(3)
        total += x.sum()
        try:
            a = 1
            b = 2
            c = 3
            d = 4
            e = 5
        finally:
            pass
        # the end
    else:
        @decorated
        def inner():
            pass

        f = 1
        g = 2
        h = 3
    return total
"""


def test_statements_of_a_touched_function_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, parsed = cst.parse_module, []
    monkeypatch.setattr(cst, "parse_module", lambda text: parsed.append(text) or parse(text))
    assert changed(BLOCKS) == BLOCKS.replace("zeros(3)", "zeros(3, device='cpu')")
    assert "second" not in parsed[0] and "inner" in parsed[0]
    # The first statement of a block stays, and so do those beside an edit.
    assert "first = step" in parsed[0] and "total += step" in parsed[0]


def test_statements_that_share_a_line_stay() -> None:
    text = BLOCKS.replace("        total += step\n", "")
    text = text.replace("two lines'''", "two lines'''; z = 1")
    assert changed(text) == text.replace("zeros(3)", "zeros(3, device='cpu')")
