"""What a function makes is where its input is, and NumPy reads it: that takes a `.cpu()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit
from samedevice.inference import Solution
from samedevice.inference.events import HostRead
from samedevice.inference.nodes import Place, PlaceVar
from samedevice.inference.sites import SiteGroup
from samedevice.rules._build import edit


class _Reads:
    """The places where methods of tensors read the CPU's memory of what is where callers say."""

    def __init__(self, solution: Solution) -> None:
        self._group_of = solution.group_of
        self._found: dict[ast.AST, list[SiteGroup]] = {}
        for group in solution.groups(HostRead):
            func = group.first.scope.func
            if func is None or not isinstance(group.spot.node, ast.expr):
                continue
            places = {solution.place(site.node) for site in group.sites}
            if Place.FOLLOWS in places and Place.CENTRAL not in places:
                if all(site.method and site.whole for site in group.sites):
                    self._found.setdefault(func.node, []).append(group)

    def beside(self, group: SiteGroup) -> Iterator[SiteGroup]:
        """Yield those in the same function of what depends on what is made at a place."""
        func = group.first.scope.func
        made = self._of(group)
        for read in self._found.get(func.node, ()) if func is not None else ():
            if not made.isdisjoint(self._of(read)):
                yield read

    def _of(self, group: SiteGroup) -> set[int]:
        return {
            self._group_of(site.node) for site in group.sites if isinstance(site.node, PlaceVar)
        }


def brought_back(solution: Solution, group: SiteGroup) -> list[Edit]:
    """Return the edits that bring what follows an input to the CPU where NumPy reads it.

    Who puts what a function makes where its input is has to read it from there, too.
    """
    if all(solution.place(site.node) is not Place.FOLLOWS for site in group.sites):
        return []
    return [
        edit(solution, read.spot, "method", code=".cpu()")
        for read in solution.view(_Reads).beside(group)
    ]
