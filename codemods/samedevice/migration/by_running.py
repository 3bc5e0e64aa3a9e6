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

from samedevice.repair import device_names

from .. import inference
from ..finding import UNDECIDED, Edit, Finding, Fix
from ..inference.events import Creation
from ..inference.graph import Location
from ..inference.solution import Solution
from ..prove import trail, workspace
from ..prove.clash import Clash, Party, Step
from ..prove.lead import Lead
from ..prove.prove import Proof, prove
from ..prove.run import RunResult, Settings, as_if_in, run_program
from ..reading.config import Config
from ..reading.project import Project
from . import migrate

ROUNDS = 20
"""Runs after which `by_running` gives up."""

RULE = "seen-in-a-run"
"""The name under which fixes that a run asked for are reported."""


@dataclass
class Repaired:
    """What running led to: the outcome with all fixes, the last run, and the fixes that runs gave.

    `stuck` says why the last clash could not be repaired; it is empty when the program passed or
    ended for another reason. `decided` counts what the code does not show and the run did.
    """

    outcome: migrate.Outcome
    result: RunResult
    seen: list[Finding] = field(default_factory=list)
    stuck: str = ""
    decided: int = 0


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
    trying = replace(config, decided_by_run=True)
    outcome = migrate.migrate(project, trying)
    seen: list[Finding] = []
    tried: set[tuple[str, int, str]] = set()
    while True:
        progress(f"running {program} ({len(seen)} repaired)")
        quick = replace(settings, record=False, steps=True)
        result, copy, ran = _run(outcome, root, program, quick)
        if result.clash is not None:  # only one that is recorded tells how operands got there
            result, copy, ran = _run(outcome, root, program, settings)
        clash, result = result.clash, as_if_in(result, copy, root)
        stuck = ""
        if clash is not None:
            key = (clash.file, clash.line, clash.message)
            found = None
            if key in tried or len(tried) >= ROUNDS:
                stuck = "the same clash came back"
            else:
                tried.add(key)
                now = migrate.after_fix(outcome, trying)
                found = _from_clash(inference.infer(now), clash, copy, root)
                stuck = "" if found else "no operand of it can be moved safely"
            more = migrate.further(outcome, found, trying) if found is not None else None
            if found is not None and more is not None:
                outcome = more
                seen.append(found)
                continue
            stuck = stuck or "the fix for it cannot be written"
        if result.passed:
            return Repaired(outcome, result, seen, decided=_decide(outcome, ran, root))
        return _halted(Repaired(outcome, result, seen, stuck), project, config)


def _decide(outcome: migrate.Outcome, ran: Mapping[str, set[int]], root: Path) -> int:
    """Take out what was undecided and went well in a run; return how many there were."""
    left = [
        finding
        for finding in outcome.remaining
        if finding.rule != UNDECIDED
        or ran.get(_inside(finding.path, root), set()).isdisjoint(
            range(finding.span.line, finding.span.end_line + 1)
        )
    ]
    decided = len(outcome.remaining) - len(left)
    outcome.remaining[:] = left
    return decided


def _halted(done: Repaired, project: Project, config: Config) -> Repaired:
    """Return what is sure without the run, where it decided nothing and a conversion needs it."""
    strict = migrate.with_incomplete(project, config)
    waits = any(finding.fix is not None and finding.fix.missing for finding in strict.remaining)
    return replace(done, outcome=strict, seen=[]) if waits else done


def _run(
    outcome: migrate.Outcome, root: Path, program: str, settings: Settings
) -> tuple[RunResult, Path, dict[str, set[int]]]:
    """Run the program in a copy of its folder with the changes.

    Return its end, the copy, and which lines ran of the files in which something is undecided.
    """
    unknown = {_inside(f.path, root) for f in outcome.remaining if f.rule == UNDECIDED}
    with tempfile.TemporaryDirectory(prefix="samedevice-") as folder:
        copy = Path(folder).resolve() / root.resolve().name
        start = workspace.find(root, Path.cwd())
        workspace.copy(replace(start, replaced=_bytes(outcome, root)), copy)
        trail_file = copy.with_name("trail")
        followed = [str(copy / path) for path in sorted(unknown)]
        roots = {str(root.resolve()): str(copy)}
        lead = Lead(str(copy), str(trail_file), roots, followed, lines=True)
        if followed:
            settings = replace(settings, lead=lead)
        result = run_program(program, cwd=copy, settings=settings)
        lines = trail.read(trail_file).lines
        return result, copy, {_inside(path, copy): ran for path, ran in lines.items()}


def _inside(path: str, folder: Path) -> str:
    return os.path.relpath(os.path.realpath(path), folder.resolve()).replace(os.sep, "/")


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
    try:
        wanted = ast.dump(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None
    found = [
        node
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.expr)
        and clash.line <= node.lineno <= last
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and ast.dump(node) == wanted
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
