"""Names of files that code computes: `globals()[name]`, `getattr(models, name)`, `import_module`.

A name that is known means what the file binds to it. One that is not means any of the file's module
classes, or functions that make modules, as far as the parts of it that are known allow; a call then
tells which of them it can mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import attributes, classes
from samedevice.inference.nodes import Location
from samedevice.inference.objects import (
    Class,
    External,
    Func,
    Instance,
    Method,
    Namespace,
    Scope,
    Union,
)
from samedevice.inference.values import UNKNOWN, Arg, Const, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def member(
    run: Interpreter, owner: Namespace, key: Value, name: ast.AST, spot: Location, scope: Scope
) -> Value:
    """Return what a file or module has under a name, which is written as `name`."""
    if isinstance(key, Const) and isinstance(key.value, str):
        return attributes.attribute(run, owner, key.value, spot, scope)
    asked = classes.pattern(name)
    names = owner.scope.names
    own = scope.globals is owner.scope
    found = [
        value
        for bound, value in names.items()
        if fnmatchcase(bound, asked) and not bound.startswith("_") and _makes(value, not own)
    ]
    bases = {base for value in found if isinstance(value, Class) for base in value.mro()[1:]}
    options = [value for value in found if value not in bases]
    if not options:
        return UNKNOWN
    return options[0] if len(options) == 1 else Union(options)


def _makes(value: Value, functions: bool) -> bool:
    """Tell whether a call of something gives a module: of a class, or of a function that says so.

    `functions`: they count, too; of those of the file that asks, most do something else.
    """
    if isinstance(value, Class):
        return value.family == "module"
    if not isinstance(value, Func):
        return False
    return functions and any(_is_module(value, given) for given in _returned(value.node))


def _returned(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a function returns, a name as what it was bound to."""
    given: dict[str, ast.expr] = {}
    for statement in syntax.statements(node):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given.setdefault(name, value)
            case ast.Return(value=ast.Name(id=name)) if name in given:
                yield given[name]
            case ast.Return(value=ast.expr() as value):
                yield value


def _is_module(func: Func, given: ast.expr) -> bool:
    if not isinstance(given, ast.Call):
        return False
    made: Value | None = None
    for part in syntax.dotted(given.func).split("."):
        if made is None:
            made = func.scope.lookup(part)
        elif isinstance(made, External):
            made = External(f"{made.name}.{part}")
        else:
            return False
    if isinstance(made, Class):
        return made.family == "module"
    fact = torchfacts.lookup(made.name) if isinstance(made, External) else None
    return fact is not None and fact.kind == "module"


def meant(options: list[Value], args: list[Arg], kwargs: dict[str, Arg]) -> list[Value]:
    """Return which of several values are called: those that can be, if any can.

    Of a module and an object of another library that one name stands for, it is the module.
    """
    known = [one for one in options if takes(one, args, kwargs)] or options
    others = [one for one in known if not _of_library(one)]
    return others if any(one is not UNKNOWN for one in others) else known


def _of_library(callee: Value) -> bool:
    called = callee.receiver if isinstance(callee, Method) else callee
    return isinstance(called, Instance) and called.family == "hostobject"


def takes(callee: Value, args: list[Arg], kwargs: dict[str, Arg]) -> bool:
    """Tell whether something can be called with some arguments, as far as is known."""
    init = callee.lookup("__init__") if isinstance(callee, Class) else callee
    if not isinstance(init, Func) or "**" in kwargs:
        return True
    spec = init.node.args
    names = [one.arg for one in (*spec.posonlyargs, *spec.args)][isinstance(callee, Class) :]
    needed = names[: len(names) - len(spec.defaults)] if len(spec.defaults) < len(names) else []
    if len(args) > len(names) and spec.vararg is None:
        return False
    known = {*names, *(one.arg for one in spec.kwonlyargs)}
    if spec.kwarg is None and not kwargs.keys() <= known:
        return False
    return {*needed[len(args) :]} <= kwargs.keys()


def imported(run: Interpreter, name: str, scope: Scope) -> Value:
    """Return the module that a text names."""
    level = len(name) - len(name.lstrip("."))
    path = run.project.resolve(scope.path, name.lstrip("."), level)
    if path is not None:
        return Namespace(path, run.file(path))
    return External(name) if not level else UNKNOWN


def of_file(scope: Scope) -> Namespace:
    """Return the file that code is in."""
    return Namespace(scope.path, scope.globals)
