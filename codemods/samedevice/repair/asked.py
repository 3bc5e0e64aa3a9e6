"""What is asked when code at a place names the device: where, for what, and what cannot say it.

A creation may follow any tensor of its function; an operand that is moved cannot follow itself; a
module, a batch and a file that is loaded follow nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Instance, Scope
from samedevice.inference.sites import Site, SiteGroup
from samedevice.inference.values import Device, Doubt, Tensor, Value
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames

#: What tells of a tensor how it is, and is no part of it.
_DESCRIBING = frozenset(("device", "dim", "dtype", "ndim", "numel", "shape", "size"))
_MOVING = frozenset(("cpu", "cuda", "to", "type"))


@dataclass
class Asked:
    """The question how code at a place names its device."""

    names: DeviceNames
    group: SiteGroup
    #: `creation`: of a tensor. `operand`: a tensor that is moved. `other`: what follows no tensor.
    kind: Literal["creation", "operand", "other"]
    #: It is the module whose code this is, which cannot follow its own parameters.
    itself: bool = False

    @property
    def spot(self) -> Location:
        """The place."""
        return self.group.spot

    @property
    def first(self) -> Site:
        """Its first evaluation."""
        return self.group.first

    @property
    def scope(self) -> Scope:
        """The function or file that it is in."""
        return self.group.first.scope

    @cached_property
    def site(self) -> Site:
        """An evaluation of the place in which a name of its object or function is the device.

        In others that name may stand for the CPU, which one object was given; a name of the file is
        not what any of them was given.
        """
        own = {
            code
            for code, value, is_global in self.first.devices
            if not is_global and isinstance(value, Device) and not value.of_value
        }
        central = self.names.reach.is_central
        for site in self.group.sites if own else ():
            if any(code in own and central(value) for code, value, _ in site.devices):
                return site
        return self.first

    @cached_property
    def module(self) -> Instance | None:
        """The module that the code is a method of."""
        return self.names.reach.module_of(self.site.scope)

    @cached_property
    def follows(self) -> bool:
        """Whether there may be a tensor here that says where: not while a module is built."""
        if self.kind == "other" or self.itself:
            return False
        return self.kind == "creation" or not self.names.reach.builds(self.scope)

    @cached_property
    def chooses(self) -> bool:
        """Whether the device of the program may be meant here: not where a module decides, or
        callers that nobody has seen."""
        if self.module is not None and self.module.node is not None:
            return False
        unknown = self.first.callers_unknown
        return not unknown or self.names.solution.place(self.first.node) is Place.CENTRAL

    @cached_property
    def moved(self) -> set[str]:
        """The names in what is moved here, and by the operation that this is part of.

        Two that may be apart do not follow each other: they would change places.
        """
        if self.kind != "operand":
            return set()
        moved = moved_names(self.spot.node)
        around = self.names.programs.parents(self.spot.path).get(self.spot.node)
        if isinstance(around, ast.Call) and self.spot.node in around.args:
            for other in around.args:
                moved |= moved_names(other) if isinstance(other, ast.Call) else set()
        return moved

    @cached_property
    def moved_here(self) -> frozenset[str]:
        """The names of what the function of the place puts on the device itself: they say nothing
        about where that is, and nobody hands them in from there.

        In a module, what has moved by then says it in fewer words than the parameters do.
        """
        home = self.names.programs.function_of(self.spot)
        if home is None:
            return frozenset()
        moved, bound = _moves_of(home)
        line = getattr(self.spot.node, "lineno", 0) if self.module is not None else 0
        return moved - {name for name, end in bound.items() if end < line}

    @cached_property
    def is_made(self) -> bool:
        """Whether an operand is what a library's function makes (`torch.randn(n).cuda()`)."""
        node = self.spot.node
        if self.kind != "operand":
            return False
        while isinstance(node, (ast.Call, ast.Attribute)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and isinstance(self.scope.lookup(node.id), External)


def inputs(names: DeviceNames, scope: Scope) -> list[str]:
    """Return the tensors that every caller of a function hands in from the device.

    First those with which it calls something that it moves itself; none that may be None.
    """
    scopes = names.interpreter.all_scopes.get(scope.node, [scope])
    called = _calling(scope.node)
    known = [
        name
        for name in names.reach.followed(scope, everywhere=True)
        if not any(_may_be_none(one.names.get(name.partition("[")[0])) for one in scopes)
    ]
    return sorted(known, key=lambda name: name not in called)


def _may_be_none(value: Value | None) -> bool:
    return isinstance(value, Tensor) and value.doubt is Doubt.ABSENT


@syntax.per_node
def _calling(function: ast.AST) -> frozenset[str]:
    """Return the names with which a function calls what it moves itself: `net = net.to(device)`,
    `net(x)`."""
    nodes = syntax.walk(function)
    moved = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and puts_on_device(node.value)
    }
    return frozenset(
        arg.id
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in moved
        for arg in node.args
        if isinstance(arg, ast.Name)
    )


def moved_names(node: ast.AST) -> set[str]:
    """Return the names in an operand that is moved; what a call creates is not in its arguments.

    Nor does a value move that only gives its shape or type.
    """
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _MOVING):
            return set()
        node = node.func.value
    return value_names(node)


def value_names(node: ast.AST) -> set[str]:
    """Return the names in some code of which the values are meant: not only a shape or a type."""
    found: set[str] = set()
    queue = [node]
    while queue:
        part = queue.pop()
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif not (isinstance(part, ast.Attribute) and part.attr in _DESCRIBING):
            queue += ast.iter_child_nodes(part)
    return found


@syntax.per_node
def _moves_of(function: ast.AST) -> tuple[frozenset[str], dict[str, int]]:
    """Return the names of what a function puts on the device, and where its names are first bound.

    That is the last line of the statement. What it puts there part by part is among them.
    """
    moved: set[str] = set()
    bound: dict[str, int] = {}
    parts: dict[str, set[str]] = {}
    for node in syntax.walk(function):
        for name, whole in _parts(node):
            parts.setdefault(name, set()).add(whole)
        if isinstance(node, ast.Call) and puts_on_device(node):
            moved |= moved_names(node)
        elif isinstance(node, ast.Assign):
            end = node.end_lineno or 0
            for target in node.targets:
                if isinstance(target, ast.Name):
                    bound[target.id] = min(end, bound.get(target.id, end))
    wholes = set[str]().union(*(parts[name] for name in moved & parts.keys()))
    return frozenset(moved | wholes - bound.keys()), bound


def _parts(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the name of what is only a part of something else, and that: `batch = data[a:b]`.

    Who moves the parts does not have the whole on the device.
    """
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=part)], value=ast.Subscript(value=ast.Name(id=whole)))
            | ast.For(target=ast.Name(id=part), iter=ast.Name(id=whole))
            | ast.For(
                target=ast.Tuple(elts=[_, ast.Name(id=part)]),
                iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=whole), *_]),
            )
        ):
            yield part, whole


def puts_on_device(call: ast.expr) -> bool:
    """Tell whether an expression moves what it calls a method of to a device, by its words."""
    match call:
        case ast.Call(func=ast.Attribute(attr="cuda")):
            return True
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=[where, *_]):
            return speaks_of_devices(where)
    return False
