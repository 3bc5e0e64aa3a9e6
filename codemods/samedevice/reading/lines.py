"""Where the lines of a text are in a later one, findings there, and the edits between the two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..finding import Edit, Finding, Origin, Span
from .matching import Matcher

#: For each line that is kept the line where it is now, both from 1.
Lines = Mapping[int, int]


def kept(old: str, new: str) -> Lines:
    """Return where the lines of `old` are in `new`."""
    before, after = old.split("\n"), new.split("\n")
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    found = {line: line for line in range(1, head + 1)}
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    for block in Matcher(*middle).get_matching_blocks():
        for offset in range(1, block.size + 1):
            found[head + block.a + offset] = head + block.b + offset
    for offset in range(tail):
        found[len(before) - offset] = len(after) - offset
    return found


def place(path: str, span: Span, tables: Mapping[str, Lines]) -> Span | None:
    """Return a range where it is now; None when one of its lines has changed."""
    if path not in tables:
        return span
    table = tables[path]
    moved = [table.get(line) for line in range(span.line, span.end_line + 1)]
    if None in moved or moved[0] is None or moved[-1] is None:
        return None
    return replace(span, line=moved[0], end_line=moved[-1])


def carried(finding: Finding, tables: Mapping[str, Lines]) -> Finding | None:
    """Return a finding and its fix at their places in the texts of now.

    None where something of it was in lines that have changed.
    """
    fix = finding.fix
    edits = fix.edits if fix is not None else ()
    parts: list[Finding | Origin | Edit] = [finding, *finding.origins, *edits]
    if tables.keys().isdisjoint(part.path for part in parts):
        return finding
    places = [place(part.path, part.span, tables) for part in parts]
    there = [span for span in places if span is not None]
    if len(there) < len(places):
        return None
    rest = iter(there[1:])
    origins = tuple(replace(each, span=next(rest)) for each in finding.origins)
    if fix is not None:
        fix = replace(fix, edits=tuple(replace(each, span=next(rest)) for each in edits))
    return replace(finding, span=there[0], origins=origins, fix=fix)


def moved(
    findings: Iterable[Finding], tables: Mapping[str, Lines], *, fixes: bool = False
) -> Iterator[Finding]:
    """Yield findings at their places in the texts of now; those in changed lines are left out.

    Their fixes are left out, too: the edits are of the texts before. With `fixes` they stay as they
    are, to tell that there are some.
    """
    for finding in findings:
        if finding.path not in tables and not any(one.path in tables for one in finding.origins):
            yield finding
            continue
        span = place(finding.path, finding.span, tables)
        if span is None:
            continue
        origins = []
        for origin in finding.origins:
            there = place(origin.path, origin.span, tables)
            if there is not None:
                origins.append(replace(origin, span=there))
        fix = finding.fix if fixes or finding.path not in tables else None
        yield replace(finding, span=span, origins=tuple(origins), fix=fix)


def edits(old: str, new: str) -> Iterator[tuple[Span, str]]:
    """Yield the smallest edits, line by line, that turn `old` into `new`: each range and its text.

    Both have `\\n` as their only newline. No two ranges overlap.
    """
    before, after = old.split("\n"), new.split("\n")
    # With its newline a line differs from an equal one at the end of the text.
    a = [line + "\n" for line in before[:-1]] + before[-1:]
    b = [line + "\n" for line in after[:-1]] + after[-1:]
    for tag, i1, i2, j1, j2 in Matcher(a, b).get_opcodes():
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
            span = _range(line, was, start, len(was) - end)
            yield span, becomes[start : len(becomes) - end]


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _range(first: int, text: str, start: int, end: int) -> Span:
    """Return the span of `text[start:end]`, where `text` starts at line `first` (from 0)."""
    return Span(
        first + text.count("\n", 0, start) + 1,
        start - (text.rfind("\n", 0, start) + 1),
        first + text.count("\n", 0, end) + 1,
        end - (text.rfind("\n", 0, end) + 1),
    )
