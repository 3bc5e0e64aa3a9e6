"""Places and texts as the protocol has them: lines from 0, columns in the client's units."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from lsprotocol import types as lsp

from ..finding import Span

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
    # With its newline a line differs from an equal one at the end of the text.
    a = [line + "\n" for line in before[:-1]] + before[-1:]
    after = new.split("\n")
    b = [line + "\n" for line in after[:-1]] + after[-1:]
    edits = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b).get_opcodes():
        if tag == "equal":
            continue
        if i2 - i1 == j2 - j1:  # each line has its own edit
            pairs = [(i1 + n, a[i1 + n], b[j1 + n]) for n in range(i2 - i1)]
        else:
            pairs = [(i1, "".join(a[i1:i2]), "".join(b[j1:j2]))]
        for line, was, becomes in pairs:
            if was == becomes:
                continue
            start = _common(was, becomes)
            end = _common(was[start:][::-1], becomes[start:][::-1])
            span = _span(line, was, start, len(was) - end)
            edits.append(
                lsp.TextEdit(
                    range_of(lambda number: before[number - 1], span, encoding),
                    becomes[start : len(becomes) - end].replace("\n", newline),
                )
            )
    return edits


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _span(first: int, text: str, start: int, end: int) -> Span:
    """Return the span of `text[start:end]`, where `text` starts at line `first` (from 0)."""
    return Span(
        first + text.count("\n", 0, start) + 1,
        start - (text.rfind("\n", 0, start) + 1),
        first + text.count("\n", 0, end) + 1,
        end - (text.rfind("\n", 0, end) + 1),
    )
