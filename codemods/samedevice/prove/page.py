"""A proof as one HTML page: the checks, the change side by side, and each run.

The page stands alone: no script, nothing loaded, light or dark as the reader's browser is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from html import escape
from types import MappingProxyType

from samedevice.prove.clash import Clash
from samedevice.prove.display import describe_losses, located
from samedevice.prove.prove import Change, Check, Proof
from samedevice.prove.record import Record
from samedevice.prove.run import RunResult

_CONTEXT = 3
_MOST_OUTPUT = 20_000  # characters of a run's output

_STYLE = """
:root { color-scheme: light dark; --line: #d8dee4; --soft: #f6f8fa; --dim: #59636e;
  --good: #1a7f37; --bad: #cf222e; --old: #ffebe9; --new: #dafbe1; --older: #ffb8b0;
  --newer: #8ee3a2 }
@media (prefers-color-scheme: dark) { :root { --line: #30363d; --soft: #161b22;
  --dim: #9198a1; --good: #3fb950; --bad: #f85149; --old: #3c1618; --new: #12331b;
  --older: #7d2a2a; --newer: #1f6f35 } }
body { background: Canvas; color: CanvasText; font: 15px/1.5 system-ui, sans-serif;
  max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
code, pre, .code td { font: 13px/1.45 ui-monospace, monospace }
table { border-collapse: collapse } td, th { padding: .25rem .6rem; text-align: left;
  vertical-align: top } .lines td, .lines th { border-top: 1px solid var(--line) }
.code { width: 100%; table-layout: fixed; border: 1px solid var(--line) }
.code td { padding: 0 .5rem; white-space: pre-wrap; overflow-wrap: anywhere }
.code .number { width: 3.2rem; text-align: right; color: var(--dim); user-select: none }
.code .old { background: var(--old) } .code .new { background: var(--new) }
.code .old b { background: var(--older); font-weight: inherit }
.code .new b { background: var(--newer); font-weight: inherit }
.code .gap td { background: var(--soft); color: var(--dim); text-align: center }
.passed { color: var(--good) } .failed, .inconclusive { color: var(--bad) }
.dim { color: var(--dim) }
pre { background: var(--soft); padding: .7rem; overflow: auto; max-height: 30rem }
summary { cursor: pointer; padding: .3rem 0 } .number { text-align: right }
"""
_SIGNS = {"passed": "✓", "failed": "✗", "inconclusive": "?", "skipped": "–", "noted": "•"}
_VERDICTS = {"proved": "passed", "not proved": "failed", "inconclusive": "inconclusive"}


def render(proof: Proof, links: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the page; `links` lead to each file on the map of the change, "" to the map."""
    verdict = _VERDICTS[proof.verdict]
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{verdict}: {escape(proof.program)}</title>",
        f"<style>{_STYLE}</style><main>",
        f'<h1><span class="{verdict}">{_SIGNS[verdict]} {verdict}</span> '
        f"<code>{escape(proof.program)}</code></h1>",
        f"<p>before: <code>{escape(proof.before)}</code> · "
        f"after: <code>{escape(proof.after)}</code></p>",
        _link(links.get(""), "Where every tensor lives, before and after"),
        "<h2>What was shown</h2>",
        '<table class="lines">',
        *(_check(check) for check in proof.checks),
        "</table>",
        f"<h2>The change ({len(proof.changes)} files)</h2>",
        *(part for change in proof.changes for part in _change(change, links.get(change.path))),
        "<h2>The runs</h2>",
        *(part for name, run in proof.runs.items() for part in _run(name, run)),
        "</main></html>",
    ]
    return "\n".join(parts) + "\n"


def _link(href: str | None, words: str) -> str:
    return f'<p><a href="{escape(href)}">{words}</a></p>' if href else ""


def _check(check: Check) -> str:
    return (
        f'<tr><td class="{check.verdict}">{_SIGNS[check.verdict]} {check.verdict}</td>'
        f"<td>{escape(check.name)}</td><td>{escape(check.detail)}</td></tr>"
    )


# The change, side by side


def _change(change: Change, href: str | None) -> Iterator[str]:
    kind = "new" if change.before is None else "removed" if change.after is None else ""
    yield f'<details open><summary><code>{escape(change.path)}</code> <span class="dim">{kind}'
    yield f'</span></summary>{_link(href, "on the map")}<table class="code">'
    old, new = (change.before or "").split("\n"), (change.after or "").split("\n")
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)
    for number, group in enumerate(groups):
        if number:
            yield '<tr class="gap"><td colspan="4">⋯</td></tr>'
        for tag, left, left_end, right, right_end in group:
            for at in range(max(left_end - left, right_end - right)):
                one = old[left + at] if left + at < left_end else None
                two = new[right + at] if right + at < right_end else None
                yield _row(left + at + 1, one, right + at + 1, two, tag != "equal")
    yield "</table></details>"


def _row(left: int, old: str | None, right: int, new: str | None, changed: bool) -> str:
    marked = _mark(old, new) if changed else (escape(old or ""), escape(new or ""))
    return (
        f"<tr>{_cell(left, old, marked[0], 'old' if changed else '')}"
        f"{_cell(right, new, marked[1], 'new' if changed else '')}</tr>"
    )


def _cell(number: int, line: str | None, html: str, kind: str) -> str:
    if line is None:
        return '<td class="number"></td><td></td>'
    return f'<td class="number">{number}</td><td class="{kind}">{html}</td>'


def _mark(old: str | None, new: str | None) -> tuple[str, str]:
    """Return two lines as HTML with the characters in bold that differ."""
    if old is None or new is None:
        return escape(old or ""), escape(new or "")
    left, right = [], []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        frame = "{}" if tag == "equal" else "<b>{}</b>"
        left.append(frame.format(escape(old[a:b])) if a < b else "")
        right.append(frame.format(escape(new[c:d])) if c < d else "")
    return "".join(left), "".join(right)


# The runs


def _run(name: str, run: RunResult) -> Iterator[str]:
    kind = "passed" if run.passed else "failed"
    yield f"<details{'' if run.passed else ' open'}><summary>{escape(name)}: "
    yield f'<span class="{kind}">{run.status}</span> <span class="dim">{run.seconds:.1f} s, '
    yield f"torch {escape(run.torch)}</span></summary>"
    if run.message:
        yield f"<p>{escape(run.message)}</p>"
    if run.clash is not None:
        yield from _clash(run.clash)
    if run.record is not None:
        yield from _record(run.record)
    for stream, text in (("stdout", run.stdout.text), ("stderr", run.stderr.text)):
        if text:
            short = text if len(text) <= _MOST_OUTPUT else "⋯" + text[-_MOST_OUTPUT:]
            yield f'<p class="dim">{stream}</p><pre>{escape(short)}</pre>'
    yield "</details>"


def _clash(clash: Clash) -> Iterator[str]:
    where = escape(located(clash.file, clash.line))
    yield f"<p><code>{where}</code></p><pre>{escape(clash.text)}</pre>"
    yield '<table class="lines">'
    for party in clash.operands:
        name, device = escape(party.expression), escape(party.device)
        yield f"<tr><th><code>{name}</code></th><td>{device}</td><td>{escape(party.what)}</td>"
        yield "<td></td></tr>"
        for step in party.steps:
            place = escape(located(step.file, step.line))
            yield f"<tr><td></td><td>{step.how} on {escape(step.device)}</td>"
            yield f"<td><code>{place}</code></td><td><code>{escape(step.text)}</code></td></tr>"
    yield "</table>"


def _record(record: Record) -> Iterator[str]:
    yield '<table class="lines">'
    for device, names in sorted(record.operations.items()):
        most = ", ".join(f"{name} {count:,}" for name, count in list(names.items())[:5])
        yield f"<tr><td>operations on {escape(device)}</td>"
        yield f'<td class="number">{sum(names.values()):,}</td><td>{escape(most)}</td></tr>'
    for optimizer in record.optimizers:
        places = ", ".join(f"{count} on {place}" for place, count in optimizer.devices.items())
        yield f"<tr><td>{escape(optimizer.name)}</td>"
        yield f'<td class="number">{optimizer.steps:,} steps</td><td>{escape(places)}</td></tr>'
    if record.losses.count:
        yield f"<tr><td>losses</td><td></td><td>{escape(describe_losses(record))}</td></tr>"
    for transfer in record.transfers[:10]:
        place = located(transfer.file, transfer.line) if transfer.file else ""
        yield f"<tr><td>{escape(transfer.source)} → {escape(transfer.target)}</td>"
        yield f'<td class="number">{transfer.count:,} × · {transfer.nbytes:,} B</td>'
        yield f"<td><code>{escape(place)}</code> <code>{escape(transfer.text)}</code></td></tr>"
    yield "</table>"
