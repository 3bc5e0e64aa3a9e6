"""Findings as GitLab's Code Quality report, which it shows beside the lines of a merge request."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..finding import Finding
from ..migration.baseline import Baseline
from ..reading.source import Source, SourceError
from .place import in_cell, in_file
from .text import fix_note

_SEVERITY = {"error": "major", "warning": "minor", "note": "info"}


def dump(
    findings: Sequence[Finding], errors: Sequence[SourceError], sources: Mapping[str, Source]
) -> str:
    """Return one JSON document.

    The fingerprints, by which GitLab tells new issues from old ones, are those of a baseline:
    moved lines keep them.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    issues = []
    for finding, entry in Baseline("").named(findings, sources):
        note = fix_note(finding)
        there = in_file(finding.path, finding.span, sources)
        issues.append(
            _issue(
                finding.path,
                1 if there is None else there.line,
                finding.rule,
                in_cell(finding.path, finding.span, sources)
                + finding.message
                + (f" ({note})" if note else ""),
                _SEVERITY[finding.level],
                _fingerprint(seen, entry),
            )
        )
    for error in errors:
        key = (error.path, "error", error.message)
        issues.append(
            _issue(
                error.path, 1 if error.cell else error.line or 1, "error", _message(error),
                "critical", _fingerprint(seen, key),
            )
        )  # fmt: skip
    return json.dumps(issues, indent=2)


def _message(error: SourceError) -> str:
    return f"cell {error.cell[0]}:{error.cell[1]}: {error.message}" if error.cell else error.message


def _issue(
    path: str, line: int, rule: str, description: str, severity: str, fingerprint: str
) -> dict[str, Any]:
    return {
        "description": description,
        "check_name": rule,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }


def _fingerprint(seen: Counter[tuple[str, ...]], key: tuple[str, ...]) -> str:
    """Return a hash of `key` and of how many equal ones came before it."""
    number = seen[key]
    seen[key] += 1
    text = "\0".join([*key, str(number)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
