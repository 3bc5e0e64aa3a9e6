"""By which expressions the code at a site could name a device, as of then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from samedevice.inference.objects import Class, Environment, Func, Instance, Scope
from samedevice.inference.sites import Site
from samedevice.inference.values import (
    UNKNOWN,
    Const,
    Device,
    Doubt,
    ProcessIndex,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What may have attributes that name a device.
_OWNERS = frozenset((Class, Instance))


def snapshot(run: Interpreter, site: Site, scope: Scope) -> None:
    """Remember by which expressions the code at a site could name a device."""
    site.devices, site.tensors, site.unknown = [], [], []
    level: Scope | None = scope
    inner: list[Environment] = []
    while level is not None:
        if not (level.cls is not None and level.node is level.cls.node):
            _names_of(run, level, site, inner)
            inner.append(level.names)
        level = level.outer


def _names_of(run: Interpreter, level: Scope, site: Site, inner: list[Environment]) -> None:
    outermost = level.outer is None
    names: Iterable[tuple[str, Value]] = level.names.devices.items()
    if run.class_devices:
        names = (*names, *level.names.classes.items())
    for name, value in names:
        own = value is level.self_value
        if value.__class__ in _OWNERS and not own:
            assert isinstance(value, (Class, Instance))
            if not _may_name(value):
                continue
            if isinstance(value, Instance) and value.absent:
                continue  # None has no device
        if inner and any(name in hiding for hiding in inner):
            continue
        if isinstance(value, (Class, Instance)):
            devices = ((*named, outermost) for named in _devices_of(name, value, own))
            site.devices.extend(devices)
        elif isinstance(value, Tensor):
            site.devices.append((name, Device(value.node), outermost))
        elif not (isinstance(value, Device) and value.partial):
            site.devices.append((name, value, outermost))
    if level.func is not None:
        _arguments_of(run, level, level.func, site, inner)


def _arguments_of(
    run: Interpreter, level: Scope, func: Func, site: Site, inner: list[Environment]
) -> None:
    given = run.given.get(func.node)
    if given is None:
        given = run.given[func.node] = syntax.parameters(func.node)
    for name in given:
        argument = level.names.get(name)
        if isinstance(argument, Tensor) and argument.doubt is Doubt.OTHER:
            continue  # it may have no device
        if isinstance(argument, Tensor) and not argument.names_device:
            if not any(name in hiding for hiding in inner):
                site.tensors.append((name, argument.node))
        elif argument is UNKNOWN:
            site.unknown.append(name)
        elif isinstance(argument, Seq):
            first = next(iter(argument.members()), None)
            if isinstance(first, Tensor) and not any(name in hiding for hiding in inner):
                site.tensors.append((f"{name}[0]", first.node))


def _attributes(owner: Instance | Class, own: bool) -> Iterator[tuple[str, Value]]:
    """Return the attributes of an instance that may name a device, and those of its class.

    Of the instance whose method runs these are those that have a device, too.
    """
    klass = owner if isinstance(owner, Class) else owner.cls
    if isinstance(owner, Instance):
        yield from (owner.attrs.holders if own else owner.attrs.devices).items()
    for each in klass.mro() if klass is not None else ():
        for name, value in each.names.devices.items():
            if isinstance(value, Device):
                yield name, value
            elif isinstance(value, Const):
                if isinstance(owner, Class) or name not in owner.attrs:
                    yield name, value


def _may_name(owner: Instance | Class) -> bool:
    """Tell whether an attribute of an instance or of its class may name a device."""
    klass: Class | None
    if isinstance(owner, Instance):
        if owner.attrs.devices:
            return True
        klass = owner.cls
    else:
        klass = owner
    if klass is not None:  # plain loops: it is asked for each name at each event
        for each in klass.order or klass.mro():
            if each.names.devices:
                return True
    return False


def _devices_of(
    name: str, owner: Instance | Class, own: bool
) -> Iterator[tuple[str, Device | ProcessIndex | Const]]:
    """Return the attributes of an instance or class that may name a device, as they are written."""
    for attr, member in _attributes(owner, own):
        if isinstance(member, (Device, ProcessIndex, Const)):
            if not isinstance(member, Const) or isinstance(member.value, str):
                yield f"{name}.{attr}", member
        elif own and isinstance(member, Instance):
            known = member.attrs.devices.get("device")  # `self.model.device`
            if known is None and member.family == "" and member.cls is not None:
                known = member.cls.lookup("device")  # of settings with a default
            if isinstance(known, Device) or (
                isinstance(known, Const) and isinstance(known.value, str)
            ):
                yield f"{name}.{attr}.device", known
