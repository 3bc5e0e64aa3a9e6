"""Show what `samedevice fix --yes` does to the programs of the suite, and what of it is wrong.

    python -m tests.suite [--text] [--diff] [NAME...]
    python -m tests.suite --page

A NAME is a part of a program's. `--text` runs nothing. `--diff` shows every repair. `--page` writes
docs/proof/suite.md, and nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
from collections.abc import Iterator

from tests.cases.running import Runner

from . import catalogue, running
from .catalogue import Program, Repaired, programs, repaired
from .page import PAGE, page


def _diff(program: Program, after: Repaired) -> Iterator[str]:
    for path, text in after.files.items():
        old, new = program.files.get(path, "").splitlines(), text.splitlines()
        yield from difflib.unified_diff(old, new, path, path, n=1, lineterm="")
    yield from (f"told: {text}" for text in after.told)


def _wrong(program: Program, after: Repaired, runner: Runner | None) -> list[str]:
    found = [f"text: {text}" for text in catalogue.objections(program, after)]
    if runner is None:
        return found
    before = running.run(program.files, runner)
    found += [f"TABLE: {text}" for text in running.is_as_told(program, before)]
    then = before if after.files == program.files else running.run(after.files, runner)
    return found + [f"run: {text}" for text in running.objections(program, after, before, then)]


def main() -> None:
    """Show the programs that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", action="store_true", help="run nothing")
    parser.add_argument("--diff", action="store_true", help="show every repair")
    parser.add_argument("--page", action="store_true", help="write docs/proof/suite.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(), "utf-8")
        return
    bad = 0
    with contextlib.ExitStack() as stack:
        runner = None if options.text else stack.enter_context(Runner())
        for program in programs():
            if options.names and not any(name in program.name for name in options.names):
                continue
            after = repaired(program)
            wrong = _wrong(program, after, runner)
            bad += bool(wrong)
            if wrong or options.diff:
                known = "known " if program.pending else ""
                print(f"{known}{program.name}: {'; '.join(wrong) or 'good'}", flush=True)
            if options.diff:
                print("\n".join(f"    {line}" for line in _diff(program, after)), flush=True)
    print(f"{bad} are not as they should be")


if __name__ == "__main__":
    main()
