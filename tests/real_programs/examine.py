"""One program through every stage: run, fix, parse, fix again, run, compare."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import compare, stage
from .catalogue import Program
from .inputs import supply
from .stage import Run

FIX_LIMIT = 120.0
VIRTUAL_SLOWER = 4  # times the limit of a run on the CPU
STAGES = ("fixed", "parses", "quiet", "after", "equal", "virtual", "on_device", "agrees")
TOLERANCE = 1e-4  # relative, between the CPU and the virtual accelerator


@dataclass
class Examination:
    """What came of each stage. An empty text means that the stage passed.

    ``None`` means that the stage was not reached or not asked for.
    """

    list: str
    name: str
    args: tuple[str, ...]
    commit: str
    supplies: str
    revision: str = ""  # of samedevice
    seconds: float = 0.0  # of the run before, on the CPU
    backwards: int = 0
    before: str | None = None  # runs on the CPU as published
    before_virtual: str | None = None  # runs on the virtual accelerator as published
    fixed: str | None = None
    changed_lines: int = 0
    told: str = ""  # what `fix` said of what it left
    parses: str | None = None
    quiet: str | None = None  # a second fix changes nothing
    after: str | None = None  # runs on the CPU
    equal: str | None = None  # says and computes what it did before
    virtual: str | None = None  # runs on the virtual accelerator
    on_device: str | None = None  # its parameters and losses are there
    agrees: str | None = None  # and it computes what the CPU computes

    @property
    def passed(self) -> bool:
        """Whether every stage that was reached passed, and equality was among them."""
        stages = (self.fixed, self.parses, self.after, self.equal)
        where_asked = (self.quiet, self.virtual, self.on_device, self.agrees)
        return all(stage == "" for stage in stages) and not any(where_asked)

    @property
    def fit(self) -> bool:
        """Whether the program ran as published: on the CPU, or, if it needs CUDA, there."""
        if self.list == "G" and self.before:
            return self.before_virtual == ""
        return not self.before or self.list == "C"

    @property
    def failure(self) -> str:
        """The first stage that failed, and why."""
        for name in STAGES:
            if getattr(self, name):
                return f"{name}: {getattr(self, name)}"
        return ""

    def summary(self) -> str:
        """One line for the terminal."""
        if not self.fit:
            return f"UNFIT {self.list} {self.name}: before: {self.before}"
        word = "ok   " if self.passed else "FAIL "
        return f"{word} {self.list} {self.name} +-{self.changed_lines} {self.failure}"


def examine(
    program: Program,
    corpus: Path,
    *,
    limit: float,
    baselines: Path | None = None,
    diffs: Path | None = None,
    virtual: bool = False,
    once: bool = False,
    revision: str = "",
) -> Examination:
    """Take ``program`` through the stages; no stage raises for what the program does.

    ``once``: without the second fix.
    """
    checkout = program.checkout(corpus)
    commit = checkout / ".corpus-commit"
    result = Examination(
        program.list,
        program.name,
        program.args,
        commit.read_text().strip() if commit.exists() else "",
        program.supplies,
        revision,
    )
    with TemporaryDirectory() as scratch:
        before, after = Path(scratch) / "before", Path(scratch) / "after"
        for folder in (before, after):
            stage.copy_program(program, corpus, folder)
            supply(program, folder)
        published = _Before(program, before, limit, baselines)
        first = published.run
        result.before, result.seconds = first.reason, round(first.seconds, 1)
        result.backwards = len(first.losses)
        if result.before and program.list == "G":
            there = stage.run(program, before, limit * VIRTUAL_SLOWER, on_virtual=True)
            result.before_virtual = there.reason
        if not result.fit and program.list in "FG":
            return result
        _fix(result, program, before, after, diffs, once)
        if result.fixed or result.parses:
            return result
        # Where the fix changed nothing, the run before is the run after.
        run = stage.run(program, after, limit) if result.changed_lines else first
        result.after = run.reason
        if run.finished and first.finished:
            result.equal = compare.difference(first, first, run)
            if result.equal:
                result.equal = compare.difference(first, published.again(), run)
        elif run.finished:
            result.equal = ""  # nothing to compare with: the program could not run before
        if virtual and not result.after:
            _virtual(result, program, after, run, limit)
    return result


class _Before:
    """The program as published: one run, and a second one only where it is needed.

    Both are kept in ``folder`` under what decides their outcome.
    """

    def __init__(self, program: Program, copy: Path, limit: float, folder: Path | None) -> None:
        self._program, self._copy, self._limit = program, copy, limit
        key = hashlib.sha256(repr(program).encode())
        for path in [*sorted(copy.rglob("*")), *sorted(stage.SHIMS.rglob("*.py"))]:
            if path.is_file():
                key.update(path.read_bytes())
        self._kept = folder / key.hexdigest() if folder else None
        self.run = self._once("first")

    def again(self) -> Run:
        """Run it once more, to learn what no two runs have in common."""
        return self._once("again")

    def _once(self, name: str) -> Run:
        kept = self._kept and self._kept.with_suffix(f".{name}.json")
        if kept and kept.exists():
            return Run(**json.loads(kept.read_text(encoding="utf-8")))
        run = stage.run(self._program, self._copy, self._limit)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(asdict(run)), encoding="utf-8")
        return run


def _fix(
    result: Examination,
    program: Program,
    before: Path,
    after: Path,
    diffs: Path | None,
    once: bool,
) -> None:
    run = stage.fix(after, (), FIX_LIMIT)
    # 1: findings are left, which is no failure of the fix.
    result.fixed = "" if run.status in (0, 1) else run.reason or "no reason given"
    result.told = left_to_do(run.stdout + run.stderr, program.path)
    diff = difference_of(before, after)
    result.changed_lines = sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in diff)
    if diffs:
        diffs.mkdir(parents=True, exist_ok=True)
        name = f"{program.list} {program.name}".replace("/", "+")
        (diffs / f"{name}.diff").write_text("".join(diff), encoding="utf-8")
        (diffs / f"{name}.log").write_text(run.stdout + run.stderr, encoding="utf-8")
    result.parses = _parse_errors(before, after)
    if result.fixed or not diff:
        result.quiet = "" if not result.fixed else None
        return
    if once:
        return
    settled = _contents(after)
    stage.fix(after, (), FIX_LIMIT)
    changed = sorted(path for path, data in _contents(after).items() if settled.get(path) != data)
    result.quiet = f"the second fix changed {', '.join(changed)}" if changed else ""


def left_to_do(said: str, path: str) -> str:
    """The line of what `fix` said that tells best what it left; empty where none does.

    What is said of other programs of the folder alone tells nothing of the one at ``path``.
    """
    if path not in said:
        return ""
    lines = [line.strip() for line in said.splitlines()]
    for line in lines:
        if line.startswith(f"{path} stays on the CPU: "):
            return line[:300]
    for sign in ("incomplete: ", " left as found", " undecided: "):
        for line in lines:
            if sign in line:
                return line[:300]
    return ""


def _parse_errors(before: Path, after: Path) -> str:
    """Files that parsed before and do not now."""
    broken = []
    for path in sorted(after.rglob("*.py")):
        old = before / path.relative_to(after)
        if not _parses(path) and (not old.exists() or _parses(old)):
            broken.append(str(path.relative_to(after)))
    return ", ".join(broken)


def _parses(path: Path) -> bool:
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return False
    return True


def _virtual(result: Examination, program: Program, after: Path, cpu: Run, limit: float) -> None:
    run = stage.run(program, after, limit * VIRTUAL_SLOWER, on_virtual=True)
    result.virtual = run.reason
    if not run.finished:
        return
    strangers = {place: n for place, n in run.stepped.items() if place != "cuda"}
    lost = {place: n for place, n in run.losses_on.items() if place != "cuda"}
    if strangers:
        result.on_device = f"parameters stepped elsewhere: {strangers}"
    elif lost:
        result.on_device = f"losses computed elsewhere: {lost}"
    else:
        result.on_device = ""
    if cpu.losses:  # a program may print other sentences where it finds a device
        result.agrees = compare.loss_difference(cpu, cpu, run, TOLERANCE)
    else:
        result.agrees = compare.difference(cpu, cpu, run, tolerance=TOLERANCE, devices=True)


def difference_of(before: Path, after: Path) -> list[str]:
    """Every change between two folders, as a unified diff."""
    old, new = _contents(before), _contents(after)
    lines: list[str] = []
    for path in sorted({*old, *new}):
        left, right = old.get(path, b""), new.get(path, b"")
        if left != right:
            lines += difflib.unified_diff(
                left.decode("utf-8", "replace").splitlines(keepends=True),
                right.decode("utf-8", "replace").splitlines(keepends=True),
                f"a/{path}",
                f"b/{path}",
            )
    return lines


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".py", ".ipynb")
    }
