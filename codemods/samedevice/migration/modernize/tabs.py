"""Tabs mixed with spaces: indentation that Python 2 reads and Python 3 refuses.

Python 2 takes a tab to the next multiple of eight columns. Python 3 wants the indentation of two
lines to compare the same whatever a tab is worth, else it raises `TabError`.
"""

from __future__ import annotations

import io
import re
from itertools import pairwise

from fissix.pgen2 import token, tokenize

_TAB = 8
_INDENTATION = re.compile(r"[ \t\f]*")


def untab(text: str) -> tuple[str, list[int]]:
    """Return the text with indentation that Python 3 accepts, and the lines (from 1) that changed.

    Each block that begins at the left margin is looked at alone. Of the two ways, spaces for tabs
    and tabs for spaces, the one that changes fewer of its lines is taken. A text that is
    consistent already, or that has no tokens to go by, comes back as it is.
    """
    if "\t" not in text:
        return text, []
    lines = text.split("\n")
    try:
        starts, others = _statement_lines(text)
    except (tokenize.TokenError, IndentationError):
        return text, []  # the parser will say what is wrong with it
    changed: list[int] = []
    margins = [n for n in starts if _columns(lines[n])[0] == 0] + [len(lines)]
    for first, end in pairwise(margins):
        block = [n for n in starts if first <= n < end]
        if not _consistent(lines, block):
            movable = block + [n for n in others if first <= n < end]
            changed += _straighten(lines, block, movable)
    return "\n".join(lines), [number + 1 for number in sorted(changed)]


def _straighten(lines: list[str], starts: list[int], movable: list[int]) -> list[int]:
    """Rewrite the indentation of the lines `movable`; returns those that changed."""
    ways = []
    for rewrite in (_as_tabs, _as_spaces):
        new = {n: rewrite(lines[n]) for n in movable if rewrite(lines[n]) != lines[n]}
        if _consistent({**dict(enumerate(lines)), **new}, starts):
            ways.append(new)
    best = min(ways, key=len)  # all in spaces is consistent whatever the lines are
    for number, line in best.items():
        lines[number] = line
    return list(best)


def _statement_lines(text: str) -> tuple[list[int], list[int]]:
    """Return the lines (from 0) on which a statement starts, and the comments and continuations.

    Lines inside of a string are in neither: their white space is the program's data.
    """
    starts: list[int] = []
    others: set[int] = set()
    in_string: set[int] = set()
    fresh = True
    for kind, value, (row, _), (end_row, _), _ in tokenize.generate_tokens(
        io.StringIO(text).readline
    ):
        if kind == token.STRING:
            in_string.update(range(row, end_row))  # rows count from 1: these are the ones after
        if kind == token.NEWLINE:
            fresh = True
        elif kind in (tokenize.COMMENT, tokenize.NL):
            if value.strip():
                others.add(row - 1)
        elif kind not in (token.INDENT, token.DEDENT, token.ENDMARKER):
            if fresh:
                starts.append(row - 1)
                fresh = False
            else:
                others.add(row - 1)
    return starts, sorted(others - in_string - set(starts))


def _consistent(lines: list[str] | dict[int, str], starts: list[int]) -> bool:
    """Tell whether Python 3 accepts the indentation: two tab sizes must agree on every step."""
    stack = [(0, 0)]
    for number in starts:
        here = _columns(lines[number])
        while here[0] < stack[-1][0]:
            stack.pop()
        if (here[0] == stack[-1][0]) != (here[1] == stack[-1][1]) or here[1] < stack[-1][1]:
            return False
        if here[0] > stack[-1][0]:
            stack.append(here)
    return True


def _columns(line: str) -> tuple[int, int]:
    """Return the width of a line's indentation for tabs of eight columns and of one."""
    wide = narrow = 0
    for character in _indentation(line):
        if character == "\t":
            wide, narrow = (wide // _TAB + 1) * _TAB, narrow + 1
        elif character == " ":
            wide, narrow = wide + 1, narrow + 1
        else:  # a form feed starts over
            wide = narrow = 0
    return wide, narrow


def _indentation(line: str) -> str:
    match = _INDENTATION.match(line)
    return match.group() if match else ""


def _as_spaces(line: str) -> str:
    old = _indentation(line)
    return " " * _columns(line)[0] + line[len(old) :] if "\t" in old else line


def _as_tabs(line: str) -> str:
    old = _indentation(line)
    tabs, spaces = divmod(_columns(line)[0], _TAB)
    return "\t" * tabs + " " * spaces + line[len(old) :] if " " in old else line
