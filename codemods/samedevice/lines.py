"""Where the lines of a text are in a later one, and findings at their places there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from .finding import Finding, Span

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
    for block in difflib.SequenceMatcher(None, *middle).get_matching_blocks():
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


def moved(findings: Iterable[Finding], tables: Mapping[str, Lines]) -> Iterator[Finding]:
    """Yield findings, without fixes, at their places in the texts of now.

    Those in changed lines are left out.
    """
    for finding in findings:
        span = place(finding.path, finding.span, tables)
        if span is None:
            continue
        origins = []
        for origin in finding.origins:
            there = place(origin.path, origin.span, tables)
            if there is not None:
                origins.append(replace(origin, span=there))
        fix = None if finding.path in tables else finding.fix
        yield replace(finding, span=span, origins=tuple(origins), fix=fix)
