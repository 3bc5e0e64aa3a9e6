"""The names for the device that a place has in reach: of its function, its object and its file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.finding import DeviceExpression, Edit, Import
from samedevice.inference.classes import has_fields
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, Namespace
from samedevice.inference.reach import optional
from samedevice.inference.sites import Site
from samedevice.inference.values import (
    DEVICE,
    CliOption,
    Const,
    Device,
    PlannedDefinition,
    Value,
)
from samedevice.reading import syntax
from samedevice.repair import definitions, handing, words
from samedevice.repair.asked import Asked

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames


def nearest(asked: Asked) -> DeviceExpression | None:
    """Return the nearest name that stands for the central device by the time of a place."""
    name, is_global = next(_names(asked), (None, False))
    func = asked.scope.function()
    if name is None or not (
        is_global and handing.is_of_main(asked.names.programs, name.code, func)
    ):
        return name
    if _is_said_in(asked, name.code):
        return name
    # Who imports the file has no name that only `__main__` binds.
    return handing.parameter(asked) or name


def _is_said_in(asked: Asked, code: str) -> bool:
    """Tell whether the function of a place needs a name of the file already."""
    home = asked.names.programs.function_of(asked.spot)
    if home is None or code in syntax.parameters(home):
        return False
    uses = [n for n in syntax.walk(home) if isinstance(n, ast.Name) and n.id == code]
    return bool(uses) and all(isinstance(node.ctx, ast.Load) for node in uses)


def _names(asked: Asked) -> Iterator[tuple[DeviceExpression, bool]]:
    """Yield the names in reach that stand for the central device, the nearest first.

    And whether each is one of the file.
    """
    names, site, module = asked.names, asked.site, asked.module
    left_out, tested = optional(site.scope), names.reach.is_tested(site.scope)
    for code, value, is_global in sorted(site.devices, key=farness):
        if is_global and (tested or module is not None):
            continue
        if is_global and "." in code and handing.is_of_main(names.programs, code, site.scope.func):
            continue
        if site.in_constructor and module is not None and code.count(".") > 1:
            continue  # a part may be there already, and the module that is built is not
        if "." in code and not code.startswith("self.") and _is_written_out(value):
            continue  # what that object was given is to be repaired, and has a name then
        if code in left_out and not words.is_for_all(code):
            continue  # callers may have their own reason to choose another one
        if asked.kind != "creation" and _stays_none(code, value, site):
            continue  # `.to(None)` moves nothing
        if _is_default(code, site):
            continue  # each object has a device of its own
        if _says_otherwise(code, site) or _is_of_some(names, code, site):
            continue
        if is_of_a_part(names, code, site.spot):
            continue
        if names.reach.is_central(value) and not (isinstance(value, Device) and value.planned):
            text = not isinstance(value, Device) or value.text
            yield DeviceExpression(code, text=text), is_global


def of_imported(asked: Asked) -> DeviceExpression | None:
    """Return the device of another file of the project that the class of a place writes."""
    func = asked.site.scope.func
    if asked.module is not None or func is None or func.cls is None:
        return None
    for node in syntax.walk(func.cls.node):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="device", ctx=ast.Load()):
                held = asked.site.scope.lookup(name)
                if not isinstance(held, Namespace) or held.scope is None:
                    continue
                value = held.scope.names.get("device")
                if isinstance(value, Device) and value.planned is None and value.rank is None:
                    if asked.names.reach.is_central(value) and not value.partial:
                        return DeviceExpression(f"{name}.device", text=value.text)
    return None


def planned(asked: Asked) -> DeviceExpression | None:
    """Return a name that is to be defined: a variable's before that of an object that happens to
    have a device."""
    names, site, module = asked.names, asked.site, asked.module
    tested, func = names.reach.is_tested(site.scope), site.scope.func
    known = sorted(site.devices, key=lambda known: "." in known[0].removeprefix("self."))
    for code, value, is_global in known:
        if not (isinstance(value, Device) and value.planned) or is_global and tested:
            continue
        spot = value.planned.spot
        how = spot.path in names.solution.policy.saying_how
        if how or _is_of_some(names, code, site, spot) or _lack(names, value.planned):
            continue
        if is_global and "." in code and func is not None and func.cls is not None:
            continue  # a class does not know the objects that a script makes
        if not (is_global and module is not None):
            return defined(names, code, value, site)
    return None


def defined(names: DeviceNames, code: str, device: Device, site: Site) -> DeviceExpression | None:
    """Return a name that is to be defined after the user's choice, where that comes first."""
    assert device.planned is not None
    solution, programs, spot = names.solution, names.programs, device.planned.spot
    if spot.path in solution.policy.saying_how:
        return None
    read = [each.code for each in device.planned.choices]
    read += [device.planned.index] if device.planned.index else []
    if read and solution.rival(spot.path, read):
        return None
    if "." not in code and spot.path != site.scope.path:
        return None  # the file that defines it may do so for its own script only
    where = names.interpreter.scope_of(spot)
    if where is not None and site.scope.node is where.node:
        if getattr(site.spot.node, "lineno", 0) <= getattr(spot.node, "lineno", 0):
            return None
    elif isinstance(programs.parents(spot.path).get(spot.node), ast.If) and site.scope.func:
        if programs.is_imported(spot.path):
            return None  # `if __name__ == "__main__":` is not run for those who import this
    change = Edit(
        spot.path, solution.span(spot), "after", (("code", definitions.written(device.planned)),)
    )
    imports = (Import(spot.path, "torch"),) if device.planned.imports_torch else ()
    return DeviceExpression(code, edits=(change,), imports=imports)


def _stays_none(code: str, value: Value, site: Site) -> bool:
    """Tell whether a parameter is None where a call that nobody has seen leaves it out: what its
    function does not replace."""
    func = site.scope.func
    if func is None or isinstance(func.node, ast.Lambda):
        return False
    if not (isinstance(value, Device) and value.spot and isinstance(value.spot.node, ast.arg)):
        return False
    default = syntax.defaults(func.node.args).get(code)
    if not (isinstance(default, ast.Constant) and default.value is None):
        return False
    uses = [n for n in syntax.walk(func.node) if isinstance(n, ast.Name) and n.id == code]
    return not any(isinstance(node.ctx, ast.Store) for node in uses)


def _says_otherwise(code: str, site: Site) -> bool:
    """Tell whether a parameter that callers give a device has a name for something else."""
    func = site.scope.func
    return (
        func is not None
        and code in syntax.parameters(func.node)
        and not words.is_device(func.node, code)
    )


def _is_of_some(names: DeviceNames, code: str, site: Site, planned: Location | None = None) -> bool:
    """Tell whether only some of the classes that have a method have an attribute of `self`.

    `planned` is where one is to be defined.
    """
    owner, _, attr = code.partition(".")
    attr = attr.partition(".")[0]
    klass = site.scope.func.cls if site.scope.func is not None else None
    if owner != "self" or klass is None or _binds(klass, attr, planned):
        return False
    heirs = [each for each in names.interpreter.classes if klass in each.mro()[1:]]
    binding = [each for each in heirs if _binds(each, attr, planned)]
    return bool(binding) and len(binding) < len(heirs)


def is_of_a_part(names: DeviceNames, code: str, spot: Location) -> bool:
    """Tell whether a name is the device of a part of the program, and not of what is here.

    Who gives `clip_device` another value means CLIP alone, of which the program has more.
    """
    part = words.part_of(code.rpartition(".")[2])
    if not part:
        return False
    here = names.solution.statement_of(spot)
    if here is not None and words.speaks_of(here, part):
        return False
    files = names.programs.of(spot.path)
    return any(words.speaks_of(names.programs.tree(path), part) for path in files)


def _lack(names: DeviceNames, planned: PlannedDefinition) -> bool:
    """Tell whether an attribute would be new in a class of which there are objects in files.

    Those that were written before do not have it.
    """
    if not planned.name.startswith("self."):
        return False
    return any(
        planned.spot.path == klass.scope.path and planned.spot.node in syntax.walk(klass.node)
        for klass in names.interpreter.pickled
    )


def _binds(klass: Class, attr: str, planned: Location | None) -> bool:
    """Tell whether objects of a class have an attribute, as far as its code tells."""
    return any(
        attr in syntax.set_on_self(each.node)
        or each.lookup(attr) is not None
        or planned is not None
        and planned.path == each.scope.path
        and planned.node in syntax.walk(each.node)
        for each in klass.mro()
    )


def _is_default(code: str, site: Site) -> bool:
    """Tell whether a name is that of a dataclass's default, which its objects may override."""
    owner, _, attr = code.partition(".")
    held = site.scope.lookup(owner) if attr else None
    return isinstance(held, Class) and has_fields(held)


def _is_written_out(value: Value) -> bool:
    """Tell whether a device is a word that the program says for every machine ("cuda")."""
    if isinstance(value, Device):
        return not (value.resolved or value.of_value or value.planned or value.rank)
    if isinstance(value, CliOption):
        return DEVICE.fullmatch(str(value.value)) is not None
    return isinstance(value, Const)


def farness(known: tuple[str, Value, bool]) -> tuple[bool, int, bool]:
    """Return how far a name is from the code at a place: what is least comes first.

    A name of the function comes before one of the file, a variable before an attribute, that of the
    object itself before that of another one.
    """
    code, _, is_global = known
    return is_global, code.count("."), not code.startswith("self.")
