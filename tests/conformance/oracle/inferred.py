"""What the inference says about the expressions of a program: the only file here that knows it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from samedevice.inference.events import ArmTaken, BranchTaken
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance, Union
from samedevice.inference.trace import Trace, trace
from samedevice.inference.values import Device, Tensor, Value
from samedevice.inference.whereabouts import is_moved
from samedevice.reading import source
from samedevice.reading.project import Project

from .instrument import KINDS, Key, key

HOST, CENTRAL, FOLLOWS, UNKNOWN = "host", "central", "follows", "unknown"
#: More values of one expression than that are not kept by a trace.
MOST = 8


@dataclass(frozen=True)
class Said:
    """What was inferred for one expression, over all calls that reach it.

    A place is "host", "central", "follows", "unknown", or the name of a second device. `moved`:
    the modules are on the device because a statement moves them, or what they are a part of.
    `cut`: there are more values than are kept.
    """

    code: str
    tensors: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    moved: bool = False
    cut: bool = False


@dataclass
class Program:
    """The expressions of a program's files by path and key, and how its files bind names."""

    said: dict[str, dict[Key, Said]] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)
    #: Whether some expression of it names the device that it computes on, or the user chooses.
    names_device: bool = False


def infer(paths: Iterable[Path]) -> Program:
    """Infer where expressions of files are; raises `SourceError` where a file is no Python."""
    project = Project([source.read(str(path)) for path in paths])
    found = Program()
    for path in project.sources:
        tree = project.tree(path)
        if tree is not None:
            found.trees[path] = tree
    programs = dict.fromkeys(project.programs[path] for path in project.about_torch)
    for program in programs:
        known = trace(project, program, of_tests=True)
        for path in program:
            if path in found.trees:
                found.said[path] = dict(_said(known, found.trees[path]))
        found.names_device |= _names_device(known)
        known.solution.release()
    return found


def _said(known: Trace, tree: ast.Module) -> Iterator[tuple[Key, Said]]:
    for node in ast.walk(tree):
        if not isinstance(node, KINDS) or not isinstance(getattr(node, "ctx", _LOAD), ast.Load):
            continue
        values = known._tracer.seen.get(node, [])
        tensors = frozenset(place for one in values for place in _places(known, node, one, Tensor))
        modules = frozenset(
            place for one in values for place in _places(known, node, one, Instance)
        )
        if tensors or modules:
            code = " ".join(ast.unparse(node).split())
            moved = all(is_moved(one) for one in values if isinstance(one, Instance))
            yield key(node), Said(code[:120], tensors, modules, moved, len(values) >= MOST)


def _places(
    known: Trace, node: ast.AST, value: Value, kind: type[Tensor] | type[Instance]
) -> Iterator[str]:
    if isinstance(value, Union):
        for option in value.options:
            yield from _places(known, node, option, kind)
    elif isinstance(value, kind) and value.node is not None:
        places = known.possible(node, value)
        if (node, value) in known._tracer.adrift:
            places.append(Place.CENTRAL)  # if there is one accelerator, as there is here
        for place in places:
            yield value.node.find().name or "?" if place is Place.FIXED else place.value


def _names_device(known: Trace) -> bool:
    """Tell whether code names its device, or a user or a setting chooses it, if not in this run."""
    chosen = any(
        site.choice or site.positive is None
        for kind in (BranchTaken, ArmTaken)
        for group in known.solution.all_groups(kind)
        for site in group.sites
    )
    return chosen or any(
        isinstance(value, Device) and known.place(value) is Place.CENTRAL
        for values in known._tracer.seen.values()
        for value in values
    )


_LOAD = ast.Load()
