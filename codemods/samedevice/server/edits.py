"""Places and texts as the protocol has them: lines from 0, columns in the client's units."""

from __future__ import annotations

import difflib

from lsprotocol import types as lsp

from ..finding import Span

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""For each position encoding the codec and the bytes of one of its units."""


def units(text: str, encoding: str) -> int:
    """Return how many units of `encoding` ("utf-8", "utf-16" or "utf-32") `text` takes."""
    if text.isascii():
        return len(text)
    codec, size = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def characters(line: str, column: int, encoding: str) -> int:
    """Return the column in characters that is `column` units of `encoding` into `line`."""
    if line.isascii():
        return min(column, len(line))
    codec, size = _CODECS[encoding]
    return len(line.encode(codec, "surrogatepass")[: column * size].decode(codec, "ignore"))


def position(lines: list[str], line: int, column: int, encoding: str) -> lsp.Position:
    """Return a place (line from 0, column in characters) as the client counts it."""
    text = lines[line] if line < len(lines) else ""
    return lsp.Position(line, units(text[:column], encoding))


def range_of(lines: list[str], span: Span, encoding: str) -> lsp.Range:
    """Return a span of a text, whose lines are `lines`, as the client counts it."""
    return lsp.Range(
        position(lines, span.line - 1, span.column, encoding),
        position(lines, span.end_line - 1, span.end_column, encoding),
    )


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
                    range_of(before, span, encoding),
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
