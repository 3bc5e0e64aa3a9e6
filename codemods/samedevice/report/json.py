"""Findings as JSON. The classes here are its schema, which changes only with `version`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

from ..finding import UNDECIDED, Finding, Span
from ..reading.source import Source, SourceError
from .edits import Edits
from .place import cell_of

VERSION: Final = 1


@dataclass(frozen=True)
class Place:
    """A range of code: lines and columns count from 1, ends are exclusive.

    In a notebook, lines count in the cell of the number `cell`; elsewhere that is null.
    """

    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class OriginRecord(Place):
    """A place that explains a finding."""

    message: str


@dataclass(frozen=True)
class EditRecord(Place):
    """Put `text` in the place of a range; a file that is not there yet is made of it."""

    text: str


@dataclass(frozen=True)
class FixRecord:
    """Whether the fix of a finding is safe, and why not; and the edits that make it alone.

    `missing` are the places that keep a conversion from being complete which the fix is a part of.
    Together, the fixes of several findings need fewer edits: imports and the device that they
    name are added once.
    """

    safe: bool
    reason: str
    edits: tuple[EditRecord, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class FindingRecord(Place):
    """A finding; `unfixed` says why there is no fix."""

    rule: str
    level: Literal["error", "warning", "note"]
    message: str
    origins: tuple[OriginRecord, ...]
    fix: FixRecord | None
    unfixed: str


@dataclass(frozen=True)
class ErrorRecord:
    """A file that could not be used; in a notebook, `line` counts in its `cell`."""

    path: str
    cell: int | None
    line: int | None
    column: int | None
    message: str


@dataclass(frozen=True)
class Report:
    """What one run found.

    `placed` is the number of values whose place is known, `undecided` that of the findings about
    one whose place is not.
    """

    version: Literal[1]
    findings: tuple[FindingRecord, ...]
    errors: tuple[ErrorRecord, ...]
    placed: int
    undecided: int


def dump(
    findings: Sequence[Finding],
    errors: Sequence[SourceError],
    sources: Mapping[str, Source],
    edits: Edits,
    placed: int,
) -> str:
    """Return one JSON document, a `Report` on so many values with a known place."""
    report = Report(
        VERSION,
        tuple(finding_record(finding, sources, edits) for finding in findings),
        tuple(error_record(error) for error in errors),
        placed,
        sum(finding.rule == UNDECIDED for finding in findings),
    )
    return json.dumps(asdict(report), indent=2)


def finding_record(finding: Finding, sources: Mapping[str, Source], edits: Edits) -> FindingRecord:
    """Return a finding as it is written."""
    fix = finding.fix
    return FindingRecord(
        *_place(finding.path, finding.span, sources),
        finding.rule,
        finding.level,
        finding.message,
        tuple(
            OriginRecord(*_place(origin.path, origin.span, sources), origin.text)
            for origin in finding.origins
        ),
        None
        if fix is None
        else FixRecord(fix.safe, fix.reason, _edits(finding, sources, edits), fix.missing),
        finding.unfixed,
    )


def error_record(error: SourceError) -> ErrorRecord:
    """Return an error as it is written."""
    column = None if error.column is None else error.column + 1
    cell, line = (None, error.line) if error.cell is None else error.cell
    return ErrorRecord(error.path, cell, line, column, error.message)


def _edits(finding: Finding, sources: Mapping[str, Source], edits: Edits) -> tuple[EditRecord, ...]:
    return tuple(
        EditRecord(*_place(edit.path, edit.span, sources, of_cell=True), edit.text)
        for edit in edits.of(finding)
    )


def _place(
    path: str, span: Span, sources: Mapping[str, Source], *, of_cell: bool = False
) -> tuple[str, int | None, int, int, int, int]:
    """Return a range as it is written; `of_cell`: its columns are those of a cell already."""
    cell = cell_of(path, span, sources)
    first = span.line if cell is None else cell[1]
    last = first + span.end_line - span.line
    number = None if cell is None else cell[0]
    column, end_column = span.column + 1, span.end_column + 1
    if cell is not None and not of_cell:
        column += sources[path].in_front(span.line)
        end_column += sources[path].in_front(span.end_line)
    return path, number, first, column, last, end_column
