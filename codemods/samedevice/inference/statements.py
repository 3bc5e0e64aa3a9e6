"""Statements in a row: assignments, imports, definitions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    arithmetic,
    assignment,
    calls,
    choices,
    classes,
    demands,
    escapes,
    instances,
    narrowing,
    operators,
    skipped,
    subscripts,
    unexplained,
)
from samedevice.inference.dispatch import executes
from samedevice.inference.events import FlagSet
from samedevice.inference.models import builtin_types, tensor_methods
from samedevice.inference.models.functional import DISPATCHED
from samedevice.inference.nodes import Location
from samedevice.inference.objects import (
    Class,
    External,
    Func,
    Instance,
    Method,
    Namespace,
    Partial,
    Scope,
)
from samedevice.inference.values import (
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    DeviceTest,
    Dict,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@executes(ast.Expr)
def _expression_statement(run: Interpreter, node: ast.Expr, scope: Scope) -> bool:
    run.statement = node
    value = run.eval(node.value, scope)
    tensor_methods.dropped(run, node, value, scope)
    return False


@executes(ast.Assign)
def _assignment_statement(run: Interpreter, node: ast.Assign, scope: Scope) -> bool:
    if node not in run.noted:
        run.noted.add(node)
        note_literal(run, node.value)
        note_stored(run, node.value)
    value = choices.switch(node.targets[0], run.eval(node.value, scope))
    for target in node.targets:
        run.assign(target, value, scope, node)
    if value is UNKNOWN:
        unexplained.bound(node.targets, node.value, scope)
    if len(node.targets) == 1:
        if isinstance(node.targets[0], ast.Name):
            narrowing.remember_test(node.targets[0].id, node.value, scope)
            if value is SCALAR or isinstance(value, Seq):
                subscripts.remember_key(node.targets[0].id, node.value, scope)
        choices.offer(run, node.targets[0], value, scope, node)
        if isinstance(value, DeviceTest) and isinstance(node.targets[0], ast.Name):
            run.record(FlagSet(Location(scope.path, node), None, scope, node.targets[0].id))
    return False


def note_literal(run: Interpreter, node: ast.expr) -> None:
    """A device that gets a name is the program's choice; one used directly is meant as it is."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        if syntax.dotted(node.func).rpartition(".")[2] != "device":
            return
        node = node.args[0]
    if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Call)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        run.named_literals.add(node)


def note_stored(run: Interpreter, node: ast.expr) -> None:
    """A device in a config or returned by a helper is the program's choice, too."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            note_stored(run, value)
        return
    if isinstance(node, ast.IfExp):
        note_stored(run, node.body)
        note_stored(run, node.orelse)
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            note_stored(run, value)
    if isinstance(node, ast.Call) and 1 <= len(node.args) <= 2:
        if syntax.dotted(node.func).rpartition(".")[2] == "device":
            if len(node.args) > 1:
                run.stored_literals.add(node)  # with a number that is computed
            node = node.args[0]
    run.stored_literals.add(node)


@executes(ast.AnnAssign)
def _annotated_assignment(run: Interpreter, node: ast.AnnAssign, scope: Scope) -> bool:
    if node.value is not None:
        note_stored(run, node.value)
        value = choices.switch(node.target, run.eval(node.value, scope))
        run.assign(node.target, value, scope, node)
        choices.offer(run, node.target, value, scope, node)
    return False


@executes(ast.AugAssign)
def _augmented_assignment(run: Interpreter, node: ast.AugAssign, scope: Scope) -> bool:
    old = run.eval(node.target, scope)
    new = run.eval(node.value, scope)
    spot = Location(scope.path, node)
    own = operators.binary(run, node.op, old, new, spot, scope, in_place=True)
    if own is not None:
        run.assign(node.target, own, scope, node)
        return False
    if isinstance(old, Seq):
        builtin_types.extend(run, old, new)
        return False
    if isinstance(old, Dict) and isinstance(new, Dict):
        builtin_types.dict_method(run, old, "update", [(new, spot)], {}, spot, scope)
        return False
    target, added = Location(scope.path, node.target), Location(scope.path, node.value)
    unexplained.met(run, old, target, new, scope)
    unexplained.met(run, new, added, old, scope)
    value = arithmetic.binary(run, old, target, new, added, spot, True)
    if not (isinstance(old, Tensor) and isinstance(node.target, ast.Subscript)):
        run.assign(node.target, value, scope, node)
    return False


@executes(ast.Assert)
def _assertion(run: Interpreter, node: ast.Assert, scope: Scope) -> bool:
    test = run.eval(node.test, scope)
    if isinstance(test, DeviceTest) and test.positive and demands.says_why(node, scope.node):
        run.guarded += 1  # to the end of this block
    narrowing.narrow(run, node.test, scope, True)
    return False


@executes(ast.Global, ast.Nonlocal)
def _global_statement(run: Interpreter, node: ast.Global, scope: Scope) -> bool:
    scope.writes = (scope.writes or set()) | set(node.names)
    return False


@executes(ast.Delete)
def _delete_statement(run: Interpreter, node: ast.Delete, scope: Scope) -> bool:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                scope.names.drop(name)
            case ast.Attribute(value=inner, attr=attr):
                owner = run.eval(inner, scope)
                if isinstance(owner, Instance) and attr in owner.attrs:
                    run.trail.note(owner.attrs, attr)
                    del owner.attrs[attr]
            case ast.Subscript(value=inner, slice=index):
                owner, key = run.eval(inner, scope), run.eval(index, scope)
                if isinstance(owner, Dict) and isinstance(key, Const):
                    if key.value in owner.items:
                        run.trail.note(owner.items, key.value)
                        del owner.items[key.value]
    return False


@executes(ast.Import)
def _import_statement(run: Interpreter, node: ast.Import, scope: Scope) -> bool:
    for alias in node.names:
        path = run.project.resolve(scope.path, alias.name)
        if path is not None:
            run.file(path)
        if alias.asname:
            assignment.bind(run, alias.asname, imported(run, alias.name, path), scope)
            continue
        head = alias.name.split(".")[0]
        first = run.project.resolve(scope.path, head)
        if first is not None:
            run.file(first)
        assignment.bind(run, head, imported(run, head, first), scope)
    return False


@executes(ast.ImportFrom)
def _import_from(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> bool:
    module = node.module or ""
    path = run.project.resolve(scope.path, module, node.level)
    names = run.file(path).names if path is not None else None
    for alias in node.names:
        if alias.name == "*":
            if names is not None:
                for name, value in list(names.items()):
                    if not name.startswith("_"):
                        scope.names[name] = value
            elif not node.level:
                run.stars.setdefault(scope.path, []).append(module)
                for name in torchfacts.members(module):
                    assignment.bind(run, name, External(f"{module}.{name}"), scope)
            continue
        found: Value | None = names.get(alias.name) if names is not None else None
        if found is None:
            inner = f"{module}.{alias.name}" if module else alias.name
            sub = run.project.resolve(scope.path, inner, node.level)
            if sub is not None and sub != path:
                found = Namespace(sub, run.file(sub))
            elif names is None and not node.level:
                found = External(inner)
            else:
                found = UNKNOWN
        assignment.bind(run, alias.asname or alias.name, found, scope)
    return False


def imported(run: Interpreter, name: str, path: str | None) -> Value:
    """Return what an imported module is: a file of the project, or a library."""
    return Namespace(path, run.file(path)) if path is not None else External(name)


@executes(ast.FunctionDef, ast.AsyncFunctionDef)
def _function_definition(
    run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
) -> bool:
    func = Func(node, scope)
    value: Value = func
    if skipped.on_rented_gpu(node):
        run.made_under_test.add(node)
    for decorator in node.decorator_list:
        name = syntax.dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        last = name.rpartition(".")[2]
        if last in ("setter", "deleter") and name.partition(".")[0] == node.name:
            known = scope.names.get(node.name)
            if last == "deleter" and known is not None:
                value = known
            elif isinstance(known, Func):
                func.static, func.getter = last, known.getter or known
        elif last in ("staticmethod", "classmethod", "property", "cached_property", "setter"):
            func.static = last
        else:
            value = decorated(run, value, decorator, scope)
    if scope.cls is not None and scope.node is scope.cls.node:
        func.cls = scope.cls
    elif id(node) not in run.declared:
        run.declared.add(id(node))
        run.functions.append(func)
    assignment.bind(run, node.name, value, scope)
    return False


def decorated(run: Interpreter, value: Value, decorator: ast.expr, scope: Scope) -> Value:
    """Return what a decorator of the project makes of a function or class."""
    wrapper = run.eval(decorator, scope)
    registers = wrapper.callee if isinstance(wrapper, Partial) else wrapper
    if isinstance(registers, Method):
        owner = registers.receiver
        if not (isinstance(owner, Instance) and owner.family == DISPATCHED):
            return value
    elif isinstance(registers, External):
        if registers.name != "functools.singledispatch":
            escapes.decorated(run, value, wrapper)
            return value
    elif isinstance(wrapper, Class):
        return _instance_in_place_of(run, value, wrapper, decorator, scope)
    elif not isinstance(wrapper, Func) and not _is_callable(wrapper):
        escapes.decorated(run, value, wrapper)
        return value
    spot = Location(scope.path, decorator)
    made = calls.apply(run, wrapper, [(value, spot)], {}, spot, scope)
    dispatched = isinstance(made, Instance) and made.family == DISPATCHED
    return made if isinstance(made, (Func, Class)) or dispatched else value


def _is_callable(value: Value) -> bool:
    """Tell whether a value is an object of the project's that can be called."""
    if not isinstance(value, Instance) or value.cls is None or value.family == "module":
        return False
    return value.cls.lookup("__call__") is not None


def _instance_in_place_of(
    run: Interpreter, value: Value, wrapper: Class, decorator: ast.expr, scope: Scope
) -> Value:
    """Return the object that a class makes of a function, and which is called in its place."""
    if wrapper.lookup("__call__") is None:
        return value
    if scope.cls is not None and scope.node is scope.cls.node:
        return UNKNOWN  # whose `self` it is called with is a matter of its `__get__`
    spot = Location(scope.path, decorator)
    made = calls.apply(run, wrapper, [(value, spot)], {}, spot, scope)
    return made if isinstance(made, Instance) else UNKNOWN


@executes(ast.ClassDef)
def _class_definition(run: Interpreter, node: ast.ClassDef, scope: Scope) -> bool:
    if skipped.on_rented_gpu(node):
        run.made_under_test.update(n for n in node.body if isinstance(n, ast.FunctionDef))
    klass = Class(node, scope, [run.eval(base, scope) for base in node.bases])
    instances.classify(klass)
    body = Scope(scope.path, node, scope, scope.globals)
    body.cls = klass
    body.names = klass.names
    run.block(node.body, body)
    klass.names = body.names
    classes.declare(run, klass, scope)
    if any(isinstance(value, Device) for value in klass.names.values()):
        run.class_devices = True
    if id(node) not in run.declared:
        run.declared.add(id(node))
        run.classes.append(klass)
    value: Value = klass
    for decorator in node.decorator_list:
        value = decorated(run, value, decorator, scope)
    assignment.bind(run, node.name, value, scope)
    return False
