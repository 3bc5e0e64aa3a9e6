"""Parameters that a command line fills: those of functions that click and typer call.

Of the defaults only an accelerator counts: users who choose none get it. "cpu" may stand there on
purpose.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samedevice.inference import classes, instances
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, External, Func, Instance, Scope
from samedevice.inference.values import DEVICE, SCALAR, CliOption, Const, Device, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What typer calls a parameter's default, or says beside its type.
_OF_TYPER = frozenset(("typer.Option", "typer.Argument"))
_OF_CLICK = frozenset(("click.option", "click.argument"))
#: Names of options and settings.
_OPTIONS = re.compile(r"(?i)arg|opt|conf|cfg|param|flag|setting|^hps?$")
#: What makes a command of a function.
_COMMANDS = frozenset(("command", "callback"))


def given(
    run: Interpreter, func: Func, argument: ast.arg | None, default: ast.expr | None = None
) -> Value | None:
    """Return what users get for a parameter who choose nothing, if that names an accelerator."""
    found = _option(run, func, argument, default) if argument is not None else None
    return found or _of_settings(run, argument, func.scope)


def of_typer(run: Interpreter, default: ast.expr, scope: Scope) -> Value | None:
    """Return the accelerator that `typer.Option("cuda")`, a parameter's default, says."""
    if not isinstance(default, ast.Call):
        return None
    found = _of_call(run, default, scope, _OF_TYPER)
    return _chosen(run, found, scope) if found is not None else None


def _option(
    run: Interpreter, func: Func, argument: ast.arg, default: ast.expr | None
) -> Value | None:
    node = func.node
    if isinstance(node, ast.Lambda):
        return None
    if isinstance(default, ast.Call):
        return of_typer(run, default, func.scope)
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    if default is not None:
        named = {syntax.dotted(each.func).rpartition(".")[2] for each in calls}
        return None if named.isdisjoint(_COMMANDS) else _chosen(run, default, func.scope)
    for each in calls:
        if argument.arg in _names(each):
            found = _of_call(run, each, func.scope, _OF_CLICK)
            return _chosen(run, found, func.scope) if found is not None else None
    return None


def _names(call: ast.Call) -> list[str]:
    """Return the parameters that an option of click may be: by its long flags, or its own name."""
    said = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    plain = [text for text in said if not text.startswith("-")]
    return plain or [
        text.split("/")[0].lstrip("-").replace("-", "_") for text in said if text.startswith("--")
    ]


def _of_call(
    run: Interpreter, call: ast.Call, scope: Scope, makers: frozenset[str]
) -> ast.expr | None:
    """Return the default that a call of a library says for an option."""
    callee = run.eval(call.func, scope)
    if not isinstance(callee, External) or callee.name not in makers:
        return None
    given = next((word.value for word in call.keywords if word.arg == "default"), None)
    return given or (call.args[0] if call.args and makers is _OF_TYPER else None)


def _chosen(run: Interpreter, default: ast.expr, scope: Scope) -> Value | None:
    value = run.eval(default, scope)
    if isinstance(value, Device):
        return value  # it asks which there is
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return None
    if not DEVICE.fullmatch(value.value):
        return None
    spot = value.spot or Location(scope.path, default)
    return CliOption(value.value, spot)


def _of_settings(run: Interpreter, argument: ast.arg | None, scope: Scope) -> Value | None:
    """Return an instance for a parameter that is one of a class whose fields have defaults.

    A library's decorator fills it from the command line. Of the defaults only an accelerator
    counts: users who choose none get it. "cpu" may stand there on purpose.
    """
    if argument is None or not isinstance(argument.annotation, (ast.Name, ast.Attribute)):
        return None
    klass = run.eval(argument.annotation, scope)
    if not isinstance(klass, Class) or klass.family or klass.bases:
        return None
    declared = classes.fields(klass)
    if not declared or isinstance(klass.lookup("__init__"), Func):
        return None
    given = [klass.names.get(field.name) for field in declared]
    if any(value is None or _is_cpu(value) for value in given):
        return None
    made = instances.instantiate(run, klass, [], {}, Location(scope.path, argument), scope)
    if not isinstance(made, Instance):
        return None
    for name, value in made.attrs.items():
        if isinstance(value, Const):
            if not (isinstance(value.value, str) and DEVICE.fullmatch(value.value)):
                made.attrs[name] = SCALAR
    return made


def _is_cpu(value: Value) -> bool:
    """Tell whether a value is the text that names the CPU."""
    return isinstance(value, Const) and value.value == "cpu"


def decides(run: Interpreter, option: str, path: str) -> bool:
    """Tell whether a device may be chosen by an option where it is set: for all, and for good."""
    return _is_for_all(run, option, path) and not _is_set_again(run, option, path)


def _is_for_all(run: Interpreter, option: str, path: str) -> bool:
    """Tell whether what reads an option then is all that puts something on a device.

    One that some code reads already is; one that nobody reads is only where no other file of the
    program moves anything: that one would not obey it.
    """
    program = run.project.programs.get(path, frozenset((path,)))
    trees = {other: run.project.tree(other) for other in program}
    attr = option.rpartition(".")[2]
    if any(attr in _read(tree) for tree in trees.values() if tree is not None):
        return True
    return not any(_moves(tree) for other, tree in trees.items() if other != path and tree)


def _is_set_again(run: Interpreter, option: str, path: str) -> bool:
    """Tell whether a program may set a switch anew once it is set: a device that was chosen by it
    would not know.

    That is a name that a function declares `global`, or an object's own attribute that code from
    outside sets (`agent.use_cuda = True`).
    """
    owner, _, name = option.rpartition(".")
    if owner not in ("", "self"):
        return False
    trees = map(run.project.tree, run.project.programs.get(path, frozenset((path,))))
    return any((owner, name) in _set_again(tree) for tree in trees if tree is not None)


@syntax.per_node
def _set_again(tree: ast.AST) -> frozenset[tuple[str, str]]:
    """Return the names that functions of a file set as global ones, and the attributes that it sets
    of other objects, each behind "self"; options are none of these."""
    found: set[tuple[str, str]] = set()
    for node in syntax.walk(tree):
        match node:
            case ast.Global(names=names):
                found.update(("", name) for name in names)
            case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Store()):
                if owner not in ("self", "cls") and not _OPTIONS.search(owner):
                    found.add(("self", attr))
    return frozenset(found)


@syntax.per_node
def _read(tree: ast.AST) -> frozenset[str]:
    """Return the names and attributes that a file reads."""
    return frozenset(
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in syntax.walk(tree)
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load)
    )


@syntax.per_node
def _moves(tree: ast.AST) -> bool:
    """Tell whether a file moves something."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cuda", "to")
        for node in syntax.walk(tree)
    )
