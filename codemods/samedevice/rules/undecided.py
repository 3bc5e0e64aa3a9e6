"""A value is used on the device, and the code does not show where the value itself is.

Why: such a value may be on the CPU, and then the program stops there. So `check` lists it when
asked, and does not say that nothing is wrong. The same is told of a module that a program for the
CPU hands to a library of which nothing is known, or trains without calling it in sight: what it is
called with may be on the CPU, so the program is not converted. Nor is one that takes what would
move to code of which nothing is known, or has such code call a function that uses it.

Told is, too, a call that takes tensors of the device and of the CPU to a library of which nothing
is known, and a value that is on the device on some paths only where it meets one that is on the
CPU, or on the device. In a large program not each call is followed: one that another stands for is
told where it is given a value on the CPU, and may do something with it that the other one did not
show.

A device of which nothing is known, what a library gives or a file holds, is told in a program that
asks nobody where it is to run.

What a function is given that nobody is seen to call is told where it meets a value that the
program put on the device: it is left to callers. No conversion waits for it.

Example:

    batch = library.load(path)
    model(batch)

stays as it is: `samedevice fix --run "main.py"` finds out by running the program.

Fix safety: there is no fix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.events import Optimizes
from samedevice.inference.nodes import Location
from samedevice.inference.open_events import (
    Escaped,
    GivenAway,
    Handed,
    HandedTogether,
    MetApart,
    MetByCallers,
    MetTaken,
    MovedAlone,
    NotFollowed,
    ReadApart,
    Undecided,
    UnknownDevice,
    WhereAsked,
)
from samedevice.inference.sites import SiteGroup
from samedevice.reading import syntax
from samedevice.rules._build import finding, short
from samedevice.rules.module_not_moved import is_made_elsewhere, unmoved

#: What gives back an object as it was saved, a model perhaps, and with it its place.
_UNPICKLED = frozenset(
    f"{library}.{name}"
    for library in ("pickle", "joblib", "dill", "cloudpickle")
    for name in ("load", "loads")
)
#: Why an optimizer is told.
_NOT_CALLED = "no code that could be followed calls it"
_NOT_MADE = "where it comes from could not be followed"
#: Names that are followed back to say why nothing is known.
_HOPS = 3


def find(solution: Solution) -> Iterator[Finding]:
    """Report what meets the device and comes from where nothing can be read."""
    done: set[ast.AST] = set()
    for group in solution.undecided():
        if group.spot.node not in done:
            done.add(group.spot.node)
            yield _noted(solution, group, _message(solution, group))
    for group in solution.left_to_callers():
        if group.spot.node not in done:
            yield _left(solution, group)
    for made, _ in unmoved(solution):
        if made.spot.node not in done and is_made_elsewhere(made):
            code = short(solution.code(made.spot))
            yield _noted(solution, made, f"`{code}` is made of parts that could not be followed")
    for group in solution.groups(Handed):
        if group.spot.node not in done and solution.policy.has_device(group.spot.path):
            source = _source(solution, group.spot)
            why = ""
            if source in _UNPICKLED:
                why = "was unpickled: it is where it was, perhaps elsewhere"
            if source.rpartition(".")[2] == "instantiate":
                why = "is made of settings, perhaps a module that nothing moves"
            if why:
                code = short(solution.code(group.spot))
                yield _noted(solution, group, f"`{code}` {why}")


def _message(solution: Solution, group: SiteGroup) -> str:
    """Return what happens to a value, and why that is not decided."""
    code = short(solution.code(group.spot))
    match group.first:
        case Undecided(has_device=True):
            return f"`{code}` has a device of its own, and {_NOT_MADE}"
        case GivenAway(memory=True):
            return f"`{code}` takes the memory of a tensor to code that could not be followed"
        case GivenAway():
            return f"`{code}` takes a module to a library whose code could not be followed"
        case Optimizes(modules=modules):
            return f"`{code}` trains a module, and {_NOT_CALLED if modules else _NOT_MADE}"
        case UnknownDevice():
            return f"`{code}` is a device, and {_reason(solution, group.spot)}"
        case HandedTogether():
            return f"`{code}` takes values of the device and of the CPU to unknown code"
        case MovedAlone():
            return f"`{code}` moves one of several, and where the others go could not be followed"
        case NotFollowed():
            return f"`{code}` is given a value on the CPU, and not each of its calls is followed"
        case WhereAsked():
            return f"`{code}` decides what is computed, and would be answered otherwise"
        case Escaped():
            return f"`{code}` takes what would be on the device to code that could not be followed"
        case MetByCallers() as site:
            used, name = _used(solution, group.spot, site), _parameter_of(site)
            return f"{used}, and code that could not be followed gives `{name}`"
        case MetApart(on_host=on_host):
            side = "the CPU" if on_host else "the device"
            return f"`{code}` is on the device on some paths only, and meets a value on {side}"
        case ReadApart(name=name):
            return f"`{code}` is, or holds, a tensor of the device at times, and `{name}` reads it"
    return f"`{code}` is used on the device, and {_reason(solution, group.spot)}"


def _noted(solution: Solution, group: SiteGroup, message: str) -> Finding:
    found = finding(
        solution, "undecided", group.spot, message,
        None,
        origins=()
        if isinstance(group.first, Handed)
        else solution.origin(group.first.node, "the device comes from here"),
        unfixed='`samedevice fix --run "PROGRAM"` finds out by running the program',
    )  # fmt: skip
    return replace(found, level="note")


def _left(solution: Solution, group: SiteGroup) -> Finding:
    """Return what is told of a parameter that meets the device, and that nobody is seen to give."""
    site = group.first
    if isinstance(site, MetTaken):
        code = short(solution.code(group.spot))
        who = f"`{site.trainer}` takes away" if site.trainer else "callers move"
        message = f"`{code}` is on the CPU, and meets a module that {who}"
        found = _noted(solution, group, message)
        if not site.trainer:
            asked = "a buffer moves along, or `.to(x.device)` takes it to an input `x`"
            return replace(found, unfixed=asked, left_to_callers=True)
        there = "accelerator" if site.trainer == "prepare" else "model"
        return replace(found, unfixed=f"`.to({there}.device)` takes it there", left_to_callers=True)
    assert isinstance(site, MetByCallers)
    used, name = _used(solution, group.spot, site), _parameter_of(site)
    message = f"{used}, and no call that could be followed gives `{name}`"
    found = _noted(solution, group, message)
    return replace(found, unfixed="whoever calls the function decides", left_to_callers=True)


def _used(solution: Solution, spot: Location, site: MetByCallers) -> str:
    """Return what happens on the device to what a function is given."""
    code = short(solution.code(spot))
    what = f"`{_parameter_of(site)}` is called with a value" if site.called else f"`{code}` is used"
    return f"{what} on the device"


def _parameter_of(site: MetByCallers) -> str:
    name: str = getattr(site.parameter.node, "arg", "")
    return name


def _source(solution: Solution, spot: Location) -> str:
    """Return the function that a name's value came from, as the code calls it."""
    home = solution.programs.function_of(spot)
    code = getattr(spot.node, "id", "")
    bound = _bound(solution, home, spot, code) if code else None
    return syntax.dotted(bound.func) if isinstance(bound, ast.Call) else ""


def _reason(solution: Solution, spot: Location) -> str:
    """Return why nothing is known of an expression, as far as its nearest lines say it."""
    home = solution.programs.function_of(spot)
    part = ""
    node: ast.AST | None = spot.node
    for _ in range(_HOPS):
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(node, ast.Call):
                name = syntax.dotted(node.func)
                if name and _is_of_library(solution, spot.path, name):
                    return f"nothing is known of what `{name}` gives"
                node = node.func
                continue
            if isinstance(node, ast.Subscript):
                part = short(ast.unparse(node.value))
            node = node.value
        if not isinstance(node, ast.Name):
            break
        if home is not None and node.id in _parameters(home):
            return f"no call that could be followed gives `{node.id}`"
        bound = _bound(solution, home, spot, node.id)
        if bound is None or bound is node:
            if node is not spot.node and not part:
                return f"what `{node.id}` gives could not be followed"
            break
        node = bound
    if part:
        return f"what `{part}` holds could not be followed"
    return _NOT_MADE


def _is_of_library(solution: Solution, path: str, name: str) -> bool:
    """Tell whether a dotted name begins with something imported from outside of the project."""
    first = name.partition(".")[0]
    for node in syntax.statements(solution.programs.tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.partition(".")[0]) == first:
                    return solution.project.resolve(path, alias.name) is None
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if any((alias.asname or alias.name) == first for alias in node.names):
                return solution.project.resolve(path, node.module or "") is None
    return False


def _parameters(home: ast.AST) -> set[str]:
    given = home.args if isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    if given is None:
        return set()
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)} - {"self"}


@syntax.per_node
def _given(scope: ast.AST) -> dict[str, list[tuple[int, ast.expr]]]:
    """Return what names are given in a file or function: the line, and the value.

    The outer statements come before the inner ones.
    """
    found: dict[str, list[tuple[int, ast.expr]]] = {}
    for node in syntax.statements(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                given = targets
            case ast.For(target=target, iter=value):
                given = [target]
            case _:
                continue
        for each in given:
            for name in {n.id for n in ast.walk(each) if isinstance(n, ast.Name)}:
                found.setdefault(name, []).append((node.lineno, value))
    return found


def _bound(solution: Solution, home: ast.AST | None, spot: Location, name: str) -> ast.expr | None:
    """Return what a name was given last above a place, in its function or else in the file."""
    tree = solution.programs.tree(spot.path)
    line = getattr(spot.node, "lineno", 0)
    for scope in (home, tree) if home is not None else (tree,):
        found: ast.expr | None = None
        for at, value in _given(scope).get(name, ()):
            if at <= line:
                found = value
        if found is not None:
            return found
    return None
