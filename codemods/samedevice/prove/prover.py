"""Run both sides of a change, in order, and gather what that shows (`prove.checks`)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from samedevice.prove import checks, compare, trail, workspace
from samedevice.prove.checks import Check
from samedevice.prove.compare import Ignored
from samedevice.prove.display import describe_losses
from samedevice.prove.lead import Lead
from samedevice.prove.reach import reach
from samedevice.prove.run import Program, RunResult, Settings, Status, run_program

_LIMITS: frozenset[Status] = frozenset({"time", "memory", "output", "interrupted"})


@dataclass(frozen=True)
class Sides:
    """Both sides of a change, in copies that nothing has run in.

    `changed` are the paths that differ, `texts` their content on both sides where that is text.
    `roots` are the user's folders or files that the copies are of.
    """

    before: Path
    after: Path
    changed: Sequence[str]
    texts: Mapping[str, tuple[str | None, str | None]]
    roots: Collection[Path]


class Prover:
    """Runs what has to run at the path `place`, and draws the conclusions."""

    def __init__(
        self,
        program: Program,
        settings: Settings,
        sides: Sides,
        place: Path,
        ignored: Collection[Ignored],
        progress: Callable[[str], None],
    ) -> None:
        self._program, self._settings, self._sides = program, settings, sides
        self._place, self._ignored, self._progress = place, ignored, progress
        self._written: dict[str, dict[str, Path]] = {}
        self._ran: dict[str, trail.Ran] = {}
        self.runs: dict[str, RunResult] = {}

    def checks(self) -> tuple[Check, ...]:
        """Run, and return what was shown and what was not."""
        found: list[Check] = []
        before = self._run("before", "cpu")
        after = self._run("after", "cpu")
        wants_accelerator = before.clash is not None and before.clash.kind in ("missing", "load")
        if wants_accelerator:
            found.append(Check("before runs on cpu", "noted", f"it cannot: {before.message}"))
        else:
            like = before if before.status == "exited" == after.status else None
            found.append(checks.ran("before runs on cpu", before, like))
        found.append(checks.ran("after runs on cpu", after, before))
        if self._settings.on == "cpu":
            return (*found, *self._same("cpu"), *self._reached("after on cpu"))
        accelerated = self._run("after", "accelerator")
        if wants_accelerator:
            self._run("before", "accelerator")
        found += self._same("accelerator" if wants_accelerator else "cpu")
        name = f"after runs on {accelerated.on}"
        if accelerated.device not in (accelerated.on, "cpu"):
            name += f" {accelerated.device}"
        row = checks.ran(name, accelerated, after)
        found += [row, *checks.on_device(accelerated, after)]
        if row.verdict == "passed" and accelerated.device != "cpu":
            found = self._excused(found, accelerated)
            found += self._like_the_cpu(after, accelerated)
        return (*found, *self._reached("after on accelerator"))

    def _run(self, side: Literal["before", "after"], where: str, again: str = "") -> RunResult:
        name = f"{side} on {where}{again}"
        if name in self.runs:
            return self.runs[name]
        self._progress(f"running {name}")
        stage = self._sides.before if side == "before" else self._sides.after
        shutil.copytree(stage, self._place, symlinks=True)
        number = len(self.runs)
        trail_file = self._place.with_name(f"trail-{number}")
        temporary = self._place.with_name("tmp")
        temporary.mkdir()
        env = {"TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
        settings = self._settings
        settings = replace(
            settings,
            on="cpu" if where == "cpu" else settings.on,
            # what BEFORE computes on the CPU is compared, but not where, and in which types
            record=settings.record and not (side == "before" and where == "cpu"),
            steps=settings.record,
            sums=settings.record,
            env={**settings.env, **env},
            lead=self._lead(trail_file, side == "after"),
        )
        try:
            result = run_program(self._program, cwd=self._place, settings=settings)
            self._ran[name] = self._relative(trail.read(trail_file))
            self._written[name] = _keep(stage, self._place, self._place.with_name(f"out-{number}"))
        finally:
            shutil.rmtree(self._place, ignore_errors=True)
            shutil.rmtree(temporary, ignore_errors=True)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        self.runs[name] = result
        return result

    def _lead(self, trail_file: Path, lines: bool) -> Lead:
        roots = {}
        for root in self._sides.roots:
            copy = self._place if root.is_dir() else self._place / self._program.target
            for name in (os.path.abspath(root), os.path.realpath(root)):
                roots[name] = str(copy)
        changed = [str(self._place / path) for path in self._sides.changed]
        return Lead(str(self._place), str(trail_file), roots, changed, lines)

    def _relative(self, ran: trail.Ran) -> trail.Ran:
        def inside(path: str) -> str:
            return os.path.relpath(path, self._place).replace(os.sep, "/")

        return trail.Ran(
            {inside(path) for path in ran.files},
            {inside(path): lines for path, lines in ran.lines.items()},
            ran.strays,
        )

    def _reached(self, name: str) -> list[Check]:
        """Show that the change ran, and only what was copied."""
        result = self.runs[name]
        if result.status == "refused":
            return []
        found = reach(self._sides.changed, self._sides.texts, self._ran[name])
        strays = [stray for ran in self._ran.values() for stray in ran.strays]
        written = self._written[name]
        return [*checks.reached(found, strays), *checks.something_to_see(result, written)]

    # Before and after, in one place: exactly the same

    def _same(self, where: str) -> list[Check]:
        """Compare two runs in one place; when they differ, see whether `before` always does."""
        before, after = self.runs[f"before on {where}"], self.runs[f"after on {where}"]
        if _LIMITS & {before.status, after.status} or "refused" in (before.status, after.status):
            told = "there are not two whole runs to compare"
            return [Check(f"same output on {where}", "skipped", told)]
        differences = self._differences(before, after)
        if any(differences.values()):
            once_more = self._run("before", where, " again")
            if any(self._differences(before, once_more).values()):
                told = f"two runs of BEFORE differ as well: {self._steadied()}"
                return [Check(f"same output on {where}", "failed", told)]
        size = f"{after.stdout.size:,} bytes" if after.stdout.size else "it prints nothing"
        shown = {"output": size, "losses": "", "parameters": "", "random numbers": ""}
        if before.record and after.record:
            if before.record.losses.count:
                shown["losses"] = describe_losses(after.record)
            if steps := sum(one.steps for one in after.record.optimizers):
                shown["parameters"] = f"{steps:,} step{'s' * (steps != 1)} of "
                shown["parameters"] += f"{len(after.record.optimizers)} optimizer"
                shown["parameters"] += "s" * (len(after.record.optimizers) != 1)
        found = [
            Check(f"same {what} on {where}", "failed" if difference else "passed",
                  difference or shown[what])
            for what, difference in differences.items()
            if difference or shown[what]
        ]  # fmt: skip
        return [*found, *self._files(f"same files on {where}", where)]

    def _steadied(self) -> str:
        """Return how a program may be brought to do the same thing twice."""
        told = []
        if self._settings.seed is None:
            told.append("fix the randomness with --seed 0")
        if not self._ignored:
            told.append("let times differ with --ignore timings")
        if os.environ.get("OMP_NUM_THREADS") != "1":
            told.append("set OMP_NUM_THREADS=1 for one order of summation")
        return ", or ".join(told) or "the change did not cause this"

    def _differences(self, one: RunResult, two: RunResult) -> dict[str, str]:
        output = compare.differing_line(one.stdout, two.stdout, self._ignored)
        if not output and one.exit_code != two.exit_code:
            output = f"exit code {one.exit_code} before, {two.exit_code} after"
        losses = parameters = drawn = ""
        if one.record is not None and two.record is not None:
            losses = compare.differing_loss(one.record, two.record)
            parameters = compare.differing_step(one.record, two.record)
            # Without a seed each process begins in a state of its own.
            if self._settings.seed is not None and one.record.random != two.record.random:
                drawn = "another number of random values was drawn: torch's generator differs"
        return {
            "output": output, "losses": losses, "parameters": parameters, "random numbers": drawn,
        }  # fmt: skip

    def _files(self, name: str, where: str) -> list[Check]:
        one, two = self._written[f"before on {where}"], self._written[f"after on {where}"]
        found = checks.files(name, one, two, ignored=self._ignored)
        if any(check.verdict == "failed" for check in found):
            unstable = self._unstable(where)
            return checks.files(name, one, two, ignored=self._ignored, unstable=unstable)
        return found

    def _unstable(self, where: str) -> dict[str, str]:
        """Return the files that two runs of BEFORE do not write alike: times, random names."""
        self._run("before", where, " again")
        return checks.file_differences(
            self._written[f"before on {where}"], self._written[f"before on {where} again"]
        )

    # The CPU and the accelerator: the same but for what `prove.alike` lets differ

    def _like_the_cpu(self, cpu: RunResult, accelerated: RunResult) -> list[Check]:
        found = checks.same_as_cpu(cpu, accelerated, self._ignored)
        one, two = self._written["after on cpu"], self._written["after on accelerator"]
        name, tolerance = f"{accelerated.device} writes what cpu writes", checks.tolerance_of
        rows = checks.files(
            name, one, two, ignored=self._ignored, on=accelerated.device,
            tolerance=tolerance(accelerated),
        )  # fmt: skip
        if any(check.verdict == "failed" for check in rows):
            where = "cpu" if self.runs["before on cpu"].passed else "accelerator"
            rows = checks.files(
                name, one, two, ignored=self._ignored, on=accelerated.device,
                tolerance=tolerance(accelerated), unstable=self._unstable(where),
            )  # fmt: skip
        return self._excused([*found, *rows], accelerated, all_of_them=True)

    def _excused(
        self, found: list[Check], accelerated: RunResult, all_of_them: bool = False
    ) -> list[Check]:
        """Note what AFTER does on the accelerator if BEFORE does the very same there.

        On a real one the numbers are others anyway: they are noted as well.
        """
        excusable = [
            check
            for check in found
            if check.verdict == "failed" and (all_of_them or check.name == checks.CAUGHT)
        ]
        if not excusable:
            return found
        if "device" in self._ignored:
            why = "ignored"
        elif accelerated.on != "virtual" and all_of_them:
            why = "a real device has numbers of its own"
        elif self._is_as_before(accelerated):
            why = "BEFORE does the same there"
        else:
            return found
        return [
            replace(check, verdict="noted", detail=f"{check.detail}; {why}")
            if check in excusable
            else check
            for check in found
        ]

    def _is_as_before(self, accelerated: RunResult) -> bool:
        before = self._run("before", "accelerator")
        if before.exit_code != accelerated.exit_code or not before.record or not accelerated.record:
            return False
        if len(before.record.refused) != len(accelerated.record.refused):
            return False
        if any(self._differences(before, accelerated).values()):
            return False
        written = self._written["before on accelerator"], self._written["after on accelerator"]
        return not checks.file_differences(*written, ignored=self._ignored)


def _keep(stage: Path, place: Path, to: Path) -> dict[str, Path]:
    """Move the files that a run wrote or changed to the folder `to`; return them by path."""
    found = {}
    for path in workspace.files(place):
        if not workspace.same(stage / path, place / path):
            found[path] = to / path
            found[path].parent.mkdir(parents=True, exist_ok=True)
            if (place / path).is_symlink():
                shutil.copy2(place / path, found[path])
            else:
                os.replace(place / path, found[path])
    return found
