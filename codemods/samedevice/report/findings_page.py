"""Findings as one HTML page that needs nothing else: an index, each with its code, the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby

from ..finding import UNDECIDED, Finding, Span
from ..migration.check import is_wrong
from ..reading.source import Source, SourceError
from ..rules import Rule
from .html import prose
from .place import cell_of, short_place
from .repair import what_it_does
from .shell import document, text
from .text import fix_note

_CONTEXT = 2  # lines of code around a range


def dump(
    findings: Sequence[Finding],
    errors: Sequence[SourceError],
    sources: Mapping[str, Source],
    rules: Mapping[str, Rule],
    judged: int,
    placed: int,
) -> str:
    """Return the page about so many files, whose origins may be in others of `sources`.

    `placed` is how many values in them have a known place.
    """
    style = (files(__package__) / "findings_page.css").read_text("utf-8")
    body = "\n".join(_body(findings, errors, sources, rules, judged, placed))
    return document("samedevice: what is on the wrong device", body, style, "")


def _body(
    findings: Sequence[Finding],
    errors: Sequence[SourceError],
    sources: Mapping[str, Source],
    rules: Mapping[str, Rule],
    judged: int,
    placed: int,
) -> Iterator[str]:
    unknown = sum(finding.rule == UNDECIDED for finding in findings)
    wrong = sum(map(is_wrong, findings))
    safe = sum(is_wrong(one) and one.fix is not None and one.fix.safe for one in findings)
    paths = sorted({finding.path for finding in findings})
    yield "<main><h1>What is on the wrong device</h1>"
    if wrong:
        yield (
            f"<p class=sum><b>{wrong:,}</b> {'finding' if wrong == 1 else 'findings'} in "
            f"{len(paths):,} of {judged:,} files. "
            f"<code>samedevice fix</code> has a repair for {safe:,}.</p>"
        )
    else:
        found = "No findings" if unknown else "Nothing is wrong"
        yield f"<p class=sum>{found} in {judged:,} files.</p>"
    if placed or unknown:
        yield f"<p>{placed:,} values placed, {unknown:,} undecided.</p>"
    yield from _errors(errors)
    yield from _index(findings, rules)
    for number, (path, group) in enumerate(groupby(findings, lambda one: one.path)):
        yield f'<section><h2 id="f{number}">{text(path)}</h2>'
        for finding in group:
            yield from _finding(finding, sources)
        yield "</section>"
    yield from _rules(sorted({finding.rule for finding in findings}), rules)
    yield "</main>"


def _errors(errors: Sequence[SourceError]) -> Iterator[str]:
    if errors:
        yield "<h2>Files that could not be read</h2><ul class=errors>"
        yield from (f"<li>{text(str(error))}</li>" for error in errors)
        yield "</ul>"


def _index(findings: Sequence[Finding], rules: Mapping[str, Rule]) -> Iterator[str]:
    """Yield two tables: how often each rule found something, and how much is in each file."""
    if not findings:
        return
    yield "<nav><table><caption>By rule</caption>"
    for rule, count in Counter(finding.rule for finding in findings).most_common():
        summary = rules[rule].summary if rule in rules else ""
        yield f'<tr><td>{count:,}<td><a href="#{text(rule)}">{text(rule)}</a><td>{prose(summary)}'
    yield "</table><table><caption>By file</caption>"
    for number, (path, group) in enumerate(groupby(findings, lambda one: one.path)):
        yield f'<tr><td>{len(list(group)):,}<td colspan=2><a href="#f{number}">{text(path)}</a>'
    yield "</table></nav>"


def _finding(finding: Finding, sources: Mapping[str, Source]) -> Iterator[str]:
    where = short_place(finding.path, finding.span, sources)
    yield f'<article class="{finding.level}"><p><b>{text(where)}</b> '
    yield f'<a class=rule href="#{text(finding.rule)}">{text(finding.rule)}</a><br>'
    yield f"{prose(finding.message)}</p>"
    yield from _code(finding.path, finding.span, sources)
    for origin in finding.origins:
        there = short_place(origin.path, origin.span, sources)
        yield f"<p class=origin>{text(there)}: {prose(origin.text)}</p>"
        if (origin.path, origin.span) != (finding.path, finding.span):
            yield from _code(origin.path, origin.span, sources)
    if finding.fix is not None:
        yield f"<p class=fix>Fix: {prose(what_it_does(finding.fix, sources))}</p>"
    if fix_note(finding):
        yield f"<p class=fix>{prose(fix_note(finding).capitalize())}</p>"
    yield "</article>"


def _code(path: str, span: Span, sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield the lines around a range, in which its own part is marked."""
    source = sources.get(path)
    if source is None or span.line > len(source.starts):
        return
    cell = cell_of(path, span, sources)
    shift = 0 if cell is None else span.line - cell[1]  # a notebook counts lines in the cell
    first = max(1 + shift, span.line - _CONTEXT)
    end = len(source.starts) - (not source.line(len(source.starts)))  # the text ends with a newline
    last = min(max(end, span.end_line), span.end_line + _CONTEXT)
    rows = []
    for number in range(first, last + 1):
        line = source.line(number)
        if cell is not None and cell_of(path, Span(number, 0, number, 0), sources) is None:
            continue
        start = span.column if number == span.line else 0
        end = span.end_column if number == span.end_line else len(line)
        if span.line <= number <= span.end_line:
            start = max(start, len(line) - len(line.lstrip()))
            marked = f"<mark>{text(line[start:end])}</mark>"
            code = text(line[:start]) + marked + text(line[end:])
        else:
            code = text(line)
        rows.append(f"<i>{number - shift}</i>{code}\n")
    yield f"<pre>{''.join(rows).rstrip()}</pre>"


def _rules(names: Sequence[str], rules: Mapping[str, Rule]) -> Iterator[str]:
    known = [rules[name] for name in names if name in rules]
    if known:
        yield "<h2>The rules</h2>"
    for rule in known:
        _, _, rest = rule.doc.partition("\n")
        yield f'<details id="{text(rule.name)}"><summary><b>{text(rule.name)}</b> '
        yield f"{prose(rule.summary)}</summary>"
        yield f"<pre class=doc>{text(rest.strip())}</pre></details>"
