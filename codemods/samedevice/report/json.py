"""Findings as JSON; the schema is in docs/cli.md and changes only with `version`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..finding import Finding, Span
from ..source import Source, SourceError
from .place import cell_of

VERSION = 1


def dump(
    findings: Sequence[Finding], errors: Sequence[SourceError], sources: Mapping[str, Source]
) -> str:
    """Return one JSON document; lines and columns count from 1, ends are exclusive."""
    document = {
        "version": VERSION,
        "findings": [finding_record(finding, sources) for finding in findings],
        "errors": [error_record(error) for error in errors],
    }
    return json.dumps(document, indent=2)


def finding_record(finding: Finding, sources: Mapping[str, Source]) -> dict[str, Any]:
    """Return a finding as JSON's own types."""
    fix = finding.fix
    return {
        **_place(finding.path, finding.span, sources),
        "rule": finding.rule,
        "level": finding.level,
        "message": finding.message,
        "origins": [
            {**_place(origin.path, origin.span, sources), "message": origin.text}
            for origin in finding.origins
        ],
        "fix": None if fix is None else {"safe": fix.safe, "reason": fix.reason},
        "unfixed": finding.unfixed,
    }


def error_record(error: SourceError) -> dict[str, Any]:
    """Return an error as JSON's own types."""
    return {
        "path": error.path,
        "line": error.line,
        "column": None if error.column is None else error.column + 1,
        "message": error.message,
    }


def _place(path: str, span: Span, sources: Mapping[str, Source]) -> dict[str, Any]:
    cell = cell_of(path, span, sources)
    first = span.line if cell is None else cell[1]
    return {
        "path": path,
        "cell": None if cell is None else cell[0],
        "line": first,
        "column": span.column + 1,
        "end_line": first + span.end_line - span.line,
        "end_column": span.end_column + 1,
    }
