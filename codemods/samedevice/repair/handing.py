"""The device handed on: a function without one gets a parameter, and its callers say theirs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.finding import DeviceExpression, Edit
from samedevice.inference.events import Built, Kept, ModuleMade, ModuleMoved
from samedevice.inference.iteration import is_any_module
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Func, Instance, Scope, Union
from samedevice.inference.programs import Programs, is_main
from samedevice.inference.reach import may_be_none
from samedevice.inference.uncalled import OF_MODULES
from samedevice.inference.values import FunctionNode, Tensor, Value
from samedevice.reading import syntax
from samedevice.repair import seen_calls
from samedevice.repair.asked import Asked
from samedevice.repair.resolvers import edited

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames


def parameter(asked: Asked) -> DeviceExpression | None:
    """Return what callers say, where the device of the program may be meant."""
    return _handed(asked) if asked.chooses else None


def _handed(asked: Asked) -> DeviceExpression | None:
    """Hand the function of a place the device that its callers have, where it can import none.

    Only where every call is known and can name the device: for a helper of another file, or of a
    program in which each process has a device of its own or somebody chooses it; for a method or
    constructor in such a program alone, any other gets a device of its own.
    """
    names, group = asked.names, asked.group
    func = group.first.scope.function()
    if func is None or isinstance(func.node, ast.Lambda):
        return None
    path = func.scope.path
    around = func.cls.scope if func.cls is not None else func.scope
    there = names.resolvers.existing(path, names.programs.of(path))
    if (
        around.outer is not None
        or there is not None
        and not is_of_main(names.programs, there.code, func)
    ):
        return None
    if "device" in {a.arg for a in ast.walk(func.node.args) if isinstance(a, ast.arg)}:
        return None
    if "device" in _bound(syntax.walk(func.node)):
        return None  # what is handed in would be another one where it is needed
    local = names.programs.is_distributed(path) or names.solution.policy.has_device(path)
    moves_module = isinstance(group.first, ModuleMade | ModuleMoved | Kept)
    # What is built beside a module that was handed in follows that; no module follows itself.
    follows = not moves_module or isinstance(group.first, Built)
    known = _of_module(names, func, held=not moves_module) if follows else None
    if known is not None and _would_choose(names, edited(group.first)):
        return known
    called = seen_calls.called_as(names, func) if local or func.cls is None else ""
    if not called:
        return None
    if known is None and not moves_module:
        known = _of_called(names, func)
    if not seen_calls.are_all_seen(names, func, called):
        return known
    edits = _edits(names, func.node, path, called, local)
    if not edits:
        return None
    return known or DeviceExpression("device", edits=tuple(dict.fromkeys(edits)))


def is_of_main(programs: Programs, code: str, func: Func | None) -> bool:
    """Tell whether a function would use an object that only `__main__` makes."""
    if func is None or _is_in_main(programs, func):
        return False
    return code.partition(".")[0] in _bound_in_main(programs.tree(func.scope.path))


def _is_in_main(programs: Programs, func: Func) -> bool:
    """Tell whether a function is defined under `if __name__ == "__main__":` itself."""
    parents = programs.parents(func.scope.path)
    node: ast.AST | None = func.node
    while node is not None:
        if isinstance(node, ast.stmt) and is_main(node):
            return True
        node = parents.get(node)
    return False


@syntax.per_node
def _bound_in_main(tree: ast.Module) -> set[str]:
    """Return the names that a file binds for its own script alone."""
    main = [part for part in tree.body if is_main(part)]
    others = [part for part in tree.body if not is_main(part)]
    return _bound(syntax.walk_all(main)) - _bound(syntax.walk_all(others))


def _would_choose(names: DeviceNames, path: str) -> bool:
    """Tell whether a file has no device to name but one that is still to be chosen.

    A file that others import, that nobody starts, and that moves no module itself, need not know
    who chooses it.
    """
    name = names.resolvers.resolver(path)
    if name is None:
        return not names.resolvers.wanting(path)
    return (
        bool(name.resolvers)
        and names.programs.is_imported(path)
        and not any(map(is_main, names.programs.tree(path).body))
        and path not in names.resolvers.moving
    )


def _of_module(names: DeviceNames, func: Func, *, held: bool) -> DeviceExpression | None:
    """Return the device of a module that a function has on the device, whoever calls it.

    It is one that every call hands in, or one that the method's object has `held`.
    """
    assert not isinstance(func.node, ast.Lambda)
    scopes = names.interpreter.all_scopes.get(func.node, ())
    nodes = syntax.walk(func.node)
    if not scopes or any(isinstance(node, ast.Name) and node.id == "device" for node in nodes):
        return None
    path = func.scope.path
    given = [*_handed_in(names, func.node, scopes)]
    given += _held(names, nodes, path, scopes) if held else ()
    if not given:
        return None
    owner, _, attr = given[0].partition(".")
    values = [scope.names.get(owner) for scope in scopes]
    if attr:
        values = [each.attrs.get(attr) if isinstance(each, Instance) else None for each in values]
    if any(isinstance(each, Instance) and torchfacts.is_pipeline(each.name) for each in values):
        return _named_after(names, func, f"{given[0]}.device")
    return _named_after(names, func, f"next({given[0]}.parameters()).device")


def _handed_in(
    names: DeviceNames, function: ast.FunctionDef | ast.AsyncFunctionDef, scopes: Sequence[Scope]
) -> Iterator[str]:
    """Yield the parameters that each call gives a module on the device."""
    nodes = syntax.walk(function)
    bound = _bound(nodes)
    for name in (arg.arg for arg in (*function.args.posonlyargs, *function.args.args)):
        if name in bound or name in may_be_none(scopes[0]):
            continue
        if all(
            scope.call is not None
            and _has_place(scope.names.get(name))
            and names.solution.handed_there(scope, name)
            for scope in scopes
        ):
            yield name


def _held(
    names: DeviceNames, nodes: Sequence[ast.AST], path: str, scopes: Sequence[Scope]
) -> Iterator[str]:
    """Yield the attributes of a method's object that it computes with: modules on the device.

    Not those that the file moves itself: to where, is what it has to know.
    """
    used = (
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "self"
    )
    for attr in dict.fromkeys(used):
        if all(
            isinstance(owner := scope.names.get("self"), Instance)
            and isinstance(held := owner.attrs.get(attr), Instance)
            and _has_place(held)
            and held.node is not None
            and not any(move.path == path for move in held.moves)
            and names.solution.place(held.node) is Place.CENTRAL
            for scope in scopes
        ):
            yield f"self.{attr}"


def _has_place(value: Value | None) -> bool:
    """Tell whether a value is a module that can be asked where it is, on every path."""
    return (
        isinstance(value, Instance)
        and value.family == "module"
        and not (value.absent or is_any_module(value))  # a part may be a `ReLU`
        and has_parameters(value)
    )


def _of_called(names: DeviceNames, func: Func) -> DeviceExpression | None:
    """Return the device of the module that a function hands what it moves: `net(x.cuda())`.

    That is a parameter of which nothing is known but that the function uses it as a module.
    """
    nodes = syntax.walk(func.node)
    moved = _moved_to_cuda(nodes)
    used, called = set[str](), set[str]()
    bound = _bound(nodes)
    for node in nodes:
        match node:
            case ast.Name(id="device"):
                return None
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in OF_MODULES:
                used.add(name)
            case ast.Call(func=ast.Name(id=name), args=args) if any(
                _is_move_to_cuda(arg) or isinstance(arg, ast.Name) and arg.id in moved
                for arg in args
            ):
                called.add(name)
    spare = syntax.defaults(func.node.args)
    for name in syntax.parameters(func.node):
        if name in used & called and name not in bound and name not in spare:
            return _named_after(names, func, f"next({name}.parameters()).device")
    return None


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some code gives a value, or deletes."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _moved_to_cuda(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound to what `.cuda()` gives."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_move_to_cuda(value):
                found.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Tuple(elts=values)):
                pairs = zip(elts, values, strict=False)
                found |= {t.id for t, v in pairs if isinstance(t, ast.Name) and _is_move_to_cuda(v)}
    return found


def _is_move_to_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
    )


def _named_after(names: DeviceNames, func: Func, device: str) -> DeviceExpression:
    """Return a name for the device of a function's module, with its definition."""
    place = names.solution.span(Location(func.scope.path, func.node))
    edits = (Edit(func.scope.path, place, "head", (("code", f"device = {device}"),)),)
    return DeviceExpression("device", edits=edits)


def has_parameters(module: Instance, without: Collection[str] = (), depth: int = 6) -> bool:
    """Tell whether a module, or a part of it, has parameters, and not only buffers.

    `without` some of its attributes, which may not be there yet.
    """
    if module.fact is not None and module.fact.state or not depth:
        return True
    return any(
        isinstance(value, Tensor)
        and (value.leaf or value.parameter)
        or isinstance(value, (Instance, Union))
        and all(
            isinstance(each, Instance)
            and each.family == "module"
            and each.stateful
            and has_parameters(each, depth=depth - 1)
            for each in (value.options if isinstance(value, Union) else [value])
        )
        for name, value in module.attrs.items()
        if name not in without
    )


def _edits(
    names: DeviceNames, function: FunctionNode, path: str, called: str, local: bool
) -> list[Edit]:
    """Return the edits that add the parameter, and say it in every call; none where one cannot."""
    place = names.solution.span(Location(path, function))
    edits = [Edit(path, place, "parameter", (("name", "device"), ("default", "None")))]
    said = seen_calls.say_device(names, function, path, called, local)
    return [*edits, *said] if said is not None else []
