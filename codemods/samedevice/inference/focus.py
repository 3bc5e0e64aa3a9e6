"""An inference of a part of a program: what it evaluates, and what it is told of the rest.

A *unit* is what is evaluated by itself: the statements of a file, or one of its definitions as far
as nothing calls it. What a unit calls is evaluated with it.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from samedevice.finding import DeviceExpression

#: A file and the name of a definition at its top level; "" for the statements of the file.
Target = tuple[str, str]


@dataclass(frozen=True)
class ProgramSummary:
    """What an inference of a whole program found that its parts have to know of each other.

    `callers` has for each definition the units that evaluate some of its code, and `work` how much
    each unit makes. `begun` has how many statements and calls were evaluated before each of them:
    of many, only some are evaluated by themselves. `active`: it puts something on a device;
    `naming`: it names one;
    `placement_is_deliberate`: which of its devices what is on is its design. `offering` are the
    files where the user chooses, `choosing` the definitions whose code chooses a device,
    `needs_device` the files that have to name it, and `existing` the resolver that a file can have.
    """

    callers: Mapping[Target, frozenset[Target]]
    work: Mapping[Target, int]
    begun: Mapping[Target, tuple[int, int]]
    active: bool
    naming: bool
    placement_is_deliberate: bool
    default_device: bool
    class_devices: bool
    offering: tuple[str, ...]
    choosing: frozenset[Target]
    needs_device: frozenset[str]
    existing: Mapping[str, DeviceExpression | None]


@dataclass(frozen=True)
class PartialAnalysis:
    """The units to evaluate, and what is known of the others.

    `changed` are the definitions for whose sake they are evaluated.
    """

    units: frozenset[Target]
    changed: frozenset[Target]
    rest: ProgramSummary


@dataclass(frozen=True)
class Definitions:
    """The definitions at the top level of a file, by their lines."""

    names: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, tree: ast.Module | None) -> Definitions:
        """Return the definitions of a file."""
        found = cls()
        for node in tree.body if tree is not None else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.names.append(node.name)
                found.first.append(node.lineno)
                found.last.append(node.end_lineno or node.lineno)
        return found

    def at(self, line: int) -> str:
        """Return the name of the definition that a line is in, "" for none."""
        index = bisect_right(self.first, line) - 1
        return self.names[index] if index >= 0 and line <= self.last[index] else ""
