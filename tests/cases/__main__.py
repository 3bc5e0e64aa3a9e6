"""Show what `samedevice fix --yes` does to the cases, and what of it breaks.

    python -m tests.cases [--quiet] [NAME...]
    python -m tests.cases --folder FOLDER [NAME...]

A NAME is a part of a case's. Every program or folder in FOLDER is a case, too: of it there is only
asked that what ran before runs after, and prints the same on the CPU.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator
from pathlib import Path

from .catalogue import Case, Files, cases, objections, texts
from .running import Ran, Runner, Where, broken, repaired


def _listed(folder: Path | None, names: list[str]) -> Iterator[tuple[Case, Files]]:
    if folder is None:
        found = [(case, case.files) for case in cases()]
    else:
        found = []
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                files = texts(path)
                entry = min(files, key=lambda name: (name.count("/"), "main" not in name, name))
                found.append((Case(path.name, "", cpu="any", entry=entry), files))
            elif path.suffix == ".py":
                found.append((Case(path.stem, "", cpu="any"), {"main.py": path.read_text("utf-8")}))
    for case, files in found:
        if not names or any(name in case.name for name in names):
            yield case, files


def _went(ran: Ran) -> str:
    return "runs" if ran.code == 0 else f"fails: {ran.last_line[:150]}"


def _show(case: Case, files: Files, runner: Runner, quiet: bool) -> bool:
    """Print what becomes of a case; return whether it is as it should be."""
    after, wrong = repaired(files)
    wrong += objections(case, files, after)
    lines = [f"should: {case.should}"] if case.should else []
    for path in after:
        old, new = files.get(path, "").splitlines(), after[path].splitlines()
        lines += list(difflib.unified_diff(old, new, path, path, n=1, lineterm=""))
    where: Where
    for where in ("cpu", "virtual"):
        first = runner.run(files, case.entry, where, gpus=case.gpus)
        second = first if files == after else runner.run(after, case.entry, where, gpus=case.gpus)
        lines.append(f"{where}: {_went(first)} -> {_went(second)}")
        wrong += broken(case, first, second, where)
    good = not wrong
    print(f"{'ok  ' if good else 'BAD '} {case.name}{'' if good else ': ' + '; '.join(wrong)}")
    if not quiet:
        print("\n".join(f"    {line}" for line in lines))
    return good


def main() -> None:
    """Show the cases that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--quiet", action="store_true", help="one line for each")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with Runner() as runner:
        good = [
            _show(case, files, runner, options.quiet)
            for case, files in _listed(options.folder, options.names)
        ]
    print(f"{sum(good)} of {len(good)} are as they should be")


if __name__ == "__main__":
    main()
