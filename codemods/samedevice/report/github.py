"""Findings as workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..finding import Finding
from ..reading.source import Source, SourceError
from .place import in_cell, in_file, printable, short_place
from .text import fix_note

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def dump(
    findings: Sequence[Finding], errors: Sequence[SourceError], sources: Mapping[str, Source]
) -> str:
    """Return one command a line."""
    lines = [_finding(finding, sources) for finding in findings]
    return "\n".join([*lines, *map(_error, errors)])


def _finding(finding: Finding, sources: Mapping[str, Source]) -> str:
    span = in_file(finding.path, finding.span, sources)
    properties: dict[str, object] = {"file": finding.path}
    if span is not None:
        properties.update(line=span.line, endLine=span.end_line)
        if span.line == span.end_line:  # columns are shown for one line only
            properties.update(col=span.column + 1, endColumn=span.end_column + 1)
    properties["title"] = f"samedevice: {finding.rule}"
    return _command(_COMMANDS[finding.level], properties, "\n".join(_sentences(finding, sources)))


def _sentences(finding: Finding, sources: Mapping[str, Source]) -> Iterator[str]:
    yield in_cell(finding.path, finding.span, sources) + finding.message
    for origin in finding.origins:
        yield f"{short_place(origin.path, origin.span, sources)}: {origin.text}"
    if fix_note(finding):
        yield fix_note(finding)


def _error(error: SourceError) -> str:
    properties: dict[str, object] = {"file": error.path}
    if error.line is not None and not error.path.endswith(".ipynb"):
        properties["line"] = error.line
    where = "" if error.cell is None else f"cell {error.cell[0]}:{error.cell[1]}: "
    return _command("error", {**properties, "title": "samedevice"}, where + error.message)


def _command(name: str, properties: dict[str, object], message: str) -> str:
    pairs = ",".join(
        f"{key}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    )
    return f"::{name} {pairs}::{_data(message)}"


def _data(text: str) -> str:
    lines = "\n".join(map(printable, text.split("\n")))
    return lines.replace("%", "%25").replace("\n", "%0A")
