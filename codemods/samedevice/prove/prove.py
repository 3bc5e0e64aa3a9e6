"""Prove a change: run the program before and after on the CPU, and after on an accelerator."""

from __future__ import annotations

import difflib
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from samedevice.prove import workspace
from samedevice.prove.checks import Check
from samedevice.prove.compare import Ignored
from samedevice.prove.prover import Prover, Sides
from samedevice.prove.run import Program, ProgramError, RunResult, Settings

__all__ = ["Change", "Check", "Proof", "prove"]


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
    def verdict(self) -> Literal["proved", "not proved", "inconclusive"]:
        """What the checks come to.

        Proved: nothing failed, and something was shown. Inconclusive: nothing failed, but the runs
        do not show what they were to show, as when nothing that was changed ran.
        """
        verdicts = {check.verdict for check in self.checks}
        if "failed" in verdicts or "passed" not in verdicts:
            return "not proved"
        return "inconclusive" if "inconclusive" in verdicts else "proved"

    @property
    def passed(self) -> bool:
        """Whether it is proved."""
        return self.verdict == "proved"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types, with diffs for the changed files."""
        return {
            "before": self.before,
            "after": self.after,
            "program": self.program,
            "passed": self.passed,
            "verdict": self.verdict,
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
    ready: Callable[[], None] = lambda: None,
) -> Proof:
    """Run a program before and after a change, in copies, and compare.

    `before` and `after` are folders, git revisions or single files, seen from the folder `near`
    (default: the working directory); `after` may also be the changed files of `before`, as paths in
    it and their new bytes. `program` is run in each copy; for single files it is the file itself.
    `settings.on` names the accelerator ("virtual", "cuda" or "auto"); "cpu" only compares.
    `ignored` loosens the comparison of outputs (`prove.compare`). `data` are paths that are copied
    to both sides where they lack them, for what is not under version control. `progress` is told
    what runs next; `ready` is called before anything runs. `look` is shown the copies of both
    sides, in which nothing has run, before they are deleted.

    All runs happen at the same path, one after the other, each in a fresh copy that the runs before
    it did not see. Imports that would come from the user's own tree are led to the copy. Raises
    ProgramError when there is nothing that could be run.
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
        changed = workspace.differing(stages["before"], stages["after"])
        texts = {
            path: (workspace.text(stages["before"] / path), workspace.text(stages["after"] / path))
            for path in changed
        }
        sides = Sides(stages["before"], stages["after"], changed, texts, (first.root, second.root))
        prover = Prover(program, settings, sides, root / first.name, ignored, progress)
        ready()
        checks = prover.checks()
        look(stages["before"], stages["after"])
    changes = tuple(Change(path, *text) for path, text in texts.items() if any(text))
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
