"""An Outcome -> the change list of `--report`: every change with its reason, and what was left."""

from __future__ import annotations

import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from ..finding import Edit, Finding, Span
from ..migration.check import is_wrong
from ..migration.migrate import Change, Outcome, key
from ..reading.config import ConfigError
from . import html, markdown
from .diff import Opcode, opcodes, text_lines
from .json import VERSION, ErrorRecord, error_record
from .place import cell_of, short_place
from .text import fix_note


@dataclass(frozen=True)
class Entry:
    """One change: the lines before and after, and why.

    `rule` is "" for lines that other changes need: the resolver, an import. In a notebook, `line`
    counts in the cell of the number `cell`.
    """

    path: str
    cell: int | None
    line: int
    rule: str
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Left:
    """One finding that was seen and not changed, with the reason."""

    path: str
    cell: int | None
    line: int
    rule: str
    code: str
    why: str
    reason: str


@dataclass(frozen=True)
class ChangeList:
    """The change list of one run; lines are those of the files before it.

    `written` is false where the changes were only shown. `incomplete` are those that are never
    written without `--unsafe`, since a program for the CPU would move to the device in part.
    """

    written: bool
    changed: tuple[Entry, ...]
    left: tuple[Left, ...]
    errors: tuple[ErrorRecord, ...]
    incomplete: tuple[Entry, ...] = ()


def change_list(outcome: Outcome, *, written: bool = True) -> ChangeList:
    """Return what was changed, or would be, and what was not, in reading order."""
    return ChangeList(
        written,
        tuple(entry for change in outcome.changes for entry in _entries(change, outcome)),
        tuple(_left(outcome)),
        tuple(error_record(error) for error in outcome.errors),
        tuple(entry for change in outcome.incomplete for entry in _entries(change, outcome)),
    )


_FORMS: dict[str, Callable[[ChangeList], str]] = {
    ".json": lambda changes: json.dumps({"version": VERSION, **asdict(changes)}, indent=2) + "\n",
    ".md": markdown.dump,
    ".html": html.dump,
}


def dump(changes: ChangeList, path: str) -> str:
    """Return the list in the form that the suffix of `path` names; see `check_name`."""
    return _FORMS[_suffix(path)](changes)


def check_name(path: str) -> None:
    """Raise `ConfigError` when the suffix of `path` names no form, or its folder is not there."""
    if _suffix(path) not in _FORMS:
        raise ConfigError(f"--report {path}: the name must end in {', '.join(_FORMS)}")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise ConfigError(f"--report {path}: there is no folder {folder}")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def by_hunk(change: Change) -> Iterator[tuple[Opcode, list[tuple[Finding, Edit]]]]:
    """Yield each changed range of lines with the findings whose edits are in it."""
    codes = [
        code
        for code in opcodes(
            text_lines(change.before, change.path), text_lines(change.after, change.path)
        )
        if code[0] != "equal"
    ]
    starts, stops = [code[1] for code in codes], [code[2] for code in codes]
    pairs: list[list[tuple[Finding, Edit]]] = [[] for _ in codes]
    for finding in change.findings:
        for edit in finding.fix.edits if finding.fix else ():
            if edit.path == change.path:
                near = range(
                    bisect_left(stops, edit.span.line - 1),
                    bisect_right(starts, edit.span.end_line),
                )
                for index in _touched(edit, codes, near):
                    pairs[index].append((finding, edit))
    yield from zip(codes, pairs, strict=True)


def _touched(edit: Edit, codes: Sequence[Opcode], near: range) -> list[int]:
    """Return which of the ranges near `edit` it made: those at the lines that its verb changes."""
    first, last = edit.span.line, edit.span.end_line
    if edit.verb == "before":
        last = first
    elif edit.verb == "after":
        first = last
    changed = [index for index in near if codes[index][1] < last and first <= codes[index][2]]
    beside = [
        index
        for index in near
        if codes[index][1] == codes[index][2] and first - 1 <= codes[index][1] <= last
    ]
    if edit.verb in ("before", "after", "head"):
        touched = beside or changed
    else:
        touched = [index for index in changed if index not in beside] or beside
    # A body's head and a list of parameters are somewhere in a range of many other lines.
    return touched[:1] if edit.verb in ("head", "parameter") else touched


def _entries(change: Change, outcome: Outcome) -> Iterator[Entry]:
    before, after = text_lines(change.before, change.path), text_lines(change.after, change.path)
    for (_, i1, i2, j1, j2), pairs in by_hunk(change):
        if not pairs:
            yield Entry(
                change.path,
                *line_of(change.path, i1 + 1, outcome),
                "",
                "\n".join(before[i1:i2]),
                "\n".join(after[j1:j2]),
                "the other changes need it",
            )
        seen = set()
        for finding, edit in pairs:
            a1, a2, b1, b2 = i1, i2, j1, j2
            if i2 - i1 == j2 - j1:  # line by line: only the edit's own lines
                a1, a2 = max(i1, edit.span.line - 1), min(i2, edit.span.end_line)
                b1, b2 = j1 + a1 - i1, j1 + a2 - i1
            if (key(finding), a1, a2) in seen:
                continue
            seen.add((key(finding), a1, a2))
            yield Entry(
                change.path,
                *line_of(change.path, a1 + 1, outcome),
                finding.rule,
                "\n".join(before[a1:a2]),
                "\n".join(after[b1:b2]),
                _why(finding, outcome),
            )


def _left(outcome: Outcome) -> Iterator[Left]:
    for finding in outcome.remaining:
        at = outcome.before(finding)
        source = outcome.sources.get(finding.path)
        code = source.line(finding.span.line).strip() if source else ""
        yield Left(
            at.path, *line_of(at.path, at.span.line, outcome), at.rule, code, _why(at, outcome),
            why_left(finding, outcome),
        )  # fmt: skip


def line_of(path: str, line: int, outcome: Outcome) -> tuple[int | None, int]:
    """Return a line of the files before as people count it: with its cell in a notebook."""
    span = Span(line, 0, line, 0)
    return cell_of(path, span, outcome.originals) or (None, line)


def why_left(finding: Finding, outcome: Outcome) -> str:
    """Return why one of the remaining findings was not fixed."""
    if key(finding) in outcome.refused:
        return outcome.refused[key(finding)]
    if finding.fix is not None and finding.fix.safe:
        return "declined"
    if not is_wrong(finding):
        return finding.unfixed or "nothing to do"
    return fix_note(finding) or "it has no fix"


def _why(finding: Finding, outcome: Outcome) -> str:
    origins = "".join(
        f"; {short_place(origin.path, origin.span, outcome.originals)}: {origin.text}"
        for origin in finding.origins
    )
    return finding.message + origins
