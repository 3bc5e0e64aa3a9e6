"""``python -m tests.real_programs --corpus DIR``: fix real programs and run them."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock

from . import conversions, report
from .catalogue import LISTS, Program, load
from .examine import Examination, examine

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run what was asked for, add it to the record and write the page from the record."""
    options = _options()
    chosen = [
        program
        for program in load(options.catalogue)
        if program.list in options.list and fnmatch(program.name, f"*{options.only}*")
    ]
    record = Record(options.record, options.catalogue)
    if options.failed:
        good = {_key(outcome) for outcome in record.outcomes() if outcome.passed}
        chosen = [program for program in chosen if _key(program) not in good]

    # One program of each repository first: a run that is cut short is still a fair sample.
    rank = {_key(program): _rank(program, chosen) for program in chosen}
    chosen.sort(key=lambda program: rank[_key(program)])

    def one(program: Program) -> None:
        outcome = examine(
            program,
            options.corpus,
            limit=options.limit,
            baselines=options.baselines,
            diffs=options.diffs,
            virtual=options.virtual,
            once=options.once,
            revision=options.revision,
        )
        record.put(outcome)
        print(outcome.summary(), flush=True)

    with ThreadPoolExecutor(options.jobs) as executor:
        list(executor.map(one, chosen))
    if options.page:
        (conversions if options.catalogue else report).write(record.outcomes(), options.page)
    return 0


class Record:
    """What is known of every program, kept as JSON so that a part can be run again."""

    def __init__(self, path: Path, catalogue: Path | None = None) -> None:
        self.path, self.catalogue = path, catalogue
        self.lock = Lock()
        self.entries: dict[str, dict[str, object]] = {}
        if path.exists():
            self.entries = json.loads(path.read_text(encoding="utf-8"))

    def put(self, outcome: Examination) -> None:
        """Keep an outcome, instead of an older one of the same program."""
        with self.lock:
            self.entries[_key(outcome)] = asdict(outcome)
            text = json.dumps(self.entries, indent=1, ensure_ascii=False, sort_keys=True)
            self.path.write_text(text + "\n", encoding="utf-8")

    def outcomes(self) -> list[Examination]:
        """The outcomes of the programs that the catalogue still lists, in its order."""
        keys = [_key(program) for program in load(self.catalogue)]
        return [Examination(**self.entries[key]) for key in keys if key in self.entries]


def _key(program: Program | Examination) -> str:
    return f"{program.list}: {program.name} {' '.join(program.args)}".strip()


def _rank(program: Program, chosen: list[Program]) -> int:
    return [other for other in chosen if other.repo == program.repo].index(program)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.real_programs", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="checkouts as OWNER+NAME")
    parser.add_argument("--catalogue", type=Path, help="another than programs.toml")
    parser.add_argument("--list", default="".join(LISTS), help="letters: " + str(LISTS))
    parser.add_argument("--only", default="", metavar="PATTERN", help="part of repository/path")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=180.0, help="seconds for each run on CPU")
    parser.add_argument("--virtual", action="store_true", help="run on the virtual accelerator too")
    parser.add_argument("--once", action="store_true", help="without the second fix")
    parser.add_argument("--baselines", type=Path, help="folder that keeps the runs before the fix")
    parser.add_argument("--diffs", type=Path, help="folder that receives every diff")
    parser.add_argument("--revision", default="", help="of samedevice, for the record")
    parser.add_argument("--failed", action="store_true", help="only what did not pass last time")
    parser.add_argument("--record", type=Path, default=ROOT / "docs/proof/real_programs.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/proof/real_programs.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
