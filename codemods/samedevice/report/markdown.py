"""The change list as Markdown, for a pull request or a review."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from .place import printable

if TYPE_CHECKING:
    from .changes import ChangeList, Entry, Left
    from .json import ErrorRecord


INCOMPLETE = "Incomplete: not written without --unsafe"


def dump(changes: ChangeList) -> str:
    """Return the list as one Markdown document."""
    return "\n".join(_lines(changes)) + "\n"


def _lines(changes: ChangeList) -> Iterator[str]:
    yield f"# {title(changes)}"
    yield f"\n{total(changes)}"
    if len(files := by_file(changes)) > 1:
        yield "\n| file | changes | left |\n| --- | --- | --- |"
        yield from (f"| {text(path)} | {made} | {left} |" for path, made, left in files)
    yield from _entries(changes.changed)
    if changes.incomplete:
        yield f"\n# {INCOMPLETE}"
        yield from _entries(changes.incomplete)
    if changes.left:
        yield "\n# Seen and not changed\n"
        for left in changes.left:
            seen = f" {code(left.code)}" if left.code else ""
            yield (
                f"- {text(left.path)}, {where(left).lower()} ({left.rule}){seen}: "
                f"{text(left.why)} *{text(left.reason)}*"
            )
    if changes.errors:
        yield "\n# Files that could not be worked on\n"
        for error in changes.errors:
            yield f"- {text(error.path)}{at_error(error)}: {text(error.message)}"


def _entries(changed: Iterable[Entry]) -> Iterator[str]:
    for path, entries in groupby(changed, lambda entry: entry.path):
        yield f"\n## {text(path)}"
        for entry in entries:
            rule = f" ({entry.rule})" if entry.rule else ""
            yield f"\n**{where(entry)}**{rule}: {text(entry.why)}\n"
            removed = [f"-{line}" for line in entry.before.split("\n") if entry.before]
            added = [f"+{line}" for line in entry.after.split("\n") if entry.after]
            yield from fenced("diff", "\n".join([*removed, *added]))


def title(changes: ChangeList) -> str:
    """Return what such a list is called."""
    return f"Changes {'made by samedevice' if changes.written else 'that samedevice would make'}"


def total(changes: ChangeList) -> str:
    """Return the numbers of all in one line."""
    made, files = len(changes.changed), len({entry.path for entry in changes.changed})
    if made:
        did = "were made" if changes.written else "would be made"
        line = f"{_count(made, 'change')} in {_count(files, 'file')} {did}"
    else:
        line = "Nothing was changed" if changes.written else "Nothing would change"
    return (
        f"{line}; {_count(len(changes.left), 'finding')} left as found."
        if changes.left
        else (f"{line}.")
    )


def by_file(changes: ChangeList) -> list[tuple[str, int, int]]:
    """Return how many changes each file has, and how many findings are left in it."""
    made = Counter(entry.path for entry in changes.changed)
    left = Counter(one.path for one in changes.left)
    return [(path, made[path], left[path]) for path in sorted({*made, *left})]


def where(entry: Entry | Left) -> str:
    """Return the line of an entry in words, with its cell in a notebook."""
    line = f"ine {entry.line}"
    return f"L{line}" if entry.cell is None else f"Cell {entry.cell}, l{line}"


def at_error(error: ErrorRecord) -> str:
    """Return the place of an error as it stands behind its path."""
    if error.line is None:
        return ""
    return f":{error.line}" if error.cell is None else f":cell {error.cell}:{error.line}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
