"""What no edit touches is not read by libcst, and comes back to the letter."""

from __future__ import annotations

import json

import libcst as cst
import pytest

from samedevice.finding import Edit, Fix, Resolver, Span, Verb
from samedevice.reading import source
from samedevice.reading.notebook import MARKER
from samedevice.rewrite import rewrite

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


ON_THE_CPU = (("name", "device"), ("value", "'cpu'"))


def changed(
    text: str,
    code: str = "torch.zeros(3)",
    verb: Verb = "keyword",
    args: tuple[tuple[str, str], ...] = ON_THE_CPU,
) -> str:
    before = text.partition(code)[0]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2])
    more = code.count("\n")
    end = len(code.rpartition("\n")[2]) + (0 if more else column)
    edit = Edit("a.py", Span(line, column, line + more, end), verb, args)
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
        assert "class Kept" not in text
        assert text.count("\n") <= TEXT.count("\n")


def test_what_stands_beside_a_new_statement_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, parsed = cst.parse_module, []
    monkeypatch.setattr(cst, "parse_module", lambda text, *_: parsed.append(text) or parse(text))
    result = changed(TEXT, "x = torch.zeros(3)", "after", (("code", "x = x.to('cpu')"),))
    assert result == TEXT.replace("zeros(3)\n", "zeros(3)\nx = x.to('cpu')\n")
    assert parsed[0].count("class Kept") == 2


def test_only_the_head_of_a_function_is_read_for_a_parameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parse, parsed = cst.parse_module, []
    monkeypatch.setattr(cst, "parse_module", lambda text: parsed.append(text) or parse(text))
    text = BLOCKS.replace("def train(steps):", "def train(\n    steps,  # many\n):")
    function = text[text.index("def train") :].rstrip("\n")
    result = changed(text, function, "parameter", (("name", "device"), ("default", "None")))
    assert result == text.replace("# many\n", "# many\n    device=None,\n")
    assert "total" not in parsed[0]


def test_a_definition_of_the_name_that_is_to_be_bound_is_seen() -> None:
    text = (
        "import torch\n\nx = 1\ny = 2\nz = 3\n\n\ndef device():\n    pass\n\n\nx = torch.zeros(3)\n"
    )
    span = Span(12, 4, 12, 18)
    edit = Edit("a.py", span, "keyword", (("name", "device"), ("value", "device")))
    fix = Fix((edit,), resolvers=(Resolver("a.py", "device", None, None),))
    result = rewrite(source.from_text(text, "a.py"), [fix])
    assert result.text == text
    assert dict(result.refused)[fix] == "the name 'device' is taken in this file"


def test_cells_of_a_notebook_are_left_out_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, parsed = cst.parse_module, []
    monkeypatch.setattr(cst, "parse_module", lambda text: parsed.append(text) or parse(text))
    cells = ["import torch", "a = 1\n!ls\nb = 2", "c = 3", "x = torch.zeros(3)", "d = 4", "e = 5"]
    made = [{"cell_type": "code", "source": cell, "outputs": []} for cell in cells]
    before = source.from_bytes(json.dumps({"cells": made, "nbformat": 4}).encode(), "a.ipynb")
    line = before.text.split("\n").index("x = torch.zeros(3)") + 1
    edit = Edit("a.ipynb", Span(line, 4, line, 18), "keyword", ON_THE_CPU)
    result = rewrite(before, [Fix((edit,))])
    after = before.cells(result.text)
    assert [after[index] for index in sorted(after)] == [
        cell.replace("zeros(3)", "zeros(3, device='cpu')") for cell in cells
    ]
    assert "c = 3" not in parsed[0] and parsed[0].count(MARKER) == before.text.count(MARKER)


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
    assert "second" not in parsed[0] and "inner" not in parsed[0]
    # The comments between stay, and so do the heads of what an edit is in.
    assert "# the end" in parsed[0] and "for step in range(steps):" in parsed[0]


def test_statements_that_share_a_line_stay() -> None:
    text = BLOCKS.replace("        total += step\n", "")
    text = text.replace("two lines'''", "two lines'''; z = 1")
    assert changed(text) == text.replace("zeros(3)", "zeros(3, device='cpu')")


@pytest.mark.parametrize("below", ["    # x.cpu()\n", "    \n\n", "\n\n    # one\n# two\n"])
def test_what_stands_below_the_last_statement_stays(below: str) -> None:
    text = f"x = torch.zeros(3)\n\n\ndef f():\n    return 1\n{below}"
    assert changed(text) == text.replace("zeros(3)", "zeros(3, device='cpu')")


def test_what_libcst_cannot_read_in_part_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = cst.parse_module

    def only_whole(text: str) -> cst.Module:
        return parse(text if text == TEXT else "lost = 1\n")

    monkeypatch.setattr(cst, "parse_module", only_whole)
    assert changed(TEXT) == TEXT.replace("zeros(3)", "zeros(3, device='cpu')")
