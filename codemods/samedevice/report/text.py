"""Findings for a terminal: the place, the code with carets, why, where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..finding import Finding
from ..source import Source, SourceError
from .place import place, printable, short_place

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(console: Console, findings: Iterable[Finding], sources: Mapping[str, Source]) -> None:
    """Print every finding with its code."""
    for finding in findings:
        # Long lines are the terminal's to wrap: a path that is cut in two cannot be clicked.
        console.print(_text(finding, sources, console), soft_wrap=True)


def show_errors(console: Console, errors: Iterable[SourceError]) -> None:
    """Print what could not be worked on, one line each."""
    for error in errors:
        console.print(Text.assemble(("error: ", "bold red"), printable(str(error))), soft_wrap=True)


def _text(finding: Finding, sources: Mapping[str, Source], console: Console) -> Text:
    colour = _COLOURS[finding.level]
    where = place(finding.path, finding.span, sources)
    gutter = " " * max(len(str(finding.span.line)), 4)
    text = Text.assemble(
        (where, "bold"),
        " ",
        (finding.level, f"bold {colour}"),
        " ",
        (f"[{finding.rule}]", colour),
        " ",
        printable(finding.message),
        "\n",
    )
    source = sources.get(finding.path)
    if source is not None and finding.span.line <= len(source.starts):
        room = console.width - len(gutter) - 4 if console.is_terminal else None
        code, carets = _excerpt(source, finding, room)
        text.append(f"{finding.span.line:>{len(gutter)}} | ", "dim")
        text.append(f"{code}\n")
        text.append(f"{gutter} | ", "dim")
        text.append(f"{carets}\n", f"bold {colour}")
    for origin in finding.origins:
        there = short_place(origin.path, origin.span, sources)
        text.append(f"{gutter} = ", "dim")
        text.append(f"{there}: {printable(origin.text)}\n")
    note = fix_note(finding)
    if note:
        text.append(f"{gutter} = ", "dim")
        text.append(f"{note}\n")
    return text


def fix_note(finding: Finding) -> str:
    """Return what there is to know about the fix of `finding`; "" for one that is plainly safe."""
    if finding.fix is None:
        return f"not fixed: {printable(finding.unfixed)}" if finding.unfixed else ""
    if not finding.fix.safe:
        return f"fixed with --unsafe only: {printable(finding.fix.reason)}"
    return ""


def _excerpt(source: Source, finding: Finding, room: int | None) -> tuple[str, str]:
    """Return the first line of the finding and the carets under it, within `room` columns."""
    span = finding.span
    line = source.line(span.line)
    end = span.end_column if span.end_line == span.line else len(line)
    before, marked, after = (
        printable(part.expandtabs(4))
        for part in (line[: span.column], line[span.column : end], line[end:])
    )
    before_width, width = cell_len(before), max(cell_len(marked), 1)
    code, start = before + marked + after, before_width
    if room is not None and cell_len(code) > room:
        indent = len(before) - len(before.lstrip())
        code, start = code[indent:], start - cell_len(before[:indent])
        if start + width > room - 3 and start > room // 3:  # the carets matter more than the head
            cut = len(before) - indent - max(room // 3 - 3, 0)
            code, start = "..." + code[cut:], 3 + start - cell_len(before[indent : indent + cut])
        if cell_len(code) > room:
            while code and cell_len(code) > room - 3:
                code = code[:-1]
            code += "..."
        width = max(min(width, room - start), 1)
    return code, " " * start + "^" * width
