"""`fix --interactive`: ask for each finding, with all that its fix changes, in whatever file.

Findings whose fixes change the same lines belong together and are one question. A no leaves the
fix out everywhere, and the rest is computed anew; so what is written is never half of a fix, and
the resolver and the imports come and go with the fixes that need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from ..finding import Finding
from ..migration.migrate import Change, Key, Outcome, key
from ..reading.notebook import MARKER
from ..reading.source import Source
from ..report.changes import by_hunk
from ..report.diff import Opcode, show_hunk, text_lines
from ..report.place import place, printable

_CONTEXT = 2  # lines around a change
_HELP = """\
y - repair this
n - leave it
a - repair this and all that follow
s - ask for each of these findings by itself
q - leave this and all that follow
? - show this help"""


@dataclass(frozen=True)
class _Question:
    """Findings that are repaired together, and the ranges that change in each file."""

    findings: tuple[Finding, ...]
    ranges: tuple[tuple[Change, Opcode], ...]


def choose(outcome: Outcome, console: Console) -> set[Key]:
    """Ask for every finding that `outcome` repairs; returns the keys of those to leave alone.

    When the input ends, all questions that are left count as declined.
    """
    declined: set[Key] = set()
    queue = _questions(outcome.changes)
    total = len(queue)
    answer = ""
    while queue:
        question = queue.pop(0)
        if answer not in ("a", "q"):
            _show(question, console, outcome.originals)
            parts = list(_split(question))
            answer = _ask(console, total - len(queue), total, len(parts) > 1)
            if answer == "s":
                queue[:0] = parts
                total += len(parts) - 1
                continue
        if answer in ("n", "q"):
            declined |= {key(finding) for finding in question.findings}
    return declined


def _questions(changes: Sequence[Change]) -> list[_Question]:
    """Return the findings in reading order, those that share a range of lines together."""
    groups: list[tuple[list[Finding], list[tuple[Change, Opcode]]]] = []
    for change in changes:
        for code, pairs in by_hunk(change):
            findings = list(dict.fromkeys(finding for finding, _ in pairs))
            if not findings:
                continue  # the resolver or an import: it comes with what needs it
            joined = [group for group in groups if not set(group[0]).isdisjoint(findings)]
            groups = [group for group in groups if group not in joined]
            together = [finding for group in joined for finding in group[0]]
            ranges = [one for group in joined for one in group[1]]
            merged = list(dict.fromkeys([*together, *findings]))
            groups.append((merged, [*ranges, (change, code)]))
    made = [_Question(tuple(findings), tuple(ranges)) for findings, ranges in groups]
    return sorted(made, key=lambda one: min((f.path, f.span) for f in one.findings))


def _split(question: _Question) -> Iterator[_Question]:
    """Yield a question for each finding; those of one name can only be answered together."""
    by_name: dict[Key, list[Finding]] = {}
    for finding in question.findings:
        by_name.setdefault(key(finding), []).append(finding)
    for findings in by_name.values():
        ranges = [
            (change, code)
            for change, code in question.ranges
            if any(other in findings for other, _ in dict(by_hunk(change))[code])
        ]
        yield _Question(tuple(findings), tuple(ranges))


def _show(question: _Question, console: Console, sources: Mapping[str, Source]) -> None:
    for finding in question.findings:
        where = place(finding.path, finding.span, sources)
        line = Text.assemble((where, "bold"), f" [{finding.rule}] {printable(finding.message)}")
        console.print(line, soft_wrap=True)
    last = ""
    for change, code in question.ranges:
        if change.path != last and len({one.path for one, _ in question.ranges}) > 1:
            console.print(Text(printable(change.path), "dim"), soft_wrap=True)
        last = change.path
        before = text_lines(change.before, change.path)
        after = text_lines(change.after, change.path)
        show_hunk(console, _around(code, before, after), before, after)


def _around(code: Opcode, before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Return a changed range with the lines around it that stay as they are."""
    tag, i1, i2, j1, j2 = code
    head = tail = 0
    while head < min(_CONTEXT, i1, j1) and _same(before[i1 - head - 1], after[j1 - head - 1]):
        head += 1
    room = min(_CONTEXT, len(before) - i2, len(after) - j2)
    while tail < room and _same(before[i2 + tail], after[j2 + tail]):
        tail += 1
    return [
        ("equal", i1 - head, i1, j1 - head, j1),
        (tag, i1, i2, j1, j2),
        ("equal", i2, i2 + tail, j2, j2 + tail),
    ]


def _same(one: str, other: str) -> bool:
    """Tell whether two lines are one line of code, and not the head of a notebook's cell."""
    return one == other and not one.startswith(MARKER)


def _ask(console: Console, number: int, total: int, splits: bool) -> str:
    choices = "ynasq?" if splits else "ynaq?"
    while True:
        try:
            question = f"({number}/{total}) Repair this [{','.join(choices)}]? "
            answer = console.input(question, markup=False).strip().lower()
        except EOFError:
            return "q"
        if len(answer) == 1 and answer in choices and answer != "?":
            return answer
        console.print(_HELP)
