"""Records as Markdown: the text of one pull request, and a summary of the batch.

Paths, code and errors are somebody else's: they stand in code spans or fences, where neither
mentions, references, quick actions nor markup work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ..report.markdown import code, fenced, text
from ..report.place import printable
from .record import Outcome, Record, Run
from .report_data import (
    Totals,
    counted,
    proof_word,
    reasons,
    requests,
    rules_by_count,
    seconds,
    verdicts,
)
from .standing import standing
from .trend import Standing

_LONGEST = 300  # characters of one reason or line of code
_TAIL = 2_000  # characters of a run's output
_SHOWN = 200  # repositories with a problem that the summary lists
_PROOF = {
    "passed": "passes after the change",
    "broken": "**fails after the change and passed before**",
    "no proof": "does not pass, and did not before the change either: it shows nothing",
}


def body(record: Record, folder: Path, limit: int) -> str:
    """See `report.body`."""
    out = _Bounded(limit)
    left = sum(record.left.values())
    out.add(_what(record))
    out.add(*_rules(record))
    out.add(*_proof(record))
    if record.owners:
        out.add(f"Code owners of the changed files: {', '.join(map(code, record.owners))}")
    if record.notes:
        out.add("\n".join(f"- {text(_short(note))}" for note in record.notes))
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    foot = f"<sub>{text(versions)}, from {code(record.base_commit[:12] or '?')}</sub>"
    out.keep(foot)
    out.section("What changed, and why", _changes(reasons(record, folder)))
    out.section(
        f"Seen and not changed ({left:,})",
        (
            f"- {code(one.where)} {text(one.rule)} {code(_short(one.code))}: "
            f"{text(_short(one.reason))}"
            for one in record.not_fixed
        ),
        more=record.cut.get("not_fixed", 0),
    )
    out.section(
        "Files that could not be worked on",
        (f"- {code(one.where)} {text(_short(one.message))}" for one in record.problems),
        more=record.cut.get("problems", 0),
    )
    return out.text()


def _what(record: Record) -> str:
    """Return what the change is, in a paragraph."""
    files = len(record.changed) + record.cut.get("changed", 0)
    said = (
        "PyTorch stops where tensors on different devices meet. This change puts the tensors and "
        f"modules of this project on one device: {counted(sum(record.fixed.values()), 'fix')} "
        f"in {counted(files, 'file')}, +{record.added:,} −{record.removed:,} lines."
    )
    if record.policy.get("modernize"):
        said += " Python 2 was turned into Python 3 first, where there was any."
    if record.policy.get("unsafe"):
        return said + (
            " Unsafe fixes were asked for: where a reason below says so, numbers may differ from "
            "before on a machine without an accelerator."
        )
    return said + (
        " Nothing but device handling changes: on a machine without an accelerator the program "
        "computes what it computed before."
    )


class _Bounded:
    """Markdown that stops growing in time, and says what it left out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._foot = ""
        self._size = 0

    def keep(self, foot: str) -> None:
        """Set what stands at the end, whatever else there is room for."""
        self._foot = foot
        self._size += len(foot) + 2

    def add(self, *parts: str) -> None:
        """Add whole paragraphs, where there is room."""
        for part in parts:
            if self._size + len(part) + 2 <= self._limit:
                self._parts.append(part)
                self._size += len(part) + 2

    def section(self, title: str, lines: Iterable[str], more: int = 0) -> None:
        """Add a section that opens on a click, with as many lines as there is room for."""
        head = f"<details><summary>{title}</summary>\n"
        tail = "\n</details>"
        room = self._limit - self._size - len(head) - len(tail) - 80
        shown: list[str] = []
        for line in lines:
            if len(line) + 1 > room:
                more += not line.startswith("\n")
                room = 0
                continue
            room -= len(line) + 1
            shown.append(line)
        if more:
            shown.append(f"\n{more:,} more: see the batch's report")
        if shown and self._limit - self._size > len(head) + len(tail) + 80:
            self.add("\n".join([head, *shown, tail]))

    def text(self) -> str:
        return "\n\n".join([*self._parts, self._foot] if self._foot else self._parts) + "\n"


def _rules(record: Record) -> Iterator[str]:
    names = sorted({*record.found, *record.fixed, *record.left})
    if not names:
        return
    rows = ["| rule | found | fixed | left |", "| --- | ---: | ---: | ---: |"]
    for name in sorted(names, key=lambda name: (-record.fixed.get(name, 0), name)):
        counts = (table.get(name, 0) for table in (record.found, record.fixed, record.left))
        rows.append(f"| {text(name)} | {' | '.join(f'{count:,}' for count in counts)} |")
    yield "\n".join(rows)


def _proof(record: Record) -> Iterator[str]:
    proof = record.proof
    if proof is None:
        yield "Not proved: no program or test of this repository was run."
        return
    times = _times(proof.before, proof.after)
    yield f"Proof: {code(proof.command)} {_PROOF[proof_word(record)]}{times}."
    if proof.detail:
        yield "\n".join(f"- {text(_short(line))}" for line in proof.detail[:30])
    if proof.after is not None and not proof.passed:
        lines = proof.after.tail[-_TAIL:].expandtabs().split("\n")
        yield "\n".join(fenced("text", "\n".join(map(printable, lines))))


def _times(before: Run | None, after: Run | None) -> str:
    if before is None or after is None:
        return ""
    return f" ({before.seconds:.0f} s before, {after.seconds:.0f} s after)"


def _changes(changes: Sequence[dict[str, Any]]) -> Iterator[str]:
    for path, entries in groupby(changes, lambda one: str(one["path"])):
        yield f"\n{code(path)}\n"
        seen = set()
        for one in entries:
            why = text(_short(str(one["why"])))
            line = f"- line {one['line']}, {text(str(one['rule']))}: {why}"
            if line not in seen:
                seen.add(line)
                yield line


def summary(records: Sequence[Record], totals: Totals, runs: Sequence[Standing] = ()) -> str:
    """Return the whole batch in Markdown: sums, findings by rule, what needs somebody's eye."""
    return "\n\n".join(_summary(records, totals, runs)) + "\n"


def _summary(records: Sequence[Record], totals: Totals, runs: Sequence[Standing]) -> Iterator[str]:
    yield "# samedevice batch"
    outcomes = ", ".join(f"{count:,} {name}" for name, count in totals.outcomes.most_common())
    yield (
        f"{counted(totals.repositories, 'repository')}: {outcomes or 'none'}. "
        f"{counted(totals.found.total(), 'finding')}, {totals.fixed.total():,} fixed in "
        f"{counted(totals.changed, 'file')} (+{totals.added:,} −{totals.removed:,} lines), "
        f"{totals.left.total():,} left."
    )
    if totals.repositories:
        yield f"By what is shown of them: {verdicts(totals)}."
    if totals.requests:
        yield f"Requests: {requests(totals)}."
    if totals.waits:
        lines = [
            f"- {counted(count, 'request')}: {text(why)}"
            for why, count in totals.waits.most_common()
        ]
        yield "Not opened yet:\n\n" + "\n".join(lines)
    if len(runs) > 1:
        yield "\n".join(_runs(runs))
    rows = ["| rule | found | fixed | left |", "| --- | ---: | ---: | ---: |"]
    for rule in rules_by_count(totals):
        rows.append(
            f"| {text(rule)} | {totals.found[rule]:,} | {totals.fixed[rule]:,} | "
            f"{totals.left[rule]:,} |"
        )
    if len(rows) > 2:
        yield "\n".join(rows)
    troubled = [one for one in records if one.outcome.needs_attention]
    if troubled:
        yield f"## Needs attention ({len(troubled):,})"
        lines = [
            f"- {code(one.repository.name)} {one.outcome.value} after {one.phase.value}: "
            f"{text(_short(one.error or one.reason or 'no reason was given'))}"
            for one in troubled[:_SHOWN]
        ]
        if len(troubled) > _SHOWN:
            lines.append(f"- and {len(troubled) - _SHOWN:,} more")
        yield "\n".join(lines)
    changed = [one for one in records if one.outcome is Outcome.MIGRATED]
    if changed:
        yield f"## Migrated ({len(changed):,})"
        rows = [
            "| repository | fixed | left | files | lines | proof | seconds | pull request |",
            "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |",
        ]
        for one in changed:
            link = one.pull_request
            asked = f"[#{link.number}]({_url(link.url)}) {standing(one)}" if link else ""
            rows.append(
                f"| {code(one.repository.name)} | {sum(one.fixed.values()):,} | "
                f"{sum(one.left.values()):,} | {len(one.changed):,} | +{one.added:,} "
                f"−{one.removed:,} | {proof_word(one)} | {seconds(one):,.1f} | {asked} |"
            )
        yield "\n".join(rows)


def _runs(runs: Sequence[Standing]) -> Iterator[str]:
    """Return a table with a row for each run over all repositories."""
    words = ("proved", "unproved", "incomplete", "refused", "clean", "unknown")
    yield f"| run | begun | {' | '.join(words)} | found | fixed | left | merged | taken over |"
    yield "| ---: | --- |" + " ---: |" * (len(words) + 5)
    for one in runs:
        counts = [one.verdicts[word] for word in words]
        counts += [one.found, one.fixed, one.left, one.merged, one.reused]
        begun = one.begun[:16].replace("T", " ")
        yield f"| {one.run:,} | {begun} | {' | '.join(f'{count:,}' for count in counts)} |"


def _url(url: str) -> str:
    """Return a URL that stays within the parentheses of a link."""
    if not url.startswith(("https://", "http://")):
        return ""
    return re.sub(r"[^A-Za-z0-9._~:/?#@!$&*+,;=%-]", "", url)


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
