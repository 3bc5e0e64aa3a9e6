"""The device that a function speaks of already: what it says once, it says again.

Who reads the function finds one spelling, and what was evaluated above is bound here, is not None
and has a device.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from samedevice.finding import DeviceExpression
from samedevice.inference.nodes import ON_DEVICE, Location, Place
from samedevice.inference.objects import Class, Instance
from samedevice.inference.programs import Programs
from samedevice.inference.reach import may_be_none, optional
from samedevice.inference.sites import Site
from samedevice.inference.values import UNKNOWN, Device, Tensor, Value
from samedevice.reading import syntax
from samedevice.repair import words
from samedevice.repair.asked import Asked
from samedevice.repair.named import is_of_a_part

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames

_BLOCKS = ("body", "orelse", "finalbody")
#: The devices that a statement puts something on, and its line.
_Said = tuple[int, list[str]]
#: What a test about devices has in it.
_ABOUT = re.compile(r"(?i)cuda|gpu|cpu|mps|device")
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
#: What may leave out a part of itself.
_PERHAPS = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension)


def given(asked: Asked) -> DeviceExpression | None:
    """Return the parameter of a function that every call gives the central device."""
    func, reach = asked.scope.func, asked.names.reach
    if asked.kind != "creation" or func is None or isinstance(func.node, ast.Lambda):
        return None
    if reach.builds(asked.scope):
        return None
    known = [
        {code: value for code, value, _ in site.devices if reach.is_central(value)}
        for site in asked.group.sites
    ]
    left_out = optional(asked.scope)
    for name in syntax.parameters(func.node):
        values = [devices.get(name) for devices in known]
        if not words.is_device(func.node, name):
            continue
        if name not in left_out and all(isinstance(v, Device) and v.resolved for v in values):
            text = any(v.text for v in values if isinstance(v, Device))
            return DeviceExpression(name, text=text)
    return None


def above(asked: Asked) -> DeviceExpression | None:
    """Return the device of a value that the function has put something on before."""
    if not asked.follows:
        return None
    names, site, scope = asked.names, asked.first, asked.scope
    scopes, absent = names.interpreter.all_scopes.get(scope.node, [scope]), may_be_none(scope)
    made = set(made_on(asked.spot.node))  # which torch has taken for a device by then
    for code in spoken(names.programs, asked.spot, asked.moved):
        if "." in code:
            usable = _holds(names, code, site)
        else:
            held = [one.lookup(code) for one in scopes]
            held = [each for each in held if code not in made or isinstance(each, Device)]
            usable = code not in absent and not any(_is_elsewhere(names, each) for each in held)
        if usable:
            return as_said(names, code, site)
    return None


def _holds(names: DeviceNames, code: str, site: Site) -> bool:
    """Tell whether an attribute may be the central device, as far as is known of its owner."""
    scopes = names.interpreter.all_scopes.get(site.scope.node, [site.scope])
    held = [one.lookup(code.partition(".")[0]) for one in scopes]
    if any(isinstance(value, (Instance, Class)) for value in held):
        known = (value for name, value, _ in site.devices if name == code)
        return any(map(names.reach.is_central, known))
    places = {names.solution.place(v.node) for v in held if isinstance(v, Tensor)}
    return not places or not places.isdisjoint(ON_DEVICE)


def elsewhere(asked: Asked) -> DeviceExpression | None:
    """Return the device that the function puts things on, in whichever line, as it was given it.

    It is a parameter, or what one has; the function asks nothing of it, and never sets it.
    """
    home = asked.names.programs.function_of(asked.spot)
    if home is None or asked.itself or asked.kind == "operand" and not asked.follows:
        return None
    place = asked.names.solution.place
    if any(place(site.node) is Place.FOLLOWS for site in asked.group.sites):
        return None  # it belongs where that is which it meets, and callers decide about that
    names, site, absent = asked.names, asked.first, may_be_none(asked.scope)
    parameters = syntax.parameters(home)
    for code in _said_in(home):
        root = code.partition(".")[0]
        if root not in parameters or root in absent or root in asked.moved:
            continue
        if "." not in code or site.in_constructor and root == "self":
            continue
        if _holds(names, code, site):
            return as_said(names, code, site)
    return None


@syntax.per_node
def _said_in(home: ast.AST) -> list[str]:
    """Return the devices of what a function is given, on which it puts something.

    Those that it says most come first. What it says only where a test about devices lets it may
    not be there else.
    """
    said: Counter[str] = Counter()
    changed = set(_bound(home))
    nodes = syntax.walk(home)
    guarded = {
        inner
        for node in nodes
        if isinstance(node, (ast.If, ast.IfExp)) and _ABOUT.search(ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and node not in guarded:
            said.update(_devices(node))
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            changed.add(ast.unparse(node))
        if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            changed.update(_asked_about(node.test))
    return [
        code
        for code, _ in said.most_common()
        if code not in changed and code.partition(".")[0] not in changed
    ]


def _asked_about(test: ast.expr) -> Iterator[str]:
    """Yield what a test asks about as a whole: `x`, not `x.shape`."""
    queue: list[ast.AST] = [test]
    while queue:
        node = queue.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield ast.unparse(node)
        else:
            queue += ast.iter_child_nodes(node)


def own(asked: Asked) -> DeviceExpression | None:
    """Return the variable of the function itself that stands for the device."""
    if asked.kind != "operand" or not asked.follows:
        return None
    names, site = asked.names, asked.first
    parameters = syntax.parameters(site.scope.func.node) if site.scope.func is not None else ()
    for code, value, is_global in site.devices:
        if isinstance(value, Device) and not (is_global or "." in code or code in parameters):
            if value.planned is None and code in site.scope.names:
                if not value.of_value and names.reach.is_central(value):
                    if not is_of_a_part(names, code, site.spot):
                        return DeviceExpression(code, text=value.text)
    return None


def as_said(names: DeviceNames, code: str, site: Site) -> DeviceExpression:
    """Return a device as a place names it: a text, unless all that arrives is a `torch.device`.

    What is not known may be a text as well.
    """
    scopes = names.interpreter.all_scopes.get(site.scope.node, [site.scope])
    held = [one.lookup(code.partition(".")[0]) for one in scopes]
    if "." in code and not all(isinstance(value, Tensor) for value in held):
        held = [value for name, value, _ in site.devices if name == code]
    devices = [value for value in held if not (isinstance(value, Tensor) and "." in code)]
    known = all(isinstance(value, Device) and not value.text for value in devices)
    return DeviceExpression(code, text=not (held and known))


def _is_elsewhere(names: DeviceNames, value: Value | None) -> bool:
    """Tell whether what a function calls `device` may be another one than the central one."""
    if isinstance(value, Device):
        return not names.reach.is_central(value) or value.planned is not None
    return value is not UNKNOWN


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
    yield from made_on(spot.node)
    for since_line, devices in _certain(programs, spot, home):
        for said in devices:
            root = said.partition(".")[0]
            since = range(since_line, line + 1)
            if root not in without and not any(at in since for at in bound.get(root, ())):
                yield said


def made_on(node: ast.AST) -> Iterator[str]:
    """Yield the devices on which the methods before an operand's put what it is made of, the
    latest first: `torch.arange(n, device=device).cuda()`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
        if isinstance(node, ast.Call):
            yield from _devices(node)


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
        said = syntax.dotted(each)
        last = said.rpartition(".")[2].lower()
        if last == "device" or "." in said and "device" in last and not words.part_of(last):
            yield said


@syntax.per_node
def _bound(home: ast.AST) -> dict[str, list[int]]:
    """Return the lines of a function that bind its names anew."""
    found: dict[str, list[int]] = {}
    for node in syntax.walk(home):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node.lineno)
    return found
