"""Values of expressions: names, constants, displays, comprehensions, and what generators yield."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import assignment, devices, spelled
from samedevice.inference.dispatch import evaluates
from samedevice.inference.nodes import Location
from samedevice.inference.objects import External, Func, Instance, Scope
from samedevice.inference.values import (
    HOW_MANY,
    NONE,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Iter,
    ProcessIndex,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


@evaluates(ast.Constant)
def _constant(run: Interpreter, node: ast.Constant, scope: Scope) -> Value:
    return Const(node.value, Location(scope.path, node))


@evaluates(ast.JoinedStr)
def _formatted(run: Interpreter, node: ast.JoinedStr, scope: Scope) -> Value:
    parts = [
        run.eval(part.value, scope) for part in node.values if isinstance(part, ast.FormattedValue)
    ]
    index = parts[-1] if parts else SCALAR
    first = node.values[0] if node.values else None
    if len(parts) == 2 and isinstance(parts[0], Device) and isinstance(index, ProcessIndex):
        device = devices.of_rank(run, index, Location(scope.path, node))  # f"{accelerator}:{rank}"
        return Device(device.node, device.spot, text=True, resolved=True, rank=index)
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        if len(node.values) == 2 and devices.INDEXED.fullmatch(first.value):
            return devices.indexed(run, node, index, scope)
    held = iter(parts)
    pieces = [Const(p.value) if isinstance(p, ast.Constant) else next(held) for p in node.values]
    return spelled.spelled(pieces, Location(scope.path, node)) or SCALAR


@evaluates(ast.Name)
def name(run: Interpreter, node: ast.Name, scope: Scope) -> Value:
    """Return what a name stands for: the nearest scope that has it, or Python itself."""
    value = scope.names.get(node.id)
    if value is not None:
        return value
    value = scope.lookup(node.id)
    if value is not None:
        return value
    if node.id in _BUILTINS:
        return External("builtins." + node.id)
    return _of_a_star(run, node.id, scope.path)


def _of_a_star(run: Interpreter, name: str, path: str) -> Value:
    """Return what a name is that nothing in a file binds, by `from library import *`.

    A library of which no facts are kept may bind it, too. What the file binds below is its own.
    """
    libraries = run.stars.get(path, ())
    tree = run.project.tree(path) if libraries else None
    if tree is not None and name in _bound_in(tree):
        return UNKNOWN
    if all(torchfacts.library(library.partition(".")[0]) for library in libraries):
        for library in reversed(libraries):
            if torchfacts.lookup(f"{library}.{name}") is not None:
                return External(f"{library}.{name}")
    return UNKNOWN


@syntax.per_node
def _bound_in(tree: ast.Module) -> frozenset[str]:
    """Return the names that the statements of a file assign, not those of its functions."""
    return frozenset(
        target.id
        for outer in tree.body
        if not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for statement in syntax.statements(outer)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    )


@evaluates(ast.NamedExpr)
def _named_expression(run: Interpreter, node: ast.NamedExpr, scope: Scope) -> Value:
    value = run.eval(node.value, scope)
    name, inner = node.target.id, scope
    while isinstance(scope.node, COMPREHENSIONS) and scope.outer is not None:
        scope = scope.outer  # a comprehension's targets are its own, this is not one of them
    old = scope.names.get(name) if scope is not inner else None
    assignment.bind(run, name, value if old is None else run.join(old, value), scope)
    return value


@evaluates(ast.Starred)
def _starred(run: Interpreter, node: ast.Starred, scope: Scope) -> Value:
    return run.eval(node.value, scope)


@evaluates(ast.Await)
def _awaited(run: Interpreter, node: ast.Await, scope: Scope) -> Value:
    return outcome(run.eval(node.value, scope))


@evaluates(ast.Yield)
def _yielded(run: Interpreter, node: ast.Yield, scope: Scope) -> Value:
    value = run.eval(node.value, scope) if node.value is not None else NONE
    if run.yields:
        run.yields[-1].append(value)
    running = run.function()
    return run.sending.get(running, UNKNOWN) if running is not None else UNKNOWN


@evaluates(ast.YieldFrom)
def _yielded_from(run: Interpreter, node: ast.YieldFrom, scope: Scope) -> Value:
    value = run.eval(node.value, scope)
    if run.yields:
        run.yields[-1].append(run.iterate(value, Location(scope.path, node.value), scope))
    if isinstance(value, Iter) and value.result is not None:
        return value.result
    return UNKNOWN


@evaluates(ast.Lambda)
def _lambda_expression(run: Interpreter, node: ast.Lambda, scope: Scope) -> Value:
    if run.guarded:
        run.made_under_test.add(node)
    return Func(node, scope)


def _sequence(
    run: Interpreter, kind: str, elts: list[ast.expr], node: ast.expr, scope: Scope
) -> Seq:
    items: list[Value] | None = []
    element: Value | None = None
    for elt in elts:
        value = run.eval(elt, scope)
        if isinstance(elt, ast.Starred):
            if isinstance(value, Seq) and value.items is not None and items is not None:
                items.extend(value.items)
            else:
                items, element = None, run.iterate(value, Location(scope.path, elt), scope)
        elif items is not None:
            items.append(value)
        else:
            element = run.join(element, value)
    return Seq(kind, items, element, Location(scope.path, node))


@evaluates(ast.Tuple)
def _tuple_display(run: Interpreter, node: ast.Tuple, scope: Scope) -> Value:
    return _sequence(run, "tuple", node.elts, node, scope)


@evaluates(ast.List)
def _list_display(run: Interpreter, node: ast.List, scope: Scope) -> Value:
    made = _sequence(run, "list", node.elts, node, scope)
    members = list(zip(made.items or (), node.elts, strict=False))
    held = [(each, Location(scope.path, elt)) for each, elt in members if isinstance(each, Tensor)]
    if len(held) == len(node.elts):  # as if they were appended to an empty one
        made.added = tuple(held)
    return made


@evaluates(ast.Set)
def _set_display(run: Interpreter, node: ast.Set, scope: Scope) -> Value:
    return _sequence(run, "set", node.elts, node, scope)


@evaluates(ast.Dict)
def _dict_display(run: Interpreter, node: ast.Dict, scope: Scope) -> Value:
    found = Dict(spot=Location(scope.path, node))
    for key, item in zip(node.keys, node.values, strict=True):
        value = run.eval(item, scope)
        if key is None:
            if isinstance(value, Dict):
                found.items.update(value.items)
                found.element = value.element if found.element is None else found.element
            continue
        name = run.eval(key, scope)
        if isinstance(name, Const) and isinstance(name.value, (str, int, float, bool)):
            found.items[name.value] = value
        else:
            found.keys = name
            found.element = run.join(found.element, value)
    return found


def _comprehension(
    run: Interpreter,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    scope: Scope,
    *parts: ast.expr,
) -> list[Value]:
    """Return the values of what a comprehension makes in each round."""
    inner = Scope(scope.path, node, scope, scope.globals)
    inner.self_value = scope.self_value
    guarded = run.guarded
    for generator in node.generators:
        source = run.eval(generator.iter, inner)
        element = run.iterate(source, Location(scope.path, generator.iter), inner)
        run.guarded += element is HOW_MANY
        run.assign(generator.target, element, inner, ast.Pass())
        for test in generator.ifs:
            run.eval(test, inner)
    values = [run.eval(part, inner) for part in parts]
    run.guarded = guarded
    return values


@evaluates(ast.ListComp)
def _list_comprehension(run: Interpreter, node: ast.ListComp, scope: Scope) -> Value:
    (member,) = _comprehension(run, node, scope, node.elt)
    return Seq("list", None, member, Location(scope.path, node))


@evaluates(ast.SetComp)
def _set_comprehension(run: Interpreter, node: ast.SetComp, scope: Scope) -> Value:
    (member,) = _comprehension(run, node, scope, node.elt)
    return Seq("set", None, member)


@evaluates(ast.GeneratorExp)
def _generator_expression(run: Interpreter, node: ast.GeneratorExp, scope: Scope) -> Value:
    (member,) = _comprehension(run, node, scope, node.elt)
    return Iter(member)


@evaluates(ast.DictComp)
def _dict_comprehension(run: Interpreter, node: ast.DictComp, scope: Scope) -> Value:
    found = Dict(spot=Location(scope.path, node))
    found.keys, found.element = _comprehension(run, node, scope, node.key, node.value)
    return found


@evaluates(ast.Slice)
def _slice_expression(run: Interpreter, node: ast.Slice, scope: Scope) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            run.eval(part, scope)
    return SCALAR


def outcome(awaited: Value) -> Value:
    """Return what waiting for something gives: a future its result, a coroutine itself."""
    if isinstance(awaited, Instance) and awaited.family == "future":
        return awaited.attrs.get("result", UNKNOWN)
    return awaited
