"""The change list as Markdown, for a pull request or a review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from .place import printable

if TYPE_CHECKING:
    from .changes import ChangeList


def dump(changes: ChangeList) -> str:
    """Return the list as one Markdown document."""
    return "\n".join(_lines(changes)) + "\n"


def _lines(changes: ChangeList) -> Iterator[str]:
    yield "# Changes made by samedevice"
    if not changes.changed:
        yield "\nNothing was changed."
    for path, entries in groupby(changes.changed, lambda entry: entry.path):
        yield f"\n## {text(path)}"
        for entry in entries:
            rule = f" ({entry.rule})" if entry.rule else ""
            yield f"\n**Line {entry.line}**{rule}: {text(entry.why)}\n"
            removed = [f"-{line}" for line in entry.before.split("\n") if entry.before]
            added = [f"+{line}" for line in entry.after.split("\n") if entry.after]
            yield from fenced("diff", "\n".join([*removed, *added]))
    if changes.left:
        yield "\n# Seen and not changed\n"
        for left in changes.left:
            seen = f" {code(left.code)}" if left.code else ""
            yield (
                f"- {text(left.path)}:{left.line} ({left.rule}){seen}: "
                f"{text(left.why)} *{text(left.reason)}*"
            )
    if changes.errors:
        yield "\n# Files that could not be worked on\n"
        for error in changes.errors:
            line = "" if error.line is None else f":{error.line}"
            yield f"- {text(error.path)}{line}: {text(error.message)}"


def fenced(language: str, lines: str) -> Iterator[str]:
    """Yield a block of code, in a fence that the code cannot close."""
    fence = "`" * (max([2, *map(len, re.findall("`+", lines))]) + 1)
    yield from (fence + language, lines, fence)


def code(words: str) -> str:
    """Return a code span of one line."""
    words = printable(" ".join(words.split()))
    fence = "`" * (max([0, *map(len, re.findall("`+", words))]) + 1)
    return f"{fence} {words} {fence}" if "`" in words or not words else f"`{words}`"


def text(words: str) -> str:
    """Escape what Markdown would take for markup, except code between backticks.

    Mentions (`@`) and references (`#`, `!`) are cut off from what follows: a report calls nobody.
    """
    parts = re.split(r"(`[^`\n]*`)", "\n".join(map(printable, words.split("\n"))))
    parts[::2] = [_escaped(part) for part in parts[::2]]
    return "".join(parts)


def _escaped(part: str) -> str:
    part = re.sub(r"([\\*_<>\[\]#|`~&$])", r"\\\1", part)
    return re.sub(r"([@#!])(?=\w)", r"\1<!-- -->", part)
