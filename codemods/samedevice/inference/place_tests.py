"""Tests of where a tensor is that decide what is computed.

Who wrote a program for the CPU has never seen the other arm run. Where it does more than move
values, a conversion would change what the program computes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from samedevice.inference.nodes import Location, Place
from samedevice.inference.open_events import WhereAsked
from samedevice.inference.sites import SiteGroup

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: What handles devices, and computes nothing.
_HANDLES = re.compile(r"cuda|device|\.(cpu|to|type|pin_memory)\(")
_HANDLING = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.Pass)
_PARTS = (ast.BoolOp, ast.UnaryOp, ast.Compare)


def undecided(solution: Solution) -> Iterator[SiteGroup]:
    """Return where a program for the CPU would do something else, with its tensors elsewhere."""
    free = solution.policy.for_the_cpu
    for group in solution.groups(WhereAsked) if free else ():
        if group.spot.path in free and any(
            not site.callers_unknown and solution.place(site.node) is Place.CENTRAL
            for site in group.sites
        ):
            if _decides(solution, group.spot):
                yield group


def _decides(solution: Solution, spot: Location) -> bool:
    """Tell whether a question is a test, or a part of one, for more than handling devices."""
    parents = solution.programs.parents(spot.path)
    inner, outer = spot.node, parents.get(spot.node)
    while isinstance(outer, _PARTS):
        inner, outer = outer, parents.get(outer)
    match outer:
        case ast.If(test=test) if test is inner:
            return not _only_handle([*outer.body, *outer.orelse])
        case ast.IfExp(test=test) if test is inner:
            return not all(_HANDLES.search(ast.unparse(arm)) for arm in (outer.body, outer.orelse))
        case ast.Assert(test=test):
            return test is inner
    return False


def _only_handle(statements: Iterable[ast.stmt]) -> bool:
    """Tell whether statements only move values and define devices."""
    return all(
        isinstance(each, _HANDLING)
        and (isinstance(each, ast.Pass) or _HANDLES.search(ast.unparse(each)) is not None)
        for each in statements
    )
