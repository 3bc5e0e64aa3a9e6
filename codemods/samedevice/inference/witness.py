"""What a run saw, as values: where the code says nothing of an expression, its run may.

Only what is unknown is asked for. What differed from one time to the next is joined, and what is
bound to a name is what the name stands for from then on, so that it has one place.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import calls, functions, instances
from samedevice.inference.events import Bound, Built, Drawn
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Class, External, Func, Instance, Namespace, Scope
from samedevice.inference.values import ARRAY, NONE, SCALAR, UNKNOWN, Dict, Seq, Tensor, Value
from samedevice.reading import syntax
from samedevice.reading.seen import Sight

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def value(run: Interpreter, node: ast.expr, scope: Scope) -> Value:
    """Return what an unknown expression was when it ran."""
    seen = run.project.seen
    assert seen is not None
    sights = seen.of(scope.path, run.project.tree(scope.path), node)
    spot = Location(scope.path, node)
    found: Value | None = None
    for sight in sights:
        found = run.join(found, _value(run, sight, spot, scope))
    if found is None or found is UNKNOWN:
        run.unknown[node] = spot
        return UNKNOWN
    if isinstance(node, ast.Name) and scope.names.get(node.id) is UNKNOWN:
        run.trail.put(scope.names, node.id, found)
    return found


def _value(run: Interpreter, sight: Sight | None, spot: Location, scope: Scope) -> Value:
    match sight:
        case ["none"]:
            return NONE
        case ["scalar"]:
            return SCALAR
        case ["array"]:
            return ARRAY
        case ["tensor", device, trained]:
            return _tensor(run, device, trained, spot, scope)
        case ["module", name, _]:
            return _module(run, name, spot, scope)
        case ["name", module, name, file]:
            return _named(run, module, name, file)
        case ["file", module, file]:
            known = file in run.project.sources
            return Namespace(file, run.file(file)) if known else External(module)
        case ["dict", parts]:
            return Dict({key: _value(run, one, spot, scope) for key, one in parts}, spot=spot)
        case ["tuple", parts]:
            return Seq("tuple", [_value(run, one, spot, scope) for one in parts])
        case ["list", parts]:
            return Seq("list", None, _any(run, parts, spot, scope))
        case ["mapping", parts]:
            return Dict({}, _any(run, parts, spot, scope), spot=spot)
    return UNKNOWN


def _any(run: Interpreter, parts: list[Sight], spot: Location, scope: Scope) -> Value:
    found: Value | None = None
    for part in parts:
        found = run.join(found, _value(run, part, spot, scope))
    return found if found is not None else UNKNOWN


def _tensor(run: Interpreter, device: str, trained: bool, spot: Location, scope: Scope) -> Tensor:
    """Return a tensor that came from where nothing can be read."""
    node = run.graph.node(spot)
    made = Tensor(node)
    node.is_tensor = True
    made.leaf = trained
    if device != "cpu":
        return made  # it may follow what it is made of: in another call it is elsewhere
    if not trained:
        made.site = run.record(Drawn(spot, node, scope, seen=True, bound=_bound(spot, scope)))
        run.snapshot(made.site, scope)
    else:
        run.graph.pin(node, Place.HOST, spot)
    return made


def _bound(spot: Location, scope: Scope) -> Bound | None:
    """Return the statement that gave a name what was seen under it."""
    if not isinstance(spot.node, ast.Name):
        return None
    found: ast.stmt | None = None
    for statement in syntax.statements(scope.node):
        if statement.lineno > spot.node.lineno:
            continue
        match statement:
            case ast.Assign(targets=targets):
                given: list[ast.expr] = targets
            case ast.For(target=target) | ast.AsyncFor(target=target):
                given = [target]
            case _:
                continue
        if any(_binds(one, spot.node.id) for one in given):
            found = statement
    return Bound(spot.node.id, Location(spot.path, found), scope.node) if found else None


def _binds(target: ast.expr, name: str) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_binds(one, name) for one in target.elts)
    return isinstance(target, ast.Name) and target.id == name


def _module(run: Interpreter, name: Sight, spot: Location, scope: Scope) -> Value:
    """Return a module that was made where nothing can be read."""
    kind = _named(run, *name[1:])
    if isinstance(kind, Class) and kind.family == "module":
        made = instances.new_object(run, kind, spot, scope)
        made.site = run.record(Built(spot, made.node, scope, kind.node.name, module=made))
        run.snapshot(made.site, scope)
        init = kind.lookup("__init__")
        if isinstance(init, Func):
            run.in_constructor += 1
            functions.call_symbolic(run, Func(init.node, init.scope, made, init.cls))
            run.in_constructor -= 1
    else:
        fact = torchfacts.lookup(kind.name) if isinstance(kind, External) else None
        known = fact is not None and fact.kind == "module"
        kind = kind if known else External("torch.nn.Module")
        found = calls.apply(run, kind, [], {}, spot, scope)
        if not isinstance(found, Instance) or found.family != "module":
            return UNKNOWN
        made = found
    made.stateful = True
    return made


def _named(run: Interpreter, module: str, name: str, file: str) -> Value:
    """Return a function or class by its name."""
    if file not in run.project.sources:
        return External(f"{module}.{name}")
    first, *rest = name.split(".")
    found: Value | None = run.file(file).names.get(first)
    for part in rest:
        found = found.lookup(part) if isinstance(found, Class) else None
    return found if isinstance(found, (Class, Func)) else UNKNOWN
