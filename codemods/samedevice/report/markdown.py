"""The change list as Markdown, for a pull request or a review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

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
        yield f"\n## {_text(path)}"
        for entry in entries:
            rule = f" ({entry.rule})" if entry.rule else ""
            yield f"\n**Line {entry.line}**{rule}: {_text(entry.why)}\n"
            removed = [f"-{line}" for line in entry.before.split("\n") if entry.before]
            added = [f"+{line}" for line in entry.after.split("\n") if entry.after]
            yield from _fenced("diff", "\n".join([*removed, *added]))
    if changes.left:
        yield "\n# Seen and not changed\n"
        for left in changes.left:
            code = f" {_code(left.code)}" if left.code else ""
            yield (
                f"- {_text(left.path)}:{left.line} ({left.rule}){code}: "
                f"{_text(left.why)} *{_text(left.reason)}*"
            )
    if changes.errors:
        yield "\n# Files that could not be worked on\n"
        for error in changes.errors:
            line = "" if error["line"] is None else f":{error['line']}"
            yield f"- {_text(str(error['path']))}{line}: {_text(str(error['message']))}"


def _fenced(language: str, text: str) -> Iterator[str]:
    fence = "`" * (max([2, *map(len, re.findall("`+", text))]) + 1)
    yield from (fence + language, text, fence)


def _code(text: str) -> str:
    fence = "`" * (max([0, *map(len, re.findall("`+", text))]) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _text(text: str) -> str:
    """Escape what Markdown would take for markup, except code between backticks."""
    parts = re.split(r"(`[^`\n]*`)", text)
    parts[::2] = [re.sub(r"([\\*_<>\[\]#|])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
