"""A module keeps other modules in a plain list or dictionary.

Why: `Module.to`, `parameters` and `state_dict` see only registered children. Layers in a plain
list stay on the CPU, are not trained and not saved.

Example:

    self.layers = [nn.Linear(8, 8) for _ in range(4)]

becomes

    self.layers = [nn.Linear(8, 8).to(device) for _ in range(4)]

Fix safety: safe. Each layer goes where the module goes, and nothing else changes. To have them
trained and saved with the module, write `nn.ModuleList(...)` or `nn.ModuleDict(...)` around them:
an optimizer built from `parameters()` then trains them, and the state dict gets their keys. Where
the layers cannot be moved one by one, that is the fix, and unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Import
from samedevice.inference import Solution
from samedevice.inference.events import Built, PlainContainer
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance, Union
from samedevice.inference.sites import Group
from samedevice.inference.values import UNKNOWN, Dict, Seq, Value
from samedevice.repair import device_names
from samedevice.rules._build import edit, finding, fix

_REASON = "the layers become parameters: they are trained, and the state dict gets their keys"


def _members(container: Seq | Dict) -> Iterator[Value]:
    """Yield what a container holds; what may be one of several modules, each."""
    for member in container.members():
        if isinstance(member, Union):
            yield from member.options
        else:
            yield member


def _given(statement: ast.AST, attribute: str) -> ast.expr | None:
    """Return what an assignment stores in an attribute, also `self.a, self.b = [], 0`."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            for target, value in zip(targets, values, strict=False):
                if isinstance(target, ast.Attribute) and target.attr == attribute:
                    return value
        case ast.Assign(targets=[ast.Attribute()], value=value):
            return value
    return None


def find(solution: Solution) -> Iterator[Finding]:
    """Report unregistered modules in containers of a module."""
    for group in solution.groups(PlainContainer):
        site = group.first
        value = site.value
        owner = site.owner
        message = f"`{site.name}` holds modules that `.to(device)` does not see"
        apart = _one_by_one(solution, group)
        if apart is not None:
            yield finding(solution, "modules-in-plain-container", group.spot, message, apart)
            continue
        members = list(_members(value)) if isinstance(value, (Seq, Dict)) else []
        modules = [
            m for m in members if isinstance(m, Instance) and m.family == "module" and m.stateful
        ]
        if not modules or len(modules) != len(members) or not owner.cls:
            continue
        left = site.left_behind()
        if any((m.parent is not None or m.moves) and m.wholes()[-1] not in left for m in modules):
            continue
        made = _given(group.spot.node, site.name)
        kind = "ModuleDict" if isinstance(value, Dict) else "ModuleList"
        prefix = device_names(solution).imports.alias(group.spot.path, "torch.nn")
        repair: Fix | None = None
        if made is not None:
            imports: tuple[Import, ...] = ()
            if prefix:
                name = f"{prefix}.{kind}"
            else:
                name, imports = kind, (Import(group.spot.path, "torch.nn", kind),)
            empty = isinstance(made, ast.List) and not made.elts
            code = f"{name}()" if empty else f"{name}({{}})"
            change = edit(solution, Location(group.spot.path, made), "replace", code=code)
            repair = Fix((change,), safe=False, reason=_REASON, imports=imports)
        yield finding(
            solution, "modules-in-plain-container", group.spot, message, repair,
            unfixed="it is not assigned by a plain statement",
        )  # fmt: skip


def _one_by_one(solution: Solution, group: Group[PlainContainer]) -> Fix | None:
    """Return the fix that moves modules where they are built, if all of them can be."""
    value = group.first.value
    modules = {module for site in group.sites for module in site.left_behind()}
    if not isinstance(value, (Seq, Dict)) or any(held is UNKNOWN for held in _members(value)):
        return None
    needed = False
    edits: dict[ast.AST, Edit] = {}
    names: dict[str, DeviceExpression] = {}
    for module in modules:
        site = module.site
        if not isinstance(site, Built) or not isinstance(site.spot.node, ast.Call):
            return None
        name = device_names(solution).built_at(site)
        there = solution.place(module.node) is Place.CENTRAL and not solution.given(module.node)
        if name is None or not (there or site.callers_unknown):
            return None
        needed = needed or there
        built = solution.groups_at(Built, site.spot.node)
        if not all(each.module in modules for one in built for each in one.sites):
            return None  # another module takes what is built there along
        names[name.code] = name
        edits[site.spot.node] = edit(solution, site.spot, "method", code=f".to({name.code})")
    if not needed or len(names) != 1:
        return None
    return fix(next(iter(names.values())), *edits.values())
