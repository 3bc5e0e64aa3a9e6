"""`fix --interactive`: ask for each change, as `git add -p` does.

A no is a no to the fixes behind the change. They are left out, also where they reach into other
lines or files, and the rest is computed anew; so what is written is never half of a fix, and the
resolver and the imports come and go with the fixes that need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from .finding import Finding
from .migrate import Change, Key, Outcome, key
from .report.changes import by_hunk
from .report.diff import Opcode, hunks, show_hunk, text_lines
from .report.place import printable

_HELP = """\
y - make this change
n - leave it
a - make this change and all that follow in this file
d - leave this change and all that follow in this file
s - split it into smaller changes
q - leave this change and all that follow
? - show this help"""


@dataclass(frozen=True)
class _Hunk:
    opcodes: Sequence[Opcode]
    findings: frozenset[Finding]


def choose(outcome: Outcome, console: Console) -> set[Key]:
    """Ask for every change of `outcome`; returns the keys of the findings to leave alone.

    The end of the input, too, leaves all that follow.
    """
    declined: set[Key] = set()
    rest = ""  # what holds for all that follows: "y" or "n", in this file or, after q, in all
    for change in outcome.changes:
        before = text_lines(change.before, change.path)
        after = text_lines(change.after, change.path)
        rest = "q" if rest == "q" else ""
        shown = False
        queue = list(_hunks(change, before, after, 3))
        total = len(queue)
        while queue:
            hunk = queue.pop(0)
            if all(key(finding) in declined for finding in hunk.findings):
                continue
            answer = rest
            if not answer:
                if not shown:
                    console.print(Text(printable(change.path), "bold"), soft_wrap=True)
                    shown = True
                _show(hunk, console, before, after)
                parts = list(_split(hunk, change))
                answer = _ask(console, total - len(queue), total, len(parts) > 1)
                if answer == "s":
                    queue[:0] = parts
                    total += len(parts) - 1
                    continue
                if answer in "adq":
                    rest = answer
            if answer in "ndq":
                declined |= {key(finding) for finding in hunk.findings}
    return declined


def _hunks(
    change: Change, before: Sequence[str], after: Sequence[str], context: int
) -> Iterator[_Hunk]:
    """Yield the changes that findings are behind; the others come with them."""
    behind = {code: pairs for code, pairs in by_hunk(change)}
    for opcodes in hunks(before, after, context):
        findings = {finding for code in opcodes for finding, _ in behind.get(code, ())}
        if findings:
            yield _Hunk(opcodes, frozenset(findings))


def _split(hunk: _Hunk, change: Change) -> Iterator[_Hunk]:
    for code, pairs in by_hunk(change):
        if code in hunk.opcodes and pairs:
            yield _Hunk([code], frozenset(finding for finding, _ in pairs))


def _show(hunk: _Hunk, console: Console, before: Sequence[str], after: Sequence[str]) -> None:
    for message in sorted({f"[{item.rule}] {item.message}" for item in hunk.findings}):
        console.print(Text(printable(message), "dim"), soft_wrap=True)
    show_hunk(console, hunk.opcodes, before, after)


def _ask(console: Console, number: int, total: int, splits: bool) -> str:
    choices = "ynadsq?" if splits else "ynadq?"
    while True:
        try:
            question = f"({number}/{total}) Make this change [{','.join(choices)}]? "
            answer = console.input(question, markup=False).strip().lower()
        except EOFError:
            return "q"
        if len(answer) == 1 and answer in choices and answer != "?":
            return answer
        console.print(_HELP)
