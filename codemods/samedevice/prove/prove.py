"""Prove a change: run the program before and after on the CPU, and after on an accelerator."""

from __future__ import annotations

import difflib
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from samedevice.prove import compare, workspace
from samedevice.prove.compare import Ignored
from samedevice.prove.display import describe_losses
from samedevice.prove.run import (
    Program,
    ProgramError,
    RunResult,
    Settings,
    Status,
    run_program,
)

Verdict = Literal["passed", "failed", "skipped", "noted"]
_LIMITS: frozenset[Status] = frozenset({"time", "memory", "output", "interrupted"})


@dataclass(frozen=True)
class Check:
    """One thing that was to be shown. "noted" and "skipped" ones decide nothing."""

    name: str
    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True)
class Change:
    """A text file that differs; None where it does not exist."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """Return the change as a unified diff."""
        return "".join(
            difflib.unified_diff(
                (self.before or "").splitlines(True),
                (self.after or "").splitlines(True),
                f"a/{self.path}" if self.before is not None else "/dev/null",
                f"b/{self.path}" if self.after is not None else "/dev/null",
            )
        )


@dataclass(frozen=True)
class Proof:
    """What the runs showed. `runs` are by name ("before on cpu"), in the order they ran."""

    before: str
    after: str
    program: str
    checks: tuple[Check, ...]
    runs: Mapping[str, RunResult]
    changes: tuple[Change, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed, and something was shown."""
        verdicts = {check.verdict for check in self.checks}
        return "failed" not in verdicts and "passed" in verdicts

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types, with diffs for the changed files."""
        return {
            "before": self.before,
            "after": self.after,
            "program": self.program,
            "passed": self.passed,
            "checks": [vars(check) for check in self.checks],
            "runs": {name: run.to_json() for name, run in self.runs.items()},
            "changes": [{"path": one.path, "diff": one.diff} for one in self.changes],
        }


def prove(
    before: str | Path,
    after: str | Path | Mapping[str, bytes],
    program: Program | str | Sequence[str] | None = None,
    *,
    settings: Settings | None = None,
    ignored: Collection[Ignored] = (),
    exclude: Sequence[str] = (),
    data: Sequence[str | Path] = (),
    near: Path | None = None,
    progress: Callable[[str], None] = lambda what: None,
    look: Callable[[Path, Path], None] = lambda before, after: None,
) -> Proof:
    """Run a program before and after a change, in copies, and compare.

    `before` and `after` are folders, git revisions or single files, seen from the folder `near`
    (default: the working directory); `after` may also be the changed files of `before`, as paths in
    it and their new bytes. `program` is run in each copy; for single files it is the file itself.
    `settings.on` names the accelerator ("virtual", "cuda" or "auto"); "cpu" only compares.
    `ignored` loosens the comparison of outputs (`prove.compare`). `data` are paths that are copied
    to both sides where they lack them, for what is not under version control. `progress` is told
    what runs next; `look` is shown the copies of both sides, in which nothing has run, before they
    are deleted.

    All runs happen at the same path, one after the other, each in a fresh copy that the runs before
    it did not see. Raises ProgramError when there is nothing that could be run.
    """
    settings = settings or Settings()
    near = near or Path.cwd()
    first = workspace.find(before, near)
    if isinstance(after, Mapping):
        second = replace(first, label="after", replaced=after)
    else:
        second = workspace.find(after, near)
    if (first.file is None) != (second.file is None):
        raise ProgramError("BEFORE and AFTER must both be files, or both folders or revisions")
    if program is None:
        if second.file is None:
            raise ProgramError("the program to run was not named: --entry main.py")
        program = Program(second.file.name)
    elif not isinstance(program, Program):
        program = Program.parse(program)

    with tempfile.TemporaryDirectory(prefix="samedevice-") as folder:
        root = Path(folder).resolve()
        stages = {"before": root / "stage-before", "after": root / "stage-after"}
        for origin, stage in ((first, stages["before"]), (second, stages["after"])):
            progress(f"copying {origin.label}")
            workspace.copy(origin, stage, file_name=program.target, exclude=exclude)
            _add(data, stage, near)
        prover = _Prover(program, settings, stages, root / first.name, ignored, progress)
        checks = prover.checks()
        changes = _changes(stages)
        look(stages["before"], stages["after"])
    return Proof(first.label, second.label, str(program), checks, prover.runs, changes)


def _add(data: Sequence[str | Path], stage: Path, near: Path) -> None:
    for item in data:
        source = near / item
        target = stage / (source.name if Path(item).is_absolute() else item)
        if target.exists():
            continue
        if source.is_dir():
            workspace.copy_folder(source, target)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        else:
            raise ProgramError(f"{item}: no such file or folder")


def _changes(stages: Mapping[str, Path]) -> tuple[Change, ...]:
    before, after = (dict(workspace.texts(stages[side])) for side in ("before", "after"))
    return tuple(
        Change(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


class _Prover:
    """Runs what has to run, in order, and draws the conclusions."""

    def __init__(
        self,
        program: Program,
        settings: Settings,
        stages: Mapping[str, Path],
        place: Path,
        ignored: Collection[Ignored],
        progress: Callable[[str], None],
    ) -> None:
        self._program, self._settings, self._stages = program, settings, stages
        self._place, self._ignored, self._progress = place, ignored, progress
        self._written: dict[str, dict[str, str]] = {}
        self.runs: dict[str, RunResult] = {}

    def checks(self) -> tuple[Check, ...]:
        found: list[Check] = []
        before = self._run("before", "cpu")
        after = self._run("after", "cpu")
        wants_accelerator = before.clash is not None and before.clash.kind in ("missing", "load")
        if wants_accelerator:
            found.append(Check("before runs on cpu", "noted", f"it cannot: {before.message}"))
        else:
            found.append(_ran("before runs on cpu", before))
        found.append(_ran("after runs on cpu", after, like=before))
        if self._settings.on == "cpu":
            return (*found, *self._same("cpu", before, after))
        accelerated = self._run("after", "accelerator")
        if wants_accelerator:
            reference = self._run("before", "accelerator")
            found += self._same("accelerator", reference, accelerated)
        else:
            found += self._same("cpu", before, after)
        found.append(_ran(f"after runs on {accelerated.on} {_device(accelerated)}", accelerated))
        found += _really_on_device(accelerated)
        return tuple(found)

    def _run(self, side: Literal["before", "after"], where: str, again: str = "") -> RunResult:
        name = f"{side} on {where}{again}"
        self._progress(f"running {name}")
        shutil.copytree(self._stages[side], self._place, symlinks=True)
        settings = self._settings
        if where == "cpu":
            settings = replace(settings, on="cpu")
        temporary = self._place.with_name("tmp")
        temporary.mkdir()
        env = {"TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
        settings = replace(settings, env={**settings.env, **env})
        try:
            result = run_program(self._program, cwd=self._place, settings=settings)
            self._written[name] = _new_files(self._stages[side], self._place)
        finally:
            shutil.rmtree(self._place, ignore_errors=True)
            shutil.rmtree(temporary, ignore_errors=True)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        self.runs[name] = result
        return result

    def _same(self, where: str, before: RunResult, after: RunResult) -> list[Check]:
        """Compare two runs in one place; when they differ, see whether `before` always does."""
        names = f"same output on {where}", f"same losses on {where}", f"same files on {where}"
        if _LIMITS & {before.status, after.status} or "refused" in (before.status, after.status):
            return [Check(names[0], "skipped", "there are not two whole runs to compare")]
        output, losses = self._differences(before, after)
        if (output or losses) and self._settings.seed is None:
            once_more = self._run("before", where, " again")
            if any(self._differences(before, once_more)):
                advice = "two runs of BEFORE differ as well: fix the randomness with --seed 0"
                if not self._ignored:
                    advice += ", or let times differ with --ignore timings"
                return [Check(names[0], "failed", advice)]
        found = [Check(names[0], "failed" if output else "passed", output or _size(after))]
        if before.record and after.record and (before.record.losses.count or losses):
            told = losses or describe_losses(after.record)
            found.append(Check(names[1], "failed" if losses else "passed", told))
        found += self._files(names[2], f"before on {where}", f"after on {where}")
        return found

    def _differences(self, one: RunResult, two: RunResult) -> tuple[str, str]:
        output = compare.differing_line(one.stdout, two.stdout, self._ignored)
        if not output and one.exit_code != two.exit_code:
            output = f"exit code {one.exit_code} before, {two.exit_code} after"
        losses = ""
        if one.record is not None and two.record is not None:
            losses = compare.differing_loss(one.record, two.record)
        return output, losses

    def _files(self, name: str, before: str, after: str) -> list[Check]:
        """Compare the files that two runs wrote. Their content often holds times: only noted."""
        one, two = self._written.get(before, {}), self._written.get(after, {})
        if not one and not two:
            return []
        only = sorted(one.keys() ^ two.keys())
        other = sorted(path for path in one.keys() & two.keys() if one[path] != two[path])
        if only:
            return [Check(name, "noted", f"written by one only: {', '.join(only[:5])}")]
        if other:
            return [Check(name, "noted", f"different content: {', '.join(other[:5])}")]
        return [Check(name, "passed", f"{len(one)} files, byte for byte")]


def _ran(name: str, run: RunResult, like: RunResult | None = None) -> Check:
    if run.passed or (like is not None and run.status == "exited" == like.status):
        return Check(name, "passed", f"{run.seconds:.1f} s")
    return Check(name, "failed", f"{run.status}: {run.message}")


def _device(run: RunResult) -> str:
    return run.device if run.device not in (run.on, "cpu") else ""


def _really_on_device(run: RunResult) -> list[Check]:
    """Show that an accelerated run did its work there."""
    device, record = run.device, run.record
    if record is None or device == "cpu":
        return []
    found = []
    all_of_them = sum(sum(names.values()) for names in record.operations.values())
    there = record.count(device)
    found.append(
        Check(
            f"operations on {device}",
            "passed" if there else "failed",
            f"{there:,} of {all_of_them:,}",
        )
    )
    for optimizer in record.optimizers:
        elsewhere = {
            place: count
            for place, count in optimizer.devices.items()
            if place.split(":")[0] != device
        }
        places = ", ".join(f"{count} on {place}" for place, count in optimizer.devices.items())
        found.append(
            Check(
                f"parameters of {optimizer.name} on {device}",
                "failed" if elsewhere else "passed",
                f"{places or 'none had a gradient'}; {optimizer.steps:,} steps",
            )
        )
    if record.losses.count:
        verdict: Verdict = "failed" if record.losses.infinite else "passed"
        found.append(Check("losses finite", verdict, describe_losses(record)))
    return found


def _size(run: RunResult) -> str:
    return f"{run.stdout.size:,} bytes" if run.stdout.size else "it prints nothing"


def _new_files(stage: Path, place: Path) -> dict[str, str]:
    """Return the files that a run wrote or changed, with the digest of their content."""
    found = {}
    for path in workspace.files(place):
        digest = _digest(place / path)
        old = stage / path
        if not old.is_file() or _digest(old) != digest:
            found[path] = digest
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        found = hashlib.sha256()
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()
