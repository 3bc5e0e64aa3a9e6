"""Runs of a program with some changes, in copies of its folder, and what they tell.

All runs together take no longer than the limit for one: what one leaves is the next one's.
"""

from __future__ import annotations

import ast
import json
import os
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import inference
from ..finding import UNDECIDED, Finding
from ..inference.nodes import Location
from ..prove import trail, workspace
from ..prove.lead import Lead
from ..prove.run import Program, RunResult, Settings, run_program
from ..reading.project import Project
from ..reading.seen import Seen, place, renamed
from . import migrate


@dataclass(frozen=True)
class Ran:
    """One run: its end, the folder it ran in, and what ran of the files with undecided values.

    That are `lines`, and the `places` of expressions. `new` tells whether it saw something that no
    run before it saw.
    """

    result: RunResult
    copy: Path
    lines: Mapping[str, set[int]]
    places: Collection[tuple[str, tuple[int, ...]]]
    new: bool


@dataclass
class Runs:
    """The runs of one program; `seen` is what they saw of expressions."""

    root: Path
    program: str
    settings: Settings
    seen: Seen = field(default_factory=Seen)
    count: int = 0
    seconds: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether no time is left for another run."""
        limit = self.settings.limits.seconds
        return limit is not None and self.seconds >= limit

    def run(self, outcome: migrate.Outcome, project: Project, *, recorded: bool = False) -> Ran:
        """Run the program with the changes of an outcome, which make `project`."""
        with tempfile.TemporaryDirectory(prefix="samedevice-") as folder:
            copy = Path(folder).resolve() / self.root.resolve().name
            start = workspace.find(self.root, Path.cwd())
            workspace.copy(replace(start, replaced=changed(outcome, self.root)), copy)
            ours = {str(copy / inside(path, self.root)): path for path in project.sources}
            wanted = copy.with_name("wanted")
            asked = self._wanted(project, ours, outcome.remaining)
            wanted.write_text(json.dumps(asked), "utf-8")
            lead = self._lead(outcome, copy, wanted)
            settings = replace(self.settings, record=recorded, steps=not recorded, lead=lead)
            result = self._timed(copy, settings)
            told = trail.read(copy.with_name("trail"))
        new = self._learn(told.sights, ours)
        lines = {inside(path, copy): ran for path, ran in told.lines.items()}
        places = {(inside(path, copy), tuple(at)) for path, _, at, _ in told.sights}
        return Ran(result, copy, lines, places, new)

    def _timed(self, copy: Path, settings: Settings) -> RunResult:
        """Run it in the time that is left."""
        limits = settings.limits
        if limits.seconds is not None:
            limits = replace(limits, seconds=max(limits.seconds - self.seconds, 0.1))
        began = time.monotonic()
        try:
            return run_program(self.program, cwd=copy, settings=replace(settings, limits=limits))
        finally:
            self.count += 1
            self.seconds += time.monotonic() - began

    def _lead(self, outcome: migrate.Outcome, copy: Path, wanted: Path) -> Lead:
        unknown = {inside(f.path, self.root) for f in outcome.remaining if f.rule == UNDECIDED}
        return Lead(
            str(copy), str(copy.with_name("trail")), {str(self.root.resolve()): str(copy)},
            [str(copy / path) for path in sorted(unknown)], lines=bool(unknown), wanted=str(wanted),
        )  # fmt: skip

    def _wanted(
        self, project: Project, ours: Mapping[str, str], remaining: Iterable[Finding]
    ) -> dict[str, list[list[int]]]:
        """Return where the expressions are of which nothing is known, by the copy's files.

        Those that are told as undecided are among them: whether they run decides.
        """
        copies = {path: copy for copy, path in ours.items()}
        found: dict[str, list[list[int]]] = {}
        told = (Location(each.path, node) for each in remaining if each.rule == UNDECIDED
                if (node := asked(project, each)) is not None)  # fmt: skip
        for spot in (*self._unknown(project), *told):
            if isinstance(spot.node, ast.expr) and spot.path in copies:
                found.setdefault(copies[spot.path], []).append(list(place(spot.node)))
        return found

    def _unknown(self, project: Project) -> Iterable[Location]:
        """Yield the expressions of the program, or of all, of which nothing is known."""
        named = Program.parse(self.program)
        entry = None if named.is_module else os.path.realpath(self.root / named.target)
        known = project.programs
        ran = {known[path] for path in known if os.path.realpath(path) == entry}
        for program in ran or set(known.values()):
            if program & project.torch_files:
                solution = inference.infer(project, program)
                yield from solution.unknown()
                solution.release()

    def _learn(
        self,
        sights: Iterable[tuple[str, str, list[int], list[object] | None]],
        ours: Mapping[str, str],
    ) -> bool:
        """Keep what a run saw; tell whether there is anything new."""
        new = False
        for path, name, _, sight in sights:
            if path in ours and sight is not None:
                told = renamed(sight, lambda file: ours.get(os.path.realpath(file), file))
                new |= self.seen.add(ours[path], name, told)
        return new


def asked(project: Project, finding: Finding) -> ast.expr | None:
    """Return the expression that a finding is about, if a run can tell whether it runs.

    In a notebook it cannot: cells are compiled by themselves.
    """
    known = project.sources.get(finding.path)
    tree = project.tree(finding.path) if known is not None else None
    if known is None or tree is None or not finding.path.endswith((".py", ".pyw")):
        return None
    return next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.expr)
            and not isinstance(node, (ast.Starred, ast.Slice))
            and isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
            and node.lineno == finding.span.line
            and known.span(node) == finding.span
        ),
        None,
    )


def inside(path: str, folder: Path) -> str:
    """Return a path relative to a folder, with slashes."""
    return os.path.relpath(os.path.realpath(path), folder.resolve()).replace(os.sep, "/")


def changed(outcome: migrate.Outcome, root: Path) -> Mapping[str, bytes]:
    """Return the files that an outcome changes, relative to a folder."""
    return {
        os.path.relpath(change.path, root).replace(os.sep, "/"): change.after
        for change in outcome.changes
    }
