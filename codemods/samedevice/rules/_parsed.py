"""Devices that a text says which the program parses: settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Literal
from samedevice.inference.nodes import Location
from samedevice.inference.values import Setting
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules import _choice
from samedevice.rules._build import edit, finding, short

RULE = "hard-coded-device"
#: A device that is no constant where it is used comes out of a text.
_READ = (ast.Name, ast.Attribute, ast.Subscript)


def parsed(solution: Solution) -> Iterator[Finding]:
    """Judge devices that a text says which the program parses: they stay the text's to choose.

    Whether there is CUDA is asked where such a device gets its name, unless the program asks.
    """
    asking = "is_available"
    places: dict[ast.AST, tuple[Location, Literal]] = {}
    for group in solution.groups(Literal):
        path, node = group.spot.path, group.spot.node
        if not isinstance(node, _READ) or not _choice.is_accelerator(solution, group):
            continue
        if any(asking in solution.project.sources[p].text for p in solution.programs.of(path)):
            continue
        given = _given(solution, group.spot)
        places.setdefault((given or group.spot).node, (given or group.spot, group.first))
    for place, said in places.values():
        parent = solution.programs.parents(place.path).get(place.node)
        named = isinstance(parent, ast.Assign) or solution.is_stored(place.node)
        who = said.value.said_at if isinstance(said.value, Setting) else "a text that is parsed"
        yield finding(
            solution, RULE, place,
            f"{who} says that {short(solution.code(place))} is {said.name!r}: the program cannot "
            "run without it",
            _choice.choice(solution, place) if named else _said_otherwise(solution, place),
            unfixed="the text names a device that not every machine has",
        )  # fmt: skip


def _said_otherwise(solution: Solution, spot: Location) -> Fix | None:
    """Return the fix for settings whose device is read where it is used: without CUDA they say
    another one, right behind the statement that reads them.

    That is one that binds a name once, in the function that uses it.
    """
    root: ast.AST = spot.node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        if isinstance(root, ast.Subscript) and not isinstance(root.slice, ast.Constant):
            return None
        root = root.value
    torch, imports = device_names(solution).imports.torch(spot.path)
    if not isinstance(root, ast.Name) or root is spot.node or not torch:
        return None
    home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
    parents = solution.programs.parents(spot.path)
    bound = [
        parents.get(part)
        for part in syntax.walk(home)
        if isinstance(part, ast.Name) and part.id == root.id and isinstance(part.ctx, ast.Store)
    ]
    match bound:
        case [ast.Assign(targets=[ast.Name()]) as statement] if statement in home.body:
            test = f"if not {torch}.cuda.is_available():"
            code = f'{test}\n    {ast.unparse(spot.node)} = "cpu"'.replace("'", '"')
            behind = edit(solution, Location(spot.path, statement), "after", code=code)
            return Fix((behind,), imports=imports)
    return None


def _given(solution: Solution, spot: Location) -> Location | None:
    """Return what gives a device its name, `name = config["device"]`, if one statement does."""
    if isinstance(spot.node, ast.Subscript):
        return None
    code = ast.unparse(spot.node)
    homes: list[ast.AST] = [solution.programs.tree(spot.path)]
    home = solution.programs.function_of(spot)
    if isinstance(spot.node, ast.Name) and home is not None:
        homes.insert(0, home)
    for each in homes:
        given = [
            node.value
            for node in syntax.walk(each)
            if isinstance(node, ast.Assign) and code in map(ast.unparse, node.targets)
        ]
        if given:
            return Location(spot.path, given[0]) if len(given) == 1 else None
    return None
