"""Which scripts compute on the CPU and stay there, and why: nobody is left to guess it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import dataclass

from samedevice.inference.at_work import computing
from samedevice.inference.events import Placing
from samedevice.inference.forks import forks
from samedevice.inference.nodes import Location
from samedevice.inference.open_events import GivenAway
from samedevice.inference.solution import Solution
from samedevice.reading import syntax

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: What a file calls for its definitions, and not to do something.
_DEFINING = frozenset(("TypeVar", "compile", "getLogger", "namedtuple"))


@dataclass(frozen=True)
class Staying:
    """A script that nothing in it moves to a device, and why that is so.

    `asked`: it is converted if somebody asks for it by name.
    """

    path: str
    reason: str
    asked: bool = False


def staying(solution: Solution) -> tuple[Staying, ...]:
    """Return the scripts that compute with torch, and put nothing on a device.

    Tests are none of them, nor what a library decides about that owns the program's devices.
    """
    policy, programs = solution.policy, solution.programs
    at_work = computing(solution)
    if not at_work:
        return ()
    active = policy.using_devices()
    silent = [
        (script, reached)
        for script, reached in programs.scripts()
        if reached & at_work
        and not reached & active
        and not programs.is_test(script)
        and _acts(programs.tree(script))
        and not any(programs.owner(path) is not None for path in reached)
    ]
    reasons = _Reasons(solution, at_work) if silent else None
    return tuple(reasons.of(script, reached) for script, reached in silent if reasons)


def _acts(tree: ast.Module) -> bool:
    """Tell whether a file does something when it runs: it has more than definitions."""
    return any(
        isinstance(node, ast.Call) and syntax.dotted(node.func).rpartition(".")[2] not in _DEFINING
        for statement in tree.body
        if not isinstance(statement, _DEFINITIONS)
        for node in syntax.walk(statement)
    )


class _Reasons:
    """Why scripts stay on the CPU, the first that holds."""

    def __init__(self, solution: Solution, computing: set[str]) -> None:
        self._solution = solution
        self._policy, self._programs = solution.policy, solution.programs
        self._computing = computing
        self._forks = forks(solution)
        given = list(solution.all_groups(GivenAway))
        self._given = {group.spot for group in given if not group.first.memory}
        self._memory = {group.spot for group in given if group.first.memory}
        self._undecided = {group.spot for group in solution.undecided()}
        self._scripts = list(self._programs.scripts())
        self._using, left = self._policy.using_devices(), self._policy.left_alone()
        kept = self._using | left
        self._kept = {script for script, reached in self._scripts if reached & kept}
        self._building = self._policy.building()

    def of(self, script: str, reached: Collection[str]) -> Staying:
        """Return why a script stays there that runs these files."""
        purpose = self._policy.purposes.of(script, reached)
        if purpose.stays:
            return Staying(script, purpose.why, asked=True)
        asked: tuple[Callable[[str, Collection[str]], str | None], ...] = (
            self._shared, self._distributed, self._given_away, self._unknown, self._for_nothing,
            self._with_others, self._asked,
        )  # fmt: skip
        reasons = (ask(script, reached) for ask in asked)
        found = next(filter(None, reasons), "nothing in it is known to need a device")
        return Staying(script, found)

    def _shared(self, script: str, reached: Collection[str]) -> str | None:
        for spot in self._forks:
            if spot.path in reached:
                return f"other processes compute with its model ({self._where(spot)})"
        return None

    def _distributed(self, script: str, reached: Collection[str]) -> str | None:
        for path in sorted(reached):
            if self._programs.is_distributed(path):
                return f"{self._base(path)} makes it one of several processes, without a device"
        return None

    def _for_nothing(self, script: str, reached: Collection[str]) -> str | None:
        return self._policy.purposes.of(script, reached).why or None

    def _given_away(self, script: str, reached: Collection[str]) -> str | None:
        return self._first(
            self._given, reached, "its model goes to a library that could not be followed"
        ) or self._first(
            self._memory, reached, "the memory of its tensors goes to code that is not Python's"
        )

    def _unknown(self, script: str, reached: Collection[str]) -> str | None:
        return self._first(self._undecided, reached, "what it computes with could not be followed")

    def _first(self, spots: Collection[Location], reached: Collection[str], why: str) -> str | None:
        there = [spot for spot in spots if spot.path in reached]
        if not there:
            return None
        first = min(there, key=lambda spot: (spot.path, getattr(spot.node, "lineno", 0)))
        return f"{why} ({self._where(first)})"

    def _with_others(self, script: str, reached: Collection[str]) -> str | None:
        """It shares code that builds modules with a script that nothing is written into, or one
        that uses a device already."""
        for other, files in self._scripts:
            shared = sorted((set(files) & set(reached) & self._building) - {script})
            if other != script and other in self._kept and shared:
                how = "uses a device" if files & self._using else "is left as it is"
                return f"it shares {self._base(shared[0])} with {self._base(other)}, which {how}"
        return None

    def _asked(self, script: str, reached: Collection[str]) -> str | None:
        spots = [
            group.spot
            for group in self._solution.all_groups(Placing)
            if any(
                site.device is not None and not (site.device.of_value or site.callers_unknown)
                for site in group.sites
            )
        ]
        return self._first(spots, reached, "it asks for the CPU itself")

    def _base(self, path: str) -> str:
        return path.rpartition("/")[2]

    def _where(self, spot: Location) -> str:
        source = self._solution.project.sources[spot.path]
        return source.where(getattr(spot.node, "lineno", 0)).rpartition("/")[2]
