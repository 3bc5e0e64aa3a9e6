"""The device of a model that its library puts where there is room: only the model knows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Instance, Scope
from samedevice.inference.values import Value
from samedevice.reading import syntax
from samedevice.repair.asked import Asked

#: Its models say their device (transformers 4.57, `modeling_utils.py`).
_SAYING = "transformers."


def by_library(asked: Asked) -> DeviceExpression | None:
    """Return `model.device` for what a model is given that has a `device_map`."""
    if asked.kind == "creation" or asked.itself:
        return None
    for code in _computing(asked):
        held = _held(asked.scope, code)
        if isinstance(held, Instance) and held.family == "module" and held.node is not None:
            root = held.node.find()
            if held.name.startswith(_SAYING) and held.moves and root.pin is Place.UNKNOWN:
                return DeviceExpression(f"{code}.device")
    return None


def _computing(asked: Asked) -> Iterator[str]:
    """Yield what is called, or has a method called, with what is moved at a place."""
    for call in _calls_with(asked):
        code = syntax.dotted(call.func)
        if code:
            yield code
            yield code.rpartition(".")[0]


def _calls_with(asked: Asked) -> Iterator[ast.Call]:
    """Yield the calls of the same function that get what is moved: by its name, or at once."""
    solution, spot = asked.names.solution, asked.spot
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Name(id=made)]):
            home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
            for node in syntax.walk(home):
                if isinstance(node, ast.Call):
                    given = [*node.args, *(keyword.value for keyword in node.keywords)]
                    values = (e.value if isinstance(e, ast.Starred) else e for e in given)
                    if any(isinstance(each, ast.Name) and each.id == made for each in values):
                        yield node
    parents = solution.programs.parents(spot.path)
    around = parents.get(solution.chain_end(spot).node)
    while isinstance(around, (ast.keyword, ast.Starred)):
        around = parents.get(around)
    if isinstance(around, ast.Call):
        yield around


def _held(scope: Scope, code: str) -> Value | None:
    """Return what a name, or an attribute of one, stands for."""
    owner, *attrs = code.split(".")
    held = scope.lookup(owner) if owner else None
    for attr in attrs:
        held = held.attrs.get(attr) if isinstance(held, Instance) else None
    return held
