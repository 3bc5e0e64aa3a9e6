"""Places and texts as the protocol has them: lines from 0, columns in the client's units."""

from __future__ import annotations

import re
from collections.abc import Callable

from lsprotocol import types as lsp

from ..finding import Span
from ..reading import lines

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""For each position encoding the codec and the bytes of one of its units."""

_NEWLINE = re.compile(r"\r\n?|\n")
"""What ends a line in the protocol: neither form feeds nor U+2028 do."""


def units(text: str, encoding: str) -> int:
    """Return how many units of `encoding` ("utf-8", "utf-16" or "utf-32") `text` takes."""
    if text.isascii():
        return len(text)
    codec, size = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def range_of(line: Callable[[int], str], span: Span, encoding: str) -> lsp.Range:
    """Return a span of a text as the client counts it; `line` gives the text's lines, from 1."""

    def position(number: int, column: int) -> lsp.Position:
        return lsp.Position(number - 1, units(line(number)[:column], encoding))

    return lsp.Range(position(span.line, span.column), position(span.end_line, span.end_column))


def replaced(text: str, where: lsp.Range, new: str, encoding: str) -> str:
    """Return `text` with a range of the client's replaced; what is past an end is at that end."""
    start, end = (_offset(text, at, encoding) for at in (where.start, where.end))
    return text[:start] + new + text[end:]


def _offset(text: str, at: lsp.Position, encoding: str) -> int:
    """Return how many characters are before a position."""
    newlines = list(_NEWLINE.finditer(text))
    if at.line > len(newlines):
        return len(text)
    start = newlines[at.line - 1].end() if at.line else 0
    end = newlines[at.line].start() if at.line < len(newlines) else len(text)
    left = at.character
    for number in range(start, end):
        if left <= 0:
            return number
        left -= units(text[number], encoding)
    return end


def text_edits(old: str, new: str, encoding: str, newline: str = "\n") -> list[lsp.TextEdit]:
    """Return the smallest edits, line by line, that turn `old` into `new`.

    Both have `\\n` as their only newline; `newline` is the one that the client's text has.
    """
    before = old.split("\n")
    return [
        lsp.TextEdit(
            range_of(lambda number: before[number - 1], span, encoding),
            becomes.replace("\n", newline),
        )
        for span, becomes in lines.edits(old, new)
    ]
