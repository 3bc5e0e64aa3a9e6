"""Places in changed files -> places in the original ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..finding import Finding, Span
from ..reading.matching import Matcher, in_step
from ..reading.source import Source


class Originals:
    """The original files behind changed ones, line by line.

    A line that is new is taken for the original line that stands where it was put.
    """

    def __init__(self, originals: Mapping[str, Source], sources: Mapping[str, Source]) -> None:
        self._originals = originals
        self._sources = sources
        self._lines: dict[str, list[int] | None] = {}

    def finding(self, finding: Finding) -> Finding:
        """Return `finding` with all of its places in the original files."""
        fix = finding.fix
        if fix is not None:
            edits = tuple(
                replace(edit, span=self._span(edit.path, edit.span)) for edit in fix.edits
            )
            fix = replace(fix, edits=edits)
        origins = tuple(
            replace(origin, span=self._span(origin.path, origin.span)) for origin in finding.origins
        )
        span = self._span(finding.path, finding.span)
        return replace(finding, span=span, fix=fix, origins=origins)

    def line(self, path: str, line: int) -> int:
        """Return the original line of a line."""
        if path not in self._lines:
            self._lines[path] = self._table(path)
        table = self._lines[path]
        return line if table is None else table[line - 1]

    def _span(self, path: str, span: Span) -> Span:
        line, end_line = self.line(path, span.line), self.line(path, span.end_line)
        return replace(span, line=line, end_line=max(line, end_line))

    def _table(self, path: str) -> list[int] | None:
        """Return the original line of each line; None where nothing has moved."""
        old, new = self._originals.get(path), self._sources.get(path)
        if old is None or new is None or old.text == new.text:
            return None
        before, after = old.text.split("\n"), new.text.split("\n")
        table = [0] * len(after)
        for _, i1, i2, j1, j2 in Matcher(before, after).get_opcodes():
            at = max(i1, i2 - 1)  # for what comes after the last of them
            known = {j1 + new: i1 + old for old, new in in_step(before[i1:i2], after[j1:j2])}
            for line in reversed(range(j1, j2)):
                at = known.get(line, at)
                table[line] = at + 1
        return table
