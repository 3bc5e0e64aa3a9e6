"""The report of a batch as one HTML page, which opens from a disk and asks nothing of a network.

The table is HTML. What belongs to one repository (its diff, reasons, proof) is compressed beside
it and unfolded when it is asked for, so that thousands of repositories make a page that opens.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from .. import __version__
from ..report.shell import document, text
from .record import Outcome, Record
from .report_data import (
    Totals,
    counted,
    has_map,
    patch,
    proof_word,
    reasons,
    requests,
    rules_by_count,
    seconds,
)
from .standing import STANDINGS, standing
from .trend import VERDICTS, Standing, verdict

ROWS = 5_000
"""Repositories in the page; those that come later are in report.csv and report.json."""

_DIFF = 400_000  # characters of one repository's diff
_DIFFS = 48 << 20  # bytes of all details, compressed, after which diffs are left out
_REASONS = 1_000  # changes of one repository with their reasons
_OUTCOMES = {
    Outcome.MIGRATED: "changed and committed",
    Outcome.UNCHANGED: "nothing to change",
    Outcome.HELD: "changed, and held back by the policy",
    Outcome.SKIPPED: "not worked on",
    Outcome.FAILED: "stopped by an error",
    Outcome.ROLLED_BACK: "branch and pull request taken back",
    Outcome.RUNNING: "not finished",
}
_COLUMNS = (
    ("Repository", ""),
    ("Outcome", ""),
    ("Found", "n"),
    ("Fixed", "n"),
    ("Left", "n"),
    ("Files", "n"),
    ("Lines", "n"),
    ("Proof", ""),
    ("Seconds", "n"),
    ("Request", ""),
)
_WIDTH = 1000  # of a chart, in its own units


def page(
    records: Sequence[Record], totals: Totals, folder: Path, runs: Sequence[Standing] = ()
) -> str:
    """Return the page of sorted `records`, whose files are in `folder`."""
    script, style = _asset("report.js"), _asset("report.css")
    return document(
        "samedevice batch", "\n".join(_body(records, totals, folder, runs)), style, script
    )


def _asset(name: str) -> str:
    return (package_files(__package__) / name).read_text("utf-8")


def _body(
    records: Sequence[Record], totals: Totals, folder: Path, runs: Sequence[Standing]
) -> Iterator[str]:
    yield '<a class="skip" href="#repositories">Skip to the repositories</a>'
    yield "<main>"
    yield from _head(totals)
    yield '<div class="charts">'
    yield from _outcome_chart(totals)
    yield from _rule_chart(totals)
    yield "</div>"
    if len(runs) > 1:
        yield from _runs(runs)
    yield from _table(records[:ROWS], totals)
    if len(records) > ROWS:
        yield f'<p class="more">{len(records) - ROWS:,} more are in report.csv and report.json.</p>'
    yield "</main>"
    room = _DIFFS
    for number, record in enumerate(records[:ROWS]):
        data = _packed(_details(record, folder, diff=room > 0))
        room -= len(data)
        yield f'<script type="text/plain" id="d{number}">{data}</script>'


def _head(totals: Totals) -> Iterator[str]:
    yield "<header><h1>samedevice batch</h1>"
    yield f'<p class="when">{text(_when(totals))} · samedevice {text(__version__)}</p></header>'
    fixed, found = totals.fixed.total(), totals.found.total()
    share = f"{fixed / found:.0%} of what was found" if found else "nothing was found"
    proved = ", ".join(f"{totals.verdicts[word]:,} {word}" for word in ("incomplete", "refused"))
    asked = requests(totals) or "none was opened"
    waiting = totals.waits.total()
    if waiting:
        asked += f", {waiting:,} not opened yet"
    tiles = (
        ("Repositories", f"{totals.repositories:,}", f"{counted(totals.lines, 'line')} of Python"),
        ("Findings", f"{found:,}", counted(len(totals.found), "rule")),
        ("Fixed", f"{fixed:,}", share),
        ("Left", f"{totals.left.total():,}", "each with its reason"),
        (
            "Changed",
            counted(totals.changed, "file"),
            f"+{totals.added:,} −{totals.removed:,} lines",
        ),
        ("Proved", f"{totals.verdicts['proved']:,}", proved),
        ("Requests", f"{totals.pull_requests:,}", asked),
        ("Work", _duration(totals.seconds), "of all workers"),
    )
    yield '<dl class="tiles">'
    for name, value, note in tiles:
        yield f"<div><dt>{name}</dt><dd><b>{value}</b><span>{note}</span></dd></div>"
    yield "</dl>"


def _when(totals: Totals) -> str:
    start, end = totals.started[:16].replace("T", " "), totals.ended[:16].replace("T", " ")
    if not start:
        return "not started"
    if end[:10] == start[:10]:
        end = end[11:]
    return f"{start} to {end or 'now'} UTC"


def _duration(spent: float) -> str:
    if spent < 120:
        return f"{spent:.0f} s"
    return f"{spent / 60:.0f} min" if spent < 7200 else f"{spent / 3600:.1f} h"


# charts


def _outcome_chart(totals: Totals) -> Iterator[str]:
    yield '<section aria-labelledby="by-outcome"><h2 id="by-outcome">Outcomes</h2>'
    shown = [one for one in _OUTCOMES if totals.outcomes[one.value]]
    words = ", ".join(f"{totals.outcomes[one.value]:,} {one.value}" for one in shown) or "none"
    yield (
        f'<svg viewBox="0 0 {_WIDTH} 28" preserveAspectRatio="none" role="img" '
        f'aria-label="Repositories by outcome: {words}">'
    )
    at = 0.0
    for one in shown:
        count = totals.outcomes[one.value]
        width = _WIDTH * count / totals.repositories
        yield (
            f'<rect class="{one.value}" x="{at:.2f}" y="0" width="{max(width - 2, 1):.2f}" '
            f'height="28"><title>{count:,} {one.value}</title></rect>'
        )
        at += width
    yield '</svg><ul class="legend" aria-label="Show only these outcomes">'
    for one in shown:
        yield (
            f'<li><button type="button" aria-pressed="false" data-outcome="{one.value}" '
            f'title="{_OUTCOMES[one]}"><i class="{one.value}"></i>'
            f"<b>{totals.outcomes[one.value]:,}</b> {one.value}</button></li>"
        )
    yield "</ul></section>"


def _rule_chart(totals: Totals) -> Iterator[str]:
    yield '<section aria-labelledby="by-rule"><h2 id="by-rule">Findings by rule</h2>'
    rules = rules_by_count(totals)
    if not rules:
        yield '<p class="more">No rule found anything.</p></section>'
        return
    most = max(max(totals.found[rule], totals.fixed[rule]) for rule in rules)
    yield (
        '<p class="key"><i class="migrated"></i>fixed <i class="held"></i>left '
        '<i class="rest"></i>gone with other fixes</p><ul class="rules">'
    )
    for rule in rules:
        found, fixed, left = totals.found[rule], totals.fixed[rule], totals.left[rule]
        name, words = text(rule), f"{found:,} found, {fixed:,} fixed, {left:,} left"
        parts = (("migrated", fixed), ("held", left), ("rest", max(found - fixed - left, 0)))
        bars, at = "", 0.0
        for kind, count in parts:
            width = _WIDTH * count / max(most, fixed + left)
            bars += (
                f'<rect class="{kind}" x="{at:.2f}" y="0" width="{width:.2f}" height="10"/>'
                if count
                else ""
            )
            at += width
        yield (
            f'<li><button type="button" aria-pressed="false" data-rule="{name}">'
            f'<span class="name">{name}</span>'
            f'<svg viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none" role="img" '
            f'aria-label="{words}"><title>{words}</title>{bars}</svg>'
            f'<span class="count"><b>{fixed:,}</b> of {found:,}</span></button></li>'
        )
    yield "</ul></section>"


def _runs(runs: Sequence[Standing]) -> Iterator[str]:
    """Return a table with a row for each run over all repositories, and a bar of its verdicts."""
    yield '<section aria-labelledby="runs"><h2 id="runs">Runs</h2><div class="scroll"><table>'
    heads = ("Run", "Begun", *(word.title() for word in VERDICTS), "Found", "Fixed", "Left")
    yield "<thead><tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads)
    yield '<th scope="col">Merged</th><th scope="col">Taken over</th></tr></thead><tbody>'
    for one in runs:
        counts = [one.verdicts[word] for word in VERDICTS]
        counts += [one.found, one.fixed, one.left, one.merged, one.reused]
        cells = "".join(f'<td class="n">{count:,}</td>' for count in counts)
        begun = text(one.begun[:16].replace("T", " "))
        yield f'<tr><th scope="row">{one.run:,}</th><td>{begun}</td>{cells}</tr>'
    yield "</tbody></table></div></section>"


# the table


def _table(records: Sequence[Record], totals: Totals) -> Iterator[str]:
    yield '<section aria-labelledby="repositories"><div class="bar">'
    yield '<h2 id="repositories">Repositories</h2>'
    yield (
        '<label>Search <input type="search" id="search" placeholder="name, reason or error" '
        'autocomplete="off" spellcheck="false"></label>'
    )
    yield '<label>Proof <select id="proof"><option value="">any</option>'
    for word in sorted(totals.proofs):
        yield f"<option>{word}</option>"
    yield "</select></label>"
    yield '<button type="button" id="clear" hidden>Show all</button>'
    yield f'<p id="shown" role="status">{len(records):,} shown</p></div>'
    yield '<noscript><p class="more">Sorting, filters and details need JavaScript.</p></noscript>'
    yield '<div class="scroll"><table id="table"><caption class="hidden">Repositories</caption>'
    yield "<thead><tr>"
    for name, kind in _COLUMNS:
        yield (
            f'<th scope="col" aria-sort="none"{_class(kind)}>'
            f'<button type="button">{name}</button></th>'
        )
    yield "</tr></thead><tbody>"
    for number, record in enumerate(records):
        yield _row(number, record)
    yield "</tbody></table></div>"
    yield '<p class="more" id="none" hidden>No repository fits these filters.</p></section>'


def _row(number: int, record: Record) -> str:
    name = text(record.repository.name)
    rules = " ".join(sorted({*record.found, *record.fixed, *record.left}))
    why = record.error or record.reason
    note = f'<span class="why">{text(_first(why))}</span>' if why else ""
    link, url = record.pull_request, ""
    if link is not None:
        url = f"#{link.number} {standing(record)}"
        if link.url.startswith(("https://", "http://")):
            url = f'<a href="{text(link.url)}" rel="noopener noreferrer">{text(url)}</a>'
    counts = (sum(record.found.values()), sum(record.fixed.values()), sum(record.left.values()))
    cells = [f'<td class="n" data-v="{count}">{count:,}</td>' for count in counts]
    files = len(record.changed) + record.cut.get("changed", 0)
    size = record.added + record.removed
    lines = f"+{record.added:,} −{record.removed:,}" if size else "0"
    proof, spent, outcome = proof_word(record), seconds(record), record.outcome.value
    return (
        f'<tr data-i="{number}" data-o="{outcome}" data-p="{proof}" data-r="{text(rules)}">'
        f'<th scope="row"><button type="button" class="open" aria-expanded="false">{name}</button>'
        f'{note}</th><td><span class="tag {outcome}">{outcome}</span></td>{"".join(cells)}'
        f'<td class="n" data-v="{files}">{files:,}</td><td class="n" data-v="{size}">{lines}</td>'
        f'<td class="{proof.replace(" ", "-")}">{proof}</td>'
        f'<td class="n" data-v="{spent:.1f}">{spent:,.1f}</td><td>{url}</td></tr>'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _first(why: str) -> str:
    line = why.strip().partition("\n")[0]
    return line if len(line) <= 160 else f"{line[:160]}…"


# details


def _details(record: Record, folder: Path, *, diff: bool) -> dict[str, Any]:
    """Return what is shown of a repository when it is opened."""
    repository = record.repository
    known = reasons(record, folder)
    shown = patch(record, folder) if diff else None
    facts = {
        "Source": repository.source,
        "Base": " ".join(filter(None, (record.base_branch, record.base_commit[:12]))),
        "Branch": record.branch,
        "Commit": record.commit[:12],
        "Last phase": record.phase.value,
        "Attempt": str(record.attempt),
        "Run": str(record.run),
        "Shown of it": VERDICTS[verdict(record)],
        "Taken over": ", ".join(record.reused),
        "Request": STANDINGS.get(standing(record), ""),
        "Not opened yet": record.waits,
        "Fork": record.fork.project if record.fork else "",
        "Worked on by": " on ".join(filter(None, (record.engine, record.host))),
        "Read": f"{counted(record.files, 'file')}, {counted(record.lines, 'line')}",
        "Versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        "Code owners": ", ".join(record.owners),
    }
    return {
        "facts": [[name, value] for name, value in facts.items() if value],
        "error": record.error,
        "reason": record.reason,
        "notes": record.notes,
        "seconds": record.seconds,
        "rules": [
            [rule, record.found.get(rule, 0), record.fixed.get(rule, 0), record.left.get(rule, 0)]
            for rule in sorted({*record.found, *record.fixed, *record.left})
        ],
        "proof": None if record.proof is None else asdict(record.proof),
        "left": [
            [one.path, one.line, one.where, one.rule, one.code, one.reason]
            for one in record.not_fixed
        ],
        "problems": [[one.where, one.message] for one in record.problems],
        "cut": _cut(record.cut, len(known)),
        "changes": [list(one.values()) for one in known[:_REASONS]],
        "diff": None if shown is None else shown[:_DIFF],
        "longer": shown is not None and len(shown) > _DIFF,
        "patch": record.patch,
        "map": record.map if has_map(record, folder) else "",
        "mapped": record.mapped,
    }


def _cut(cut: Mapping[str, int], changes: int) -> dict[str, int]:
    more = {"changes": changes - _REASONS} if changes > _REASONS else {}
    return {**cut, **more}


def _packed(data: dict[str, Any]) -> str:
    """Return JSON, compressed, in letters that mean nothing in HTML."""
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return base64.b64encode(zlib.compress(plain.encode(), 6)).decode()
