"""How many processes are started: without CUDA, the number of GPUs is none."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from samedevice.finding import Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, short

_RULE = "processes-tied-to-cuda"
_ERASURE = "cuda-only-api"


def none_started(
    solution: Solution,
    group: SiteGroup,
    guarded: Callable[[Location], bool],
    *,
    with_workers: bool,
) -> Iterator[Finding]:
    """`mp.spawn(..., nprocs=torch.cuda.device_count())`: without CUDA, not one process starts.

    Where other fixes change the workers, starting one is part of that repair. What is counted
    behind a test for CUDA is at least one.
    """
    call, path = group.spot.node, group.spot.path
    if not isinstance(call, ast.Call):
        return
    given = next((k.value for k in call.keywords if k.arg == "nprocs"), None)
    if given is None and len(call.args) > 2:
        given = call.args[2]
    counted = _count(solution, group, given) if given is not None else None
    if counted is None or guarded(Location(path, counted)):
        return
    place = Location(path, counted)
    repair: Fix | None = None
    if ast.unparse(counted).endswith("cuda.device_count()"):
        change = edit(solution, place, "replace", code="max({}, 1)")
        repair = Fix((change,), erasure=_ERASURE)
        if not with_workers:
            reason = "on a machine without CUDA it started no process, and now starts one"
            repair = replace(repair, safe=False, reason=reason)
    yield finding(
        solution, _RULE, place,
        f"`{short(solution.code(place))}` is 0 without CUDA: no process is started", repair,
        unfixed="what it is to be without CUDA is not known",
    )  # fmt: skip


def _count(solution: Solution, group: SiteGroup, given: ast.expr) -> ast.expr | None:
    """Return what counts the GPUs for a number of processes; None where nothing does so.

    That is the expression itself, or what the name or attribute that it is gets in the file.
    """
    if isinstance(given, ast.Name | ast.Attribute):
        code = ast.unparse(given)
        inside: ast.AST = group.first.scope.node
        if isinstance(given, ast.Attribute) or not _sets(inside, code):
            inside = solution.programs.tree(group.spot.path)
        made = _sets(inside, code)
        if len(made) != 1:
            return None
        given = made[0]
    if isinstance(given, ast.Call) and ast.unparse(given.func) == "max":
        return None  # there is a least number
    counts = "cuda.device_count()" in ast.unparse(given)
    return given if counts and not isinstance(given, ast.IfExp | ast.BoolOp) else None


def _sets(inside: ast.AST, code: str) -> list[ast.expr]:
    """Return what the assignments in some code give to a name or attribute."""
    return [
        node.value
        for node in syntax.walk(inside)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == code
    ]
