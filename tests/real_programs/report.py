"""The page that says how the real programs fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .catalogue import LISTS, load
from .examine import Examination

HEAD = """# Real programs, before and after

Written by `python -m tests.real_programs --corpus DIR` from runs; do not edit. The programs belong
to their authors and are not part of this repository: the table names repository, commit and path.
Each is copied, run as published on the CPU (twice where its output differs afterwards: what differs
between two runs of the same program is no evidence), fixed with `samedevice fix --yes` without
further options, parsed, fixed once more, and run again. *Equal* means: every line it printed is the
same apart from durations, and the loss of every backward pass is the same, bit for bit. On the
virtual accelerator a program must run to its end with every loss and every stepped parameter on the
device (leaves without dimensions aside). It *agrees* if the loss of every backward pass is the
CPU's up to a relative 1e-4 or, where there is none, if it prints the same.

What every run is given: seed 0, one thread, no network, at most four batches of each pass over a
DataLoader unless noted, synthetic images in place of downloads, initial weights in place of
pretrained ones. *Budget* in the notes: the program was ended, without an error, after that many
backward passes. *Revision* is the commit of samedevice that was run.
"""


def write(outcomes: Sequence[Examination], page: Path) -> None:
    """Write the page."""
    page.parent.mkdir(parents=True, exist_ok=True)
    parts = [HEAD, _totals(outcomes)]
    for letter, title in LISTS.items():
        chosen = [outcome for outcome in outcomes if outcome.list == letter]
        if chosen:
            parts.append(f"## {letter}: {title}\n\n{_table(chosen)}")
            parts.append(_failures(chosen))
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _totals(outcomes: Sequence[Examination]) -> str:
    lines = [
        "| list | programs run, of those listed | repositories | fixed, parses | second fix quiet "
        "| runs on CPU | equal | virtual: runs | on device | agrees with CPU |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    listed = Counter(program.list for program in load())
    for letter, title in LISTS.items():
        chosen = [outcome for outcome in outcomes if outcome.list == letter]
        if not chosen:
            continue
        repositories = {"/".join(outcome.name.split("/")[:2]) for outcome in chosen}
        cells = [
            sum(outcome.fixed == "" and outcome.parses == "" for outcome in chosen),
            sum(outcome.quiet == "" for outcome in chosen),
            sum(outcome.after == "" for outcome in chosen),
            sum(outcome.equal == "" and outcome.before == "" for outcome in chosen),
            sum(outcome.virtual == "" for outcome in chosen),
            sum(outcome.on_device == "" for outcome in chosen),
            sum(outcome.agrees == "" for outcome in chosen),
        ]
        lines.append(
            f"| {letter}: {title} | {len(chosen)} of {listed[letter]} | {len(repositories)} | "
            + " | ".join(str(cell) for cell in cells)
            + " |"
        )
    kept = [entry for entry in outcomes if entry.changed_lines == 0 and entry.virtual is not None]
    ran = sum(entry.virtual == "" for entry in kept)
    agreed = sum(entry.agrees == "" for entry in kept)
    lines += [
        "",
        f"{len(kept)} programs were left as they are, byte for byte. Unmodified, {ran} of them ran",
        f"to their end on the virtual accelerator and {agreed} computed what the CPU computes.",
    ]
    return "\n".join(lines) + "\n"


def _table(outcomes: Sequence[Examination]) -> str:
    lines = [
        "| program | commit | before | lines changed | again | after | equal | virtual "
        "| on device | agrees | s | revision | notes |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        name = outcome.name + (f" `{' '.join(outcome.args)}`" if outcome.args else "")
        equal = "n/a" if outcome.before and outcome.equal == "" else _mark(outcome.equal)
        cells = [
            name.replace("|", "\\|"),
            outcome.commit[:9],
            _mark(outcome.before),
            str(outcome.changed_lines),
            _mark(outcome.quiet),
            _mark(outcome.after),
            equal,
            _mark(outcome.virtual),
            _mark(outcome.on_device),
            _mark(outcome.agrees),
            f"{outcome.seconds:.0f}",
            outcome.revision,
            outcome.supplies,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _failures(outcomes: Sequence[Examination]) -> str:
    lines = [
        f"- {outcome.name}: {outcome.failure.replace('|', chr(92) + '|')}"
        for outcome in outcomes
        if outcome.failure
    ]
    return "\n".join(["Not passed:", "", *lines, ""]) if lines else ""


def _mark(text: str | None) -> str:
    return "–" if text is None else "no" if text else "yes"
