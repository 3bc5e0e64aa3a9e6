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
    line = before.count("\n") + 1
    span = Span(line, 4, line, 18)
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
