"""What leaves the code that can be read: what becomes of it there is not known.

A tensor or a module escapes with what unknown code is handed, or by an attribute or entry of an
unknown object. A function escapes likewise, and is then called with anything. A program that uses
a device has run with that; one for the CPU that is converted has not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import place_tests, uncalled, unexplained
from samedevice.inference.events import Placing
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.objects import Class, External, Func, Instance, Method, Partial, Scope
from samedevice.inference.open_events import Escaped, Undecided
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import UNKNOWN, Arg, Const, Device, Dict, Iter, Seq, Tensor, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter
    from samedevice.inference.solution import Solution

#: Containers and objects that are looked into for what escapes with them.
_DEEP = 3
#: Whose decorators call a function as it is called.
_KNOWN = sys.stdlib_module_names | {"torch", "pytest", "builtins", "click", "typer", "hydra"}
#: Methods that copy, or read the type or shape of what they are given.
_LOOKS = frozenset(
    ("copy_", "expand_as", "load_state_dict", "reshape_as", "to", "type_as", "view_as")
)


def handed(
    run: Interpreter, args: Iterable[Arg], kwargs: dict[str, Arg], spot: Location, scope: Scope
) -> None:
    """Note what a call hands to code of which nothing is known."""
    values = [value for value, _ in (*args, *kwargs.values())]
    nodes = [node for value in values for node in _places(value)]
    called = spot.node.func if isinstance(spot.node, ast.Call) else None
    there = unexplained.placed(run, called, scope) if called is not None else None
    if there is not None and not isinstance(called, ast.Attribute):
        nodes.insert(0, there)  # it is where it was told to be
    devices = [value.node for value in values if isinstance(value, Device)]
    nodes += devices  # what it puts there, it may let meet anything
    if nodes:
        unknown = bool(devices) or any(value is UNKNOWN for value in values)
        run.record(Escaped(spot, nodes[0], scope, nodes=tuple(nodes), with_unknown=unknown))
    for value in values:
        for func in _functions(value):
            _called_by_others(run, func)


def by_method(
    run: Interpreter,
    func: ast.Attribute,
    args: Iterable[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> None:
    """Note what a method of something unknown is handed, if it does more than look at it."""
    if func.attr not in _LOOKS:
        handed(run, args, kwargs, spot, scope)


def stored(run: Interpreter, owner: Value, value: Value, spot: Location, scope: Scope) -> None:
    """Note what is put into an object of which nothing is known."""
    if owner is UNKNOWN:
        handed(run, [(value, spot)], {}, spot, scope)


def taken(run: Interpreter, owner: Instance, spot: Location, scope: Scope) -> None:
    """Note that code takes some attribute of a module, by a name that is not known."""
    if owner.family == "module" and owner.node is not None:
        run.record(Escaped(spot, owner.node, scope, nodes=(owner.node,)))


def evaluated(run: Interpreter, text: Value, spot: Location, scope: Scope) -> None:
    """Note that code runs which is in a text: it sees what the function around it has."""
    known = text.value if isinstance(text, Const) and isinstance(text.value, str) else None
    held = (
        value
        for name, value in scope.names.items()
        if known is None or re.search(rf"\b{re.escape(name)}\b", known)
    )
    nodes = [node for value in held for node in _places(value, 0)]
    if nodes:
        run.record(Escaped(spot, nodes[0], scope, nodes=tuple(nodes)))


def called_back(run: Interpreter, args: Iterable[Arg], kwargs: dict[str, Arg]) -> None:
    """Note the functions that a library of the host's calls with what it has."""
    for value, _ in (*args, *kwargs.values()):
        if isinstance(value, Func):
            _called_by_others(run, value)


def decorated(run: Interpreter, value: Value, decorator: Value) -> None:
    """Note a function that a decorator is given, unless that is torch's, or Python's own."""
    known = isinstance(decorator, External) and decorator.name.partition(".")[0] in _KNOWN
    if isinstance(value, Func) and not known:
        run.escaped.add(value.node)


def undecided(solution: Solution) -> Iterator[SiteGroup]:
    """Return where what a conversion moves escapes, where an escaped function meets it, and where
    it would be answered otherwise than it was."""
    free = solution.policy.converting
    if not free:
        return
    prepared = _prepared(solution)
    for group in solution.groups(Escaped):
        path = group.spot.path
        if path in free and any(_moves(solution, site, path in prepared) for site in group.sites):
            yield group
    for met in solution.groups(Undecided):
        if met.spot.path in free and any(
            site.callers_unknown
            and _is_escaped(solution, site.scope)
            and solution.place(site.node) is Place.CENTRAL
            for site in met.sites
        ):
            yield met
    yield from (group for group in uncalled.met(solution) if not left_to_callers(solution, group))
    yield from place_tests.undecided(solution)


def _prepared(solution: Solution) -> set[str]:
    """Return the files that move values to a device which they call the CPU so far.

    Who wrote them knows that what they move may be elsewhere, and what gets it.
    """
    named = {device.node.find() for device in solution.interpreter.cpu_devices}
    return {
        group.spot.path
        for group in solution.all_groups(Placing)
        for site in group.sites
        if site.device is not None and site.device.node.find() in named
    }


def left_to_callers(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a parameter's callers may all be in sight of who runs the program.

    Unknown code hands in what it has handed in so far.
    """
    converted = group.spot.path in solution.policy.converting
    return not (converted and _is_escaped(solution, group.first.scope))


def _is_escaped(solution: Solution, scope: Scope) -> bool:
    """Tell whether unknown code calls a function, or one that it is defined in."""
    escaped = solution.interpreter.escaped
    at: Scope | None = scope
    while at is not None and at.func is not None:
        if at.func.node in escaped or _has_unknown_base(at.func.cls):
            return True
        at = at.func.scope
    return False


def _has_unknown_base(klass: Class | None) -> bool:
    """Tell whether code of a class above may call the methods of a class, and is not known."""
    bases = [base for each in klass.mro() for base in each.bases] if klass is not None else []
    return any(
        base is UNKNOWN
        or isinstance(base, External)
        and base.name.partition(".")[0] not in _KNOWN
        and torchfacts.lookup(base.name) is None
        for base in bases
    )


def _moves(solution: Solution, site: Escaped, prepared: bool) -> bool:
    """Tell whether what escapes would be on the device; if `prepared`, beside what would not be."""
    there = [solution.place(node) is Place.CENTRAL for node in site.nodes]
    return any(there) and not (prepared and all(there) and not site.with_unknown)


def _places(value: Value, depth: int = _DEEP, *, listed: bool = False) -> Iterator[PlaceVar]:
    """Yield the places of the tensors and modules that a value brings along.

    One element mixes with any device, unless a list of them is made an array. Parameters are where
    they are trained, but what was taken out of them is looked at.
    """
    if isinstance(value, Tensor):
        if not (value.scalar and not listed or value.parameter or value.lent):
            yield value.node
    elif isinstance(value, Instance) and value.family == "module":
        if value.node is not None and value.stateful:
            yield value.node
    elif depth:
        for member in _members(value):
            yield from _places(member, depth - 1, listed=isinstance(value, Seq))


def _members(value: Value) -> Iterable[Value]:
    match value:
        case Seq() | Dict():
            return value.members()
        case Iter():
            return (value.element,)
        case Partial():
            return (value.callee, *(one for one, _ in value.args))
        case Instance(family=""):
            return list(value.attrs.values())
    return ()


def _functions(value: Value, depth: int = _DEEP) -> Iterator[Func]:
    """Yield the functions that a value brings along; those of an object are its methods."""
    if isinstance(value, Func):
        yield value
    elif isinstance(value, Method):
        return
    elif isinstance(value, Instance) and not value.family and value.cls is not None:
        for klass in value.cls.mro():
            for member in klass.names.values():
                if isinstance(member, Func):
                    yield member
    elif depth:
        for member in _members(value):
            yield from _functions(member, depth - 1)


def _called_by_others(run: Interpreter, func: Func) -> None:
    run.escaped.add(func.node)
    if isinstance(func.node, ast.Lambda) and id(func.node) not in run.declared:
        run.declared.add(id(func.node))
        run.functions.append(func)
