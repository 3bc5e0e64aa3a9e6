"""Findings for a terminal: both places with their code, why, and what `fix` will do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..finding import Finding, Span
from ..reading.source import Source, SourceError
from ..rules import Rule, page
from .place import place, printable, short_place
from .repair import what_it_does

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show(
    console: Console,
    findings: Iterable[Finding],
    sources: Mapping[str, Source],
    rules: Mapping[str, Rule] | None = None,
    docs_url: str = "",
) -> None:
    """Print every finding with its code; the first of each of `rules` with why it matters.

    `docs_url` is where the site with the rules' pages is; without it a command is named.
    """
    told: set[str] = set()
    for finding in findings:
        rule = None if finding.rule in told else (rules or {}).get(finding.rule)
        told.add(finding.rule)
        # Long lines are the terminal's to wrap: a path that is cut in two cannot be clicked.
        console.print(_Shown(finding, sources, console).text(rule, docs_url), soft_wrap=True)


def concise(
    findings: Iterable[Finding], errors: Iterable[SourceError], sources: Mapping[str, Source]
) -> str:
    """Return a line for each finding and each error."""
    lines = [
        f"{place(finding.path, finding.span, sources)}: {finding.rule} {printable(finding.message)}"
        for finding in findings
    ]
    return "".join(f"{line}\n" for line in [*lines, *(printable(str(one)) for one in errors)])


def show_statistics(
    console: Console, findings: Iterable[Finding], rules: Mapping[str, Rule]
) -> None:
    """Print how often each rule found something, and how much of that has a safe fix."""
    from rich.table import Table

    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    if not by_rule:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("found", "safe fix"):
        table.add_column(name, justify="right")
    table.add_column("rule", no_wrap=True)
    table.add_column("what it finds")
    for rule, found in sorted(by_rule.items(), key=lambda item: (-len(item[1]), item[0])):
        safe = sum(one.fix is not None and one.fix.safe for one in found)
        summary = rules[rule].summary if rule in rules else ""
        table.add_row(f"{len(found):,}", f"{safe:,}", rule, summary)
    if not console.is_terminal:
        console.width = 1000  # one line a rule for grep and the like
    console.print(table)


def show_errors(console: Console, errors: Iterable[SourceError]) -> None:
    """Print what could not be worked on, one line each."""
    for error in errors:
        console.print(Text.assemble(("error: ", "bold red"), printable(str(error))), soft_wrap=True)


class _Shown:
    """One finding as text."""

    def __init__(self, finding: Finding, sources: Mapping[str, Source], console: Console) -> None:
        self._finding, self._sources = finding, sources
        lines = [finding.span.line, *(origin.span.line for origin in finding.origins)]
        self._gutter = max(4, *(len(str(line)) for line in lines))
        self._room = console.width - self._gutter - 4 if console.is_terminal else None
        self._colour = _COLOURS[finding.level]
        self._text = Text()

    def text(self, rule: Rule | None, docs_url: str) -> Text:
        """Return the text; with a rule, why its findings matter."""
        finding = self._finding
        self._text.append(place(finding.path, finding.span, self._sources), "bold")
        self._text.append(f" {finding.level}", f"bold {self._colour}")
        self._text.append(f" [{finding.rule}]", self._colour)
        self._text.append(f" {printable(finding.message)}\n")
        self._code(finding.path, finding.span, "^", f"bold {self._colour}")
        for origin in finding.origins:
            there = short_place(origin.path, origin.span, self._sources)
            self._remark(f"{there}: {printable(origin.text)}", whole=True)
            if (origin.path, origin.span) != (finding.path, finding.span):
                self._code(origin.path, origin.span, "-", "cyan")
        if rule is not None and rule.why:
            self._remark(f"why: {printable(rule.why)}")
        if finding.fix is not None:
            will = f"fix: {what_it_does(finding.fix, self._sources)}"
            self._remark(will)
        if fix_note(finding):
            self._remark(fix_note(finding))
        if rule is not None and rule.doc:
            self._remark(f"more: {page(rule.name, docs_url)}", whole=bool(docs_url))
        return self._text

    def _remark(self, line: str, *, whole: bool = False) -> None:
        """Add a line, in several on a narrow terminal: but a place stays `whole`."""
        lines = [line]
        if self._room is not None and not whole:
            lines = textwrap.wrap(line, max(self._room, 10), break_on_hyphens=False)
        for number, part in enumerate(lines):
            self._text.append(f"{'':>{self._gutter}} {' ' if number else '='} ", "dim")
            self._text.append(f"{part}\n")

    def _code(self, path: str, span: Span, mark: str, style: str) -> None:
        source = self._sources.get(path)
        if source is None or span.line > len(source.starts):
            return
        code, marks = excerpt(source, span, self._room, mark)
        cell = source.cell_of(span.line)
        number = span.line if cell is None else cell[1]
        self._text.append(f"{number:>{self._gutter}} | ", "dim")
        self._text.append(f"{code}\n")
        self._text.append(f"{'':>{self._gutter}} | ", "dim")
        self._text.append(f"{marks}\n", style)


def fix_note(finding: Finding) -> str:
    """Return what there is to know about the fix of `finding`; "" for one that is plainly safe."""
    if finding.fix is None:
        return f"not fixed: {printable(finding.unfixed)}" if finding.unfixed else ""
    if not finding.fix.safe:
        return f"fixed with --unsafe only: {printable(finding.fix.reason)}"
    return ""


def excerpt(source: Source, span: Span, room: int | None, mark: str = "^") -> tuple[str, str]:
    """Return the first line of a range and the marks under it, within `room` columns."""
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
    return code, " " * start + mark * width
