"""Findings as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..finding import RENAMED, UNDECIDED, Finding, Span
from ..reading.source import SourceError
from ..rules import Rule, page
from .edits import Edits, TextEdit
from .place import in_cell, in_file

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def dump(
    findings: Sequence[Finding],
    errors: Sequence[SourceError],
    rules: Mapping[str, Rule],
    edits: Edits,
    placed: int,
    docs_url: str = "",
) -> str:
    """Return one SARIF log with one run; only the rules that found something are described.

    `placed` is how many values have a known place, `docs_url` where the site with the rules' pages
    is.
    """
    names = sorted({finding.rule for finding in findings})
    run = {
        "tool": {
            "driver": {
                "name": "samedevice",
                "version": __version__,
                "rules": [_rule(name, rules[name], docs_url) for name in names],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, names.index(finding.rule), edits) for finding in findings],
        "invocations": [
            {
                "executionSuccessful": not errors,
                "toolExecutionNotifications": [_notification(error) for error in errors],
            }
        ],
        "properties": {
            "placed": placed,
            "undecided": sum(finding.rule == UNDECIDED for finding in findings),
        },
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(name: str, rule: Rule, docs_url: str) -> dict[str, Any]:
    old = [before for before, now in RENAMED.items() if now == name]
    return {
        "id": name,
        **({"deprecatedIds": old} if old else {}),
        **({"helpUri": page(name, docs_url)} if docs_url else {}),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.doc},
        "help": {"text": rule.doc},
    }


def _result(finding: Finding, rule_index: int, edits: Edits) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.level,
        "message": {"text": in_cell(finding.path, finding.span, edits.sources) + finding.message},
        "locations": [_location(finding.path, finding.span, edits)],
        "relatedLocations": [
            {**_location(origin.path, origin.span, edits), "message": {"text": origin.text}}
            for origin in finding.origins
        ],
    }
    made = edits.in_files(finding)
    if finding.fix is not None and made:
        reason = f" (unsafe: {finding.fix.reason})" if not finding.fix.safe else ""
        result["fixes"] = [
            {
                "description": {"text": f"samedevice fix{reason}"},
                "artifactChanges": [
                    {
                        "artifactLocation": _artifact(path),
                        "replacements": [_replacement(edit) for edit in group],
                    }
                    for path, group in groupby(made, lambda edit: edit.path)
                ],
            }
        ]
    return result


def _replacement(edit: TextEdit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}


def _location(path: str, span: Span, edits: Edits) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(path)}
    region = in_file(path, span, edits.sources)
    if region is not None:
        location["region"] = _region(region)
    return {"physicalLocation": location}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _artifact(path: str) -> dict[str, str]:
    uri = quote(path.replace(os.sep, "/"), errors="surrogateescape")
    if os.path.isabs(path):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _notification(error: SourceError) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(error.path)}
    if error.line is not None and not error.path.endswith(".ipynb"):
        location["region"] = {"startLine": error.line, "startColumn": (error.column or 0) + 1}
    return {
        "level": "error",
        "message": {"text": error.message},
        "locations": [{"physicalLocation": location}],
    }
