"""Take the device handling out of programs that are right, and let samedevice restore it.

    python -m tests.benchmarks.bench_mutation [--each N] [--only TEXT] [--seed N]
    python -m tests.benchmarks.bench_mutation --corpus DIR --program NAME...

The programs are the fixtures that are right, or programs of tests/real_programs, by a part of their
name. A mutant is made mechanically, without asking samedevice:

- one: one `.to(...)`, `.cpu()`, `device=` or `map_location=` is taken out
- all: all of them but the first, so that the program still says that it wants the device
- cuda: every `.to(device)` becomes `.cuda()`, and every other `device` an argument `"cuda"`

Of the first two, one that does not print on the CPU what the original prints lost more than device
handling (a dtype, an argument that is needed), and is none. One that also runs on the virtual
accelerator asks for no repair: it is harmless and not counted. A mutant is recovered when what
samedevice makes of it prints on the CPU what the original prints, and runs on the virtual
accelerator. Lines are those that differ.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.cases import cases, texts
from tests.fixtures.test_restored import start_of_attribute, without_one_move
from tests.real_programs import catalogue, compare, stage

from samedevice.migration import migrate
from samedevice.reading.config import load

FORKSERVER = Path(__file__).parents[1] / "fixtures" / "forkserver.py"
DEVICES = ("device", "self.device", "args.device", "DEVICE", "opt.device", "config.device")
LIMIT = 300  # seconds of one real program
KINDS = ("one", "all", "cuda")

Files = dict[str, str]


@dataclass
class Ran:
    """How a program went: its exit code, and what it printed and computed."""

    code: int
    printed: object


class Fixture:
    """A fixture that is right."""

    def __init__(self, case, server: subprocess.Popen[str], scratch: Path) -> None:  # type: ignore[no-untyped-def]
        self.case, self.server, self.scratch = case, server, scratch
        self.name, self.unsafe = case.name, case.unsafe

    def files(self) -> Files:
        """Return its texts."""
        return self.case.files(self.case.versions[-1])  # type: ignore[no-any-return]

    def run(self, files: Files, on: str) -> Ran:
        """Run it with these texts."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        _write(files, folder)
        request = {"id": 0, "folder": str(folder), "entry": self.case.entry, "on": on}
        request |= {"args": self.case.args, "report": f"{folder}.json"}
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        return Ran(answer["code"], answer["stdout"])

    def same(self, one: Ran, other: Ran) -> bool:
        """Whether two runs printed the same."""
        return one.printed == other.printed


class Real:
    """A program of tests/real_programs."""

    def __init__(self, program: catalogue.Program, corpus: Path, scratch: Path) -> None:
        self.program, self.corpus, self.scratch = program, corpus, scratch
        self.name, self.unsafe = program.name, False

    def files(self) -> Files:
        """Return its texts, without its data."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        stage.copy_program(self.program, self.corpus, folder)
        found = {}
        for path in sorted(folder.rglob("*.py")):
            found[path.relative_to(folder).as_posix()] = path.read_text("utf-8")
        return found

    def run(self, files: Files, on: str) -> Ran:
        """Run it with these texts."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        stage.copy_program(self.program, self.corpus, folder)
        _write(files, folder)
        ran = stage.run(self.program, folder, LIMIT, on_virtual=on == "virtual")
        return Ran(0 if ran.finished else 1, ran)

    def same(self, one: Ran, other: Ran) -> bool:
        """Whether two runs said and computed the same."""
        left, right = one.printed, other.printed
        assert isinstance(left, stage.Run) and isinstance(right, stage.Run)
        return left.losses == right.losses and compare.tokens(left.stdout) == compare.tokens(
            right.stdout
        )


def mutants(files: Files, entry: str | None = None) -> Iterator[tuple[str, Files]]:
    """Yield the kind and the texts of every mutant."""
    for path, text in files.items():
        if path.endswith(".py") and text.isascii():
            for _, changed in without_one_move(text):
                yield "one", files | {path: changed}
    moves_itself = any("def to(" in text and "def cuda(" not in text for text in files.values())

    def for_cuda(text: str) -> str:
        return _for_cuda(text, '.to("cuda")' if moves_itself else ".cuda()")

    for kind, change in (("all", _without_all), ("cuda", for_cuda)):
        changed = {
            path: change(text) if path.endswith(".py") and text.isascii() else text
            for path, text in files.items()
        }
        if changed != files:
            yield kind, changed


def _without_all(text: str) -> str:
    """Return `text` without any move but the one that stands first."""
    while True:
        found = sorted(without_one_move(text))
        if len(found) < 2:
            return text
        text = found[-1][1]


def _for_cuda(text: str, move: str) -> str:
    """Return `text` with CUDA in the place of every use of its device."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int | None, column: int | None) -> int:
        assert line is not None and column is not None
        return starts[line - 1] + column

    edits = []
    tree = ast.parse(text)
    in_text = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
               for part in ast.walk(node)}  # fmt: skip
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node in in_text:
            continue
        moves = isinstance(node.func, ast.Attribute) and node.func.attr == "to"
        if moves and len(node.args) == 1 and not node.keywords and _names_device(node.args[0]):
            start = start_of_attribute(text, node.func, at)  # type: ignore[arg-type]
            edits.append((start, at(node.end_lineno, node.end_col_offset), move))
        for keyword in node.keywords:
            if keyword.arg in ("device", "map_location") and _names_device(keyword.value):
                value = keyword.value
                start = at(value.lineno, value.col_offset)
                edits.append((start, at(value.end_lineno, value.end_col_offset), '"cuda"'))
    for start, end, code in sorted(edits, reverse=True):
        text = text[:start] + code + text[end:]
    return text


def _names_device(node: ast.expr) -> bool:
    return ast.unparse(node) in DEVICES


def restored(files: Files, unsafe: bool, scratch: Path) -> Files:
    """Return what samedevice makes of `files`."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    _write(files, folder)
    config = load([str(folder)]).with_flags(unsafe=unsafe)
    outcome = migrate.migrate(migrate.read([str(folder)], config), config)
    migrate.apply(outcome)
    return texts(folder)


def difference(one: Files, other: Files) -> int:
    """Count the lines that two versions do not share."""
    count = 0
    for path in {*one, *other}:
        lines = (side.get(path, "").splitlines() for side in (one, other))
        count += sum(line[0] in "+-" for line in list(difflib.unified_diff(*lines, n=0))[2:])
    return count


@dataclass
class Tally:
    """What came of the mutants of one kind."""

    broken: int = 0
    lost: list[str] = None  # type: ignore[assignment]  # the programs that were not recovered
    harmless: int = 0
    recovered: int = 0
    exact: int = 0
    taken: list[int] = None  # type: ignore[assignment]  # lines that the mutation changed
    left: list[int] = None  # type: ignore[assignment]  # lines that the repair is away

    def __post_init__(self) -> None:
        self.taken, self.left, self.lost = [], [], []


def measure(subjects: list[Fixture] | list[Real], each: int, seed: int, scratch: Path,
            show: bool, minutes: float) -> dict[str, Tally]:  # fmt: skip
    """Mutate every program and restore it."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    end = time.monotonic() + minutes * 60
    for number, subject in enumerate(subjects):
        if time.monotonic() > end:
            print(f"The time was up after {number} of {len(subjects)} programs.\n")
            break
        chance = random.Random(f"{seed} {subject.name}")
        files = subject.files()
        made = list(dict.fromkeys((kind, json.dumps(m)) for kind, m in mutants(files)))
        some = [item for item in made if item[0] == "one"]
        some = chance.sample(some, min(each, len(some)))
        some += [item for item in made if item[0] != "one"]
        if not some:
            continue
        cpu = subject.run(files, "cpu")
        if cpu.code or subject.run(files, "virtual").code:
            print(f"{subject.name}: does not run as it is", file=sys.stderr)
            continue
        for kind, text in some:
            mutant = json.loads(text)
            if kind != "cuda" and not _right(subject, mutant, cpu):
                continue
            tally = tallies[kind]
            if kind != "cuda" and not subject.run(mutant, "virtual").code:
                tally.harmless += 1
                continue
            tally.broken += 1
            after = restored(mutant, subject.unsafe, scratch)
            if after == files or (
                not subject.run(after, "virtual").code and _right(subject, after, cpu)
            ):
                tally.recovered += 1
                tally.exact += after == files
                tally.taken.append(difference(files, mutant))
                tally.left.append(difference(files, after))
                continue
            tally.lost.append(subject.name)
            if show:
                print(f"--- {subject.name}: {kind} is not recovered")
                for path in after:
                    sys.stdout.writelines(difflib.unified_diff(
                        files.get(path, "").splitlines(True), after[path].splitlines(True),
                        f"original/{path}", f"restored/{path}", n=1))  # fmt: skip
        print(f"{number + 1} of {len(subjects)}: {subject.name}", file=sys.stderr, flush=True)
    return tallies


def _right(subject: Fixture | Real, files: Files, cpu: Ran) -> bool:
    """Tell whether a version prints on the CPU what the original does."""
    here = subject.run(files, "cpu")
    return not here.code and subject.same(here, cpu)  # type: ignore[arg-type]


def table(tallies: dict[str, Tally]) -> str:
    """Return the figures as Markdown."""
    lines = [
        "| mutation | mutants | harmless | recovered | to the letter "
        "| lines taken, median | lines away from the original, median (mean) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in KINDS:
        one = tallies.get(kind)
        if one is None:
            continue
        share = f"{one.recovered} of {one.broken} ({one.recovered / max(one.broken, 1):.0%})"
        taken = statistics.median(one.taken) if one.taken else 0
        left = statistics.median(one.left) if one.left else 0
        mean = statistics.mean(one.left) if one.left else 0
        lines.append(
            f"| {kind} | {one.broken + one.harmless} | {one.harmless} | {share} | {one.exact} "
            f"| {taken:g} | {left:g} ({mean:.1f}) |"
        )
    lost = [f"{kind}: {', '.join(one.lost)}" for kind, one in tallies.items() if one.lost]
    return "\n".join([*lines, *(["", "Not recovered: " + "; ".join(lost)] if lost else [])])


def _write(files: Files, folder: Path) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=3, help="mutants that lack one move")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="fixtures whose name has this in it")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--program", nargs="+", default=[])
    parser.add_argument("--show", action="store_true", help="show what is not recovered")
    parser.add_argument("--minutes", type=float, default=1e9, help="no program is begun after")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        given = options.each, options.seed, scratch, options.show, options.minutes
        if options.corpus:
            real = [
                Real(program, options.corpus, scratch)
                for program in catalogue.load()
                if any(name in program.name for name in options.program)
            ]
            print(table(measure(real, *given)))
            return
        with subprocess.Popen(
            [sys.executable, str(FORKSERVER), "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as server:
            right = [
                Fixture(case, server, scratch)
                for case in cases()
                if options.only in case.name and not case.on_host and not case.needs
            ]
            print(table(measure(right, *given)))
            assert server.stdin is not None
            server.stdin.close()


if __name__ == "__main__":
    main()
