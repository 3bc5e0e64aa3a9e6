"""What a run shows -> a fix where inference had none.

Inference says `unknown` where it cannot see; a run can. `by_running` lets the program run on an
accelerator, takes the operand that was on the CPU, and moves it where it is created or, failing
that, where it enters the operation.
"""

from __future__ import annotations

import ast
import os
import posixpath
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from samedevice.naming import device_names

from . import migrate, places
from .config import Config
from .finding import Edit, Finding, Fix
from .places.events import Creation
from .places.graph import Location
from .places.solution import Solution
from .project import Project
from .prove import workspace
from .prove.clash import Clash, Party, Step
from .prove.prove import Proof, prove
from .prove.run import RunResult, Settings, as_if_in, run_program

ROUNDS = 20
"""Runs after which `by_running` gives up."""

RULE = "seen-in-a-run"
"""The name under which fixes that a run asked for are reported."""


@dataclass
class Repaired:
    """What running led to: the outcome with all fixes, the last run, and the fixes that runs gave.

    `stuck` says why the last clash could not be repaired; it is empty when the program passed or
    ended for another reason.
    """

    outcome: migrate.Outcome
    result: RunResult
    seen: list[Finding] = field(default_factory=list)
    stuck: str = ""


def proved(
    outcome: migrate.Outcome,
    root: Path,
    program: str,
    settings: Settings | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Proof:
    """Run `program` before and after the changes of `outcome`, in copies of the folder `root`.

    Raises `ProgramError` when there is nothing that could be run.
    """
    return prove(root, _bytes(outcome, root), program, settings=settings, progress=progress)


def by_running(
    project: Project,
    config: Config,
    root: Path,
    program: str,
    settings: Settings | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Repaired:
    """Fix `project`, run `program` in a copy of `root`, and repair the clash that stops it, again
    and again.

    Ends when the program passes, stops for another reason, or clashes as it did before. Raises
    `ProgramError` when the program cannot be started.
    """
    settings = settings or Settings()
    progress("fixing")
    outcome = migrate.migrate(project, config)
    seen: list[Finding] = []
    tried: set[tuple[str, int, str]] = set()
    while True:
        progress(f"running {program} ({len(seen)} repaired)")
        quick = replace(settings, record=False, steps=True)
        result, copy = _run(outcome, root, program, quick)
        if result.clash is not None:  # only one that is recorded tells how operands got there
            result, copy = _run(outcome, root, program, settings)
        clash, result = result.clash, as_if_in(result, copy, root)
        if clash is None:
            return Repaired(outcome, result, seen)
        key = (clash.file, clash.line, clash.message)
        if key in tried or len(tried) >= ROUNDS:
            return Repaired(outcome, result, seen, "the same clash came back")
        tried.add(key)
        now = migrate.after_fix(outcome, config)
        found = _from_clash(places.infer(now), clash, copy, root)
        if found is None:
            return Repaired(outcome, result, seen, "no operand of it can be moved safely")
        more = migrate.further(outcome, found, config)
        if more is None:
            return Repaired(outcome, result, seen, "the fix for it cannot be written")
        outcome = more
        seen.append(found)


def _run(
    outcome: migrate.Outcome, root: Path, program: str, settings: Settings
) -> tuple[RunResult, Path]:
    """Run the program in a copy of its folder with the changes; return its end and the copy."""
    with tempfile.TemporaryDirectory(prefix="samedevice-") as folder:
        copy = Path(folder).resolve() / root.resolve().name
        start = workspace.find(root, Path.cwd())
        workspace.copy(replace(start, replaced=_bytes(outcome, root)), copy)
        return run_program(program, cwd=copy, settings=settings), copy


def _bytes(outcome: migrate.Outcome, root: Path) -> Mapping[str, bytes]:
    return {
        os.path.relpath(change.path, root).replace(os.sep, "/"): change.after
        for change in outcome.changes
    }


def _from_clash(solution: Solution, clash: Clash, copy: Path, root: Path) -> Finding | None:
    """Return the finding, with its fix, that a clash shows."""
    if clash.kind == "numpy":
        party = next((p for p in clash.operands if p.device != "cpu"), None)
        return _operand(solution, clash, party, copy, root, ".cpu()") if party else None
    for party in clash.operands:
        if party.device != "cpu":
            continue
        for step in party.steps[:1]:
            found = _creation(solution, step, clash, copy, root)
            if found is not None:
                return found
        found = _operand(solution, clash, party, copy, root, None)
        if found is not None:
            return found
    return None


def _creation(
    solution: Solution, step: Step, clash: Clash, copy: Path, root: Path
) -> Finding | None:
    """Create the operand on the device, where exactly one creation stands in its line."""
    path = _ours(step.file, solution, copy, root)
    if step.how != "created" or path is None:
        return None
    groups = [
        group
        for group in solution.groups(Creation)
        if group.spot.path == path and getattr(group.spot.node, "lineno", 0) == step.line
        and not group.first.in_constructor
    ]  # fmt: skip
    if len(groups) != 1:
        return None
    group = groups[0]
    name = device_names(solution).device_for(group)
    if name is None:
        return None
    edit = device_names(solution).creation_edit(group, name)
    return Finding(
        path, solution.span(group.spot), RULE,
        f"a run showed that this is on the CPU when it meets {_others(clash)} at "
        f"{posixpath.basename(clash.file)}:{clash.line}",
        fix=Fix((edit, *name.edits), imports=name.imports, resolvers=name.resolvers),
    )  # fmt: skip


def _operand(
    solution: Solution, clash: Clash, party: Party, copy: Path, root: Path, code: str | None
) -> Finding | None:
    """Move the operand where it enters the operation."""
    path = _ours(clash.file, solution, copy, root)
    if path is None or not party.expression:
        return None
    spot = _expression(solution, path, clash, party.expression)
    if spot is None:
        return None
    edits: tuple[Edit, ...]
    if code is None:
        name = device_names(solution).name_at(spot)
        if name is None:
            return None
        edit = Edit(path, solution.span(spot), "method", (("code", f".to({name.code})"),))
        fix = Fix((edit, *name.edits), imports=name.imports, resolvers=name.resolvers)
    else:
        edits = (Edit(path, solution.span(spot), "method", (("code", code),)),)
        fix = Fix(edits)
    return Finding(
        path, solution.span(spot), RULE,
        f"a run showed that this is on {party.device} when it meets {_others(clash)}", fix=fix,
    )  # fmt: skip


def _others(clash: Clash) -> str:
    devices = sorted({p.device for p in clash.operands if p.device != "cpu"})
    return " and ".join(devices) or "the CPU's memory"


def _expression(solution: Solution, path: str, clash: Clash, text: str) -> Location | None:
    """Return the operand as it stands in the line of the clash, if it stands there once."""
    tree = solution.project.tree(path)
    last = clash.end_line or clash.line
    found = [
        node
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.expr)
        and clash.line <= node.lineno <= last
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and "".join(solution.code_of(path, node).split()) == "".join(text.split())
    ]
    return Location(path, found[0]) if len(found) == 1 else None


def _ours(file: str, solution: Solution, copy: Path, root: Path) -> str | None:
    """Return the project's path of a file in the copy that was run."""
    try:
        inside = Path(file).resolve().relative_to(copy.resolve())
    except ValueError:
        return None
    wanted = (root / inside).resolve()
    for path in solution.project.sources:
        if Path(path).resolve() == wanted:
            return path
    return None


__all__ = ["RULE", "Repaired", "by_running", "proved"]
