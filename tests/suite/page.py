"""Write docs/proof/suite.md: what becomes of the programs, by area."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .catalogue import Program, programs, repaired

PAGE = Path(__file__).parents[2] / "docs" / "proof" / "suite.md"
HEAD = """\
# The suite

{programs} small programs in {areas} areas, written by somebody who had read the users' pages and
not the inference: as PyTorch is written from 2021 to 2026, 10 to 120 lines, seeded, each ending in
about a second. {defects} have something wrong with devices, or compute on the CPU only; {right} are
right in an unusual way. They lie in `tests/suite/programs`, and `tests/suite/suite.toml` says what
should become of each. `samedevice fix --yes` is done to all of them.

- *repaired*: after it the program runs on the CPU with the output it had, and on the virtual
  accelerator with the same output and its operations there; nothing is said of it any more.
- *reported*: a finding, something undecided or a line for CUDA is left that `check` shows.
- *silent*: it does not run as it should, and nothing is said; or `fix` breaks it.
- *touched*: a right program that `fix` changes, or that `check` finds fault with.

The first run, before anything was mended, had 175 defects repaired or reported, 17 silent, and 1
that `fix` broke on the device; of the right programs 20 were touched, and 4 of them stopped.
Sixty programs that were written later, with other idioms, had in their first run 39 of 50 defects
repaired, 8 told, 3 silent and none broken; 1 of 10 right ones was touched. Thirty of them stand
here.

`python -m tests.suite --page` writes this page, a test compares it, and
`pytest -m slow tests/suite` runs all programs before and after.

| area | defects | repaired | reported | silent | right | touched |
| --- | --- | --- | --- | --- | --- | --- |
"""
LEFT = """
## What is left

Each of these is a test that is known to fail, with its cause, in `tests/suite/pending.toml`.

| program | what is the matter | cause |
| --- | --- | --- |
"""


@dataclass
class Counts:
    """Of the programs of an area, or of all."""

    defects: int = 0
    repaired: int = 0
    reported: int = 0
    silent: int = 0
    right: int = 0
    touched: int = 0

    def add(self, program: Program) -> None:
        """Count a program."""
        if program.kind == "right":
            self.right += 1
            self.touched += bool(program.pending)
            return
        self.defects += 1
        if program.pending:
            self.silent += 1
        elif repaired(program).told:
            self.reported += 1
        else:
            self.repaired += 1

    def row(self, name: str) -> str:
        """Return them as a line of a table."""
        return f"| {' | '.join([name, *(str(count or '') for count in vars(self).values())])} |\n"


def page() -> str:
    """Return the page's text."""
    total, areas = Counts(), defaultdict[str, Counts](Counts)
    for program in programs():
        total.add(program)
        areas[program.area].add(program)
    head = HEAD.format(
        programs=len(programs()), areas=len(areas), defects=total.defects, right=total.right
    )
    rows = [areas[name].row(name.replace("_", " ")) for name in sorted(areas)]
    left = [
        f"| {program.name} | {program.wrong or 'nothing: ' + program.why} | {program.cause} |\n"
        for program in programs()
        if program.pending
    ]
    text = head + "".join(rows) + total.row("**all**")
    return text + (LEFT + "".join(left) if left else "")
