"""The device that a function speaks of already: what it says once, it says again.

Who reads the function finds one spelling, and what was evaluated above is bound here, is not None
and has a device.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from samedevice.inference.nodes import Location
from samedevice.inference.programs import Programs
from samedevice.reading import syntax

_BLOCKS = ("body", "orelse", "finalbody")
#: The devices that a statement puts something on, and its line.
_Said = tuple[int, list[str]]
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
#: What may leave out a part of itself.
_PERHAPS = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension)


def spoken(programs: Programs, spot: Location, without: Collection[str]) -> Iterator[str]:
    """Yield the devices of values that are said on every way to a place, the nearest first.

    That is what something is put on: `x.device`, or a name for the device; `without` those of
    some names.
    """
    home = programs.function_of(spot)
    if home is None:
        return
    bound = _bound(home)
    line = getattr(spot.node, "lineno", 0)
    for since_line, devices in _certain(programs, spot, home):
        for said in devices:
            root = said.partition(".")[0]
            since = range(since_line, line + 1)
            if root not in without and not any(at in since for at in bound.get(root, ())):
                yield said


def named(programs: Programs, spot: Location, device: str) -> str:
    """Return the name that a function has for the device of a value by then, else that device.

    It is bound once, and whatever the function does: `device = x.device`.
    """
    home = programs.function_of(spot)
    if home is None:
        return device
    line, bound = getattr(spot.node, "lineno", 0), _bound(home)
    for statement in syntax.certain(home.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                above = (statement.end_lineno or 0) < line
                if above and ast.unparse(value) == device and len(bound.get(name, ())) == 1:
                    return name
    return device


def _certain(
    programs: Programs, spot: Location, home: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[_Said]:
    """Yield what statements say that have run when a place of a function is come to, backwards."""
    parents = programs.parents(spot.path)
    inner: ast.AST = spot.node
    while inner is not home and (outer := parents.get(inner)) is not None:
        for field in _BLOCKS:
            block = getattr(outer, field, None)
            if isinstance(block, list) and inner in block:
                at = block.index(inner)
                yield from (said for place, said in reversed(_saying(outer)[field]) if place < at)
        inner = outer


@syntax.per_node
def _saying(outer: ast.AST) -> dict[str, list[tuple[int, _Said]]]:
    """Return the statements of each block that put something on a device whatever happens: their
    positions, and what they say."""
    found: dict[str, list[tuple[int, _Said]]] = {field: [] for field in _BLOCKS}
    for field, known in found.items():
        for at, statement in enumerate(getattr(outer, field, ())):
            for part in syntax.certain([statement]):
                said = [device for call in _evaluated(part) for device in _devices(call)]
                if said:
                    known.append((at, (part.lineno, said)))
    return found


def _evaluated(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls that a statement without blocks makes whatever happens."""
    queue: list[ast.AST] = [statement] if isinstance(statement, _SIMPLE) else []
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, _PERHAPS):
            queue += ast.iter_child_nodes(node)


def _devices(call: ast.Call) -> Iterator[str]:
    """Yield the devices that a call puts something on."""
    given = [k.value for k in call.keywords if k.arg == "device"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to" and call.args:
        given.append(call.args[0])
    for each in given:
        match each:
            case ast.Name(id=name) if name.lower() == "device":
                yield name
            case ast.Attribute(value=ast.Name(), attr="device"):
                yield ast.unparse(each)


@syntax.per_node
def _bound(home: ast.AST) -> dict[str, list[int]]:
    """Return the lines of a function that bind its names anew."""
    found: dict[str, list[int]] = {}
    for node in syntax.walk(home):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node.lineno)
    return found
