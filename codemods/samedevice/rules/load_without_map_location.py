"""A checkpoint is loaded without saying where its tensors go.

Why: a checkpoint remembers the device each tensor was saved from. Without `map_location`, a file
written on a GPU machine cannot be opened on a machine without one ("Attempting to deserialize
object on a CUDA device"), and all ranks of a distributed program load to the same GPU.

Example:

    model.load_state_dict(torch.load("model.pt"))

becomes

    model.load_state_dict(torch.load("model.pt", map_location=device))

A map that sends everything to CUDA on any machine (`lambda storage, loc: storage.cuda()`) is
replaced. torch cannot load to XLA: with `--resolver xla` checkpoints are loaded to the CPU.

Fix safety: safe. On a CPU-only machine a file that could be loaded before loads as before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Loaded, ModuleMoved, Move
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Group, SiteGroup
from samedevice.inference.values import Device, Value
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, fix, short
from samedevice.rules._other_arm import is_other_arm

_ON_HOST = DeviceExpression('"cpu"')
_RESTORES = re.compile(r"set_rng_state(?:_all)?")
_GENERATORS = "the state of a generator is restored from the CPU's memory, and the rest is used"


def find(solution: Solution) -> Iterator[Finding]:
    """Report loads of weights without `map_location`."""
    named: dict[tuple[ast.AST | None, str], DeviceExpression] = {}
    found: list[tuple[Group[Loaded], DeviceExpression | None, str]] = []
    left: list[Group[Loaded]] = []
    for group in solution.groups(Loaded):
        site = group.first
        if site.mapped is not None and not site.under_device_test:
            yield from _to_xla(solution, group, *site.mapped) or _to_cuda(
                solution, group, site.mapped[1]
            )
        if site.mapped is not None or "map_location" not in site.fact.params:
            continue
        if _is_right(solution, group):
            continue
        model = any(s.into_module for s in group.sites)
        built = all(s.in_constructor and s.into_module for s in group.sites)
        if site.in_constructor and (not built or site.name.endswith("_url")):
            continue
        if not model and any(s.made is not None for s in group.sites):
            continue  # a dataset or corpus that is kept in a file: its tensors are on the host
        if not model and not any(s.moved or solution.on_device(s.node) for s in group.sites):
            left.append(group)
            continue
        name = _target(solution, group, model, built)
        unfixed = NO_NAME
        if name is not None and name is not _ON_HOST and _holds_generators(solution, group):
            used = any(s.moved or solution.on_device(s.node) for s in group.sites)
            name, unfixed = None if used else _ON_HOST, _GENERATORS
        refused = _refused(solution, group, name)
        if refused:
            name, unfixed = None, refused
        brought = name is None or name is _ON_HOST or name.resolvers or name.imports
        if site.name.endswith("_url") and brought:
            continue  # published weights are saved on the CPU: no reason to bring a device here
        if name is not None:
            named[_said(solution, group)] = name
        found.append((group, name, unfixed))
    yield from _alike(solution, found)
    for group in left:  # what one function loads twice it loads to one device
        name = named.get(_said(solution, group))
        if name is not None:
            yield _found(solution, group, name, NO_NAME)


def _alike(
    solution: Solution, found: list[tuple[Group[Loaded], DeviceExpression | None, str]]
) -> Iterator[Finding]:
    """Report loads, those of one function alike: a copy reads what is loaded from anywhere."""
    hosted = {_home(solution, group) for group, name, _ in found if name is _ON_HOST}
    for group, name, unfixed in found:
        if name and _home(solution, group) in hosted and _is_only_copied(solution, group):
            name = _ON_HOST
        yield _found(solution, group, name, unfixed)


def _target(
    solution: Solution, group: Group[Loaded], model: bool, built: bool
) -> DeviceExpression | None:
    """Return what says where something is loaded to: the CPU where nothing has to be elsewhere."""
    if solution.project.style == "xla" or built or _goes_to_host(solution, group):
        return _ON_HOST  # a module that is being built is there
    name = device_names(solution).central_for(group)
    if name is None:
        return None
    if not model and _is_moved_in_parts(solution, group):
        return _ON_HOST  # data that is larger than what the device needs at a time
    if model and _meets_others(solution, group):
        return _ON_HOST  # a model copies it from anywhere, and the rest goes on as it was
    if _brings_something(solution, name, group.spot.path) and _is_copied(solution, group):
        return _ON_HOST  # a copy reads it from anywhere: no reason to bring a device here
    handed_in = any(each.verb == "parameter" for each in name.edits)
    if handed_in and _is_only_copied(solution, group):
        return _ON_HOST  # a copy reads it from anywhere: no reason for callers to say where
    return _as_moved(solution, group) or name


def _as_moved(solution: Solution, group: Group[Loaded]) -> DeviceExpression | None:
    """Return the device that a model which copies what is loaded was moved to in the same function,
    further up, as it is said there."""
    home, line = solution.programs.function_of(group.spot), getattr(group.spot.node, "lineno", 0)
    said: set[str] = set()
    for spot in (spot for site in group.sites for made in site.receivers for spot in made.moves):
        call = spot.node
        if solution.programs.function_of(spot) is not home or not isinstance(call, ast.Call):
            continue
        if not solution.groups_at(ModuleMoved, call):
            return None  # perhaps it only gets another type
        near = spot.path == group.spot.path and call.lineno < line
        if near and len(call.args) == 1 and isinstance(call.func, ast.Attribute):
            said.add(syntax.dotted(call.args[0]) if call.func.attr == "to" else "")
    return DeviceExpression(said.pop()) if len(said) == 1 and all(said) else None


def _found(
    solution: Solution, group: Group[Loaded], name: DeviceExpression | None, unfixed: str
) -> Finding:
    repair: Fix | None = None
    if name is not None:
        repair = fix(
            name, edit(solution, group.spot, "keyword", name="map_location", value=name.code)
        )
    return finding(
        solution, "load-without-map-location", group.spot,
        f"`{short(solution.code(group.spot))}` puts tensors where they were saved, which may "
        "be a device that this machine does not have",
        repair, unfixed=unfixed,
    )  # fmt: skip


def _home(solution: Solution, group: Group[Loaded]) -> ast.AST:
    """Return the function, or else the file, that loads something."""
    path = group.spot.path
    return solution.programs.function_of(group.spot) or solution.programs.tree(path)


def _said(solution: Solution, group: Group[Loaded]) -> tuple[ast.AST | None, str]:
    """Return the function that loads something, and how it says what."""
    return solution.programs.function_of(group.spot), solution.code(group.spot)


def _holds_generators(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether what is loaded also holds the state of a random generator.

    That is restored from the CPU's memory alone.
    """
    path = group.spot.path
    readers = solution.project.importers.get(path, ()) if _is_returned(solution, group.spot) else ()
    return any(
        _restores_generator(solution.programs.tree(other))
        for other in (path, *readers)
        if _RESTORES.search(solution.project.sources[other].text)
    )


def _is_returned(solution: Solution, spot: Location) -> bool:
    """Tell whether a function gives back what it loads, as it is or by its name."""
    home, statement = solution.programs.function_of(spot), solution.statement_of(spot)
    if isinstance(statement, ast.Return):
        return True
    names = statement.targets if isinstance(statement, ast.Assign) else []
    bound = {each.id for each in names if isinstance(each, ast.Name)}
    return home is not None and any(
        isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id in bound
        for node in syntax.walk(home)
    )


@syntax.per_node
def _restores_generator(tree: ast.Module) -> bool:
    """Tell whether a file sets the state of a generator to an entry of something."""
    for node in syntax.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=attr) | ast.Name(id=attr), args=[state, *_]):
                if _RESTORES.fullmatch(attr) and any(
                    isinstance(part, ast.Subscript)
                    or isinstance(part, ast.Attribute)
                    and part.attr in ("get", "pop")
                    for part in ast.walk(state)
                ):
                    return True
    return False


def _is_right(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether a file is loaded to where it was, or only where there is a device, or something
    else says where to.

    Of several processes each has a device of its own.
    """
    several = solution.programs.is_distributed(group.spot.path)
    return (
        _was_on_host(solution, group)
        or _is_said_elsewhere(solution, group.spot)
        or not several
        and all(site.under_device_test for site in group.sites)
        or is_other_arm(solution, group.spot)
    )


def _was_on_host(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether the program itself saved what it loads, a model that is on the CPU."""
    return all(
        isinstance(site.saved, Instance)
        and site.saved.family == "module"
        and solution.reach.is_unmoved(site.saved)
        and not solution.on_device(site.saved.node)
        for site in group.sites
    )


def _is_said_elsewhere(solution: Solution, spot: Location) -> bool:
    """Tell whether the mapping that a load hands on gets `map_location` where there is no CUDA.

    `kwargs = {}` on one path, and `kwargs["map_location"] = "cpu"` on the other.
    """
    given = spot.node.keywords if isinstance(spot.node, ast.Call) else []
    names = {
        each.value.id for each in given if each.arg is None and isinstance(each.value, ast.Name)
    }
    return any(
        name in names and _has_map_location(value)
        for node in (syntax.walk(solution.programs.tree(spot.path)) if names else ())
        for name, value in _filled(node)
    )


def _filled(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names of mappings that a statement fills, and with what."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]):
            yield name, key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update" | "setdefault")):
            yield name, node


def _has_map_location(value: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Constant)
        and part.value == "map_location"
        or isinstance(part, ast.keyword)
        and part.arg == "map_location"
        for part in ast.walk(value)
    )


def _goes_to_host(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether all that is loaded goes to the CPU at once, or into modules that stay there.

    Parts of them may be moved, one by one: then something puts the module's place on the device,
    though nothing moves it.
    """
    parents = solution.programs.parents(group.spot.path)
    method = parents.get(group.spot.node)
    match method, parents.get(method) if method is not None else None:
        case (ast.Attribute(attr="cpu"), _) | (
            ast.Attribute(attr="to"),
            ast.Call(args=[ast.Constant(value="cpu") | ast.Call(args=[ast.Constant(value="cpu")])]),
        ):
            return True  # `torch.load(path).cpu()`
    modules = [module for site in group.sites for module in site.receivers]
    if not modules or solution.has_default_device:
        return False
    for module in modules:
        needed = solution.place(module.node) is Place.CENTRAL and not solution.given(module.node)
        if needed or not solution.reach.is_unmoved(module):
            return False
    others = [site for site in group.sites if not site.into_module]
    return not any(site.moved or solution.on_device(site.node) for site in others)


def _is_moved_in_parts(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether code moves what it takes out of what is loaded, and needs none of it there
    before."""
    if any(solution.on_device(site.node) for site in group.sites):
        return False
    outer = solution.programs.parents(group.spot.path).get(group.spot.node)
    return not isinstance(outer, ast.Attribute) and not _is_moved_whole(solution, group.spot)


def _is_moved_whole(solution: Solution, spot: Location) -> bool:
    """Tell whether the function that loads something moves all of it, by the name that it gets."""
    match solution.statement_of(spot):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is spot.node:
            home = solution.programs.function_of(spot) or solution.programs.tree(spot.path)
        case _:
            return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("to", "cuda")
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == name
        for node in syntax.walk(home)
    )


def _meets_others(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether some of what a model copies from meets, or is used in place of, something else
    that nothing puts on the device."""
    if any(solution.on_device(site.node) for site in group.sites):
        return False
    if not all(site.copied for site in group.sites if site.into_module):
        return False
    return any(solution.meets_others(site.node) for site in group.sites)


def _brings_something(solution: Solution, name: DeviceExpression, path: str) -> bool:
    """Tell whether a name is there only with something else: a parameter, or a definition.

    Where a file moves to CUDA itself, it gets the definition anyway. Where a module is asked for
    its parameters, nothing names a device.
    """
    if name.resolvers and not name.edits:
        return not any(
            move.spot.path == path and move.first.name == "cuda" for move in solution.groups(Move)
        )
    return bool(name.imports or name.edits or "(" in name.code)


def _refused(solution: Solution, group: Group[Loaded], name: DeviceExpression | None) -> str:
    """Return why a file is not loaded to a device, "" if nothing speaks against it."""
    if group.first.name == "torch.jit.load" and not any(
        s.moved or solution.evidence.is_there(s.node) for s in group.sites
    ):
        return "nothing shows that what this module is given is on the device"
    if name is not None and _is_number(group, name.code):
        return "the device is a number here, which `map_location` does not take"
    return ""


def _is_number(group: Group[Loaded], code: str) -> bool:
    """Tell whether a name stands for the number of a GPU, for some caller."""
    held = (value for site in group.sites for known, value, _ in site.devices if known == code)
    return any(isinstance(value, Device) and value.is_number() for value in held)


def _is_copied(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether all that is loaded is copied into modules that other files move, or into what
    nothing is known of."""
    modules = [module for site in group.sites for module in site.receivers]
    moves = [spot for made in modules for whole in made.wholes() for spot in whole.moves]
    elsewhere = bool(moves) or not modules
    elsewhere &= all(spot.path != group.spot.path for spot in moves)
    return elsewhere and _stays_as_loaded(solution, group)


def _is_only_copied(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether modules copy all that is loaded, and nothing else of it is used."""
    return (
        any(site.into_module for site in group.sites)
        and _stays_as_loaded(solution, group)
        and not any(solution.is_met(site.node) for site in group.sites)
    )


def _stays_as_loaded(solution: Solution, group: Group[Loaded]) -> bool:
    """Tell whether modules copy what they get of a file, and the rest goes to no device."""
    others = [site for site in group.sites if not site.into_module]
    return all(site.copied for site in group.sites if site.into_module) and not any(
        site.moved or solution.on_device(site.node) for site in others
    )


def _to_xla(solution: Solution, group: SiteGroup, given: Value, where: Location) -> list[Finding]:
    """Report loads to XLA: torch does not know how to restore a tensor there."""
    if solution.project.style != "xla" or not isinstance(given, Device):
        return []
    if not solution.on_device(given.node):
        return []
    return [
        finding(
            solution, "load-without-map-location", group.spot,
            f"torch cannot load to `{short(solution.code(where))}` where that is XLA: a checkpoint "
            "goes by the CPU",
            fix(_ON_HOST, edit(solution, where, "replace", code=_ON_HOST.code)),
        )
    ]  # fmt: skip


def _to_cuda(solution: Solution, group: SiteGroup, given: Location) -> Iterator[Finding]:
    """Report a function or table that sends what is loaded to a GPU."""
    if not _sends_to_cuda(given.node):
        return
    name = device_names(solution).central_for(group)
    repair: Fix | None = None
    if name is not None:
        repair = fix(name, edit(solution, given, "replace", code=name.code))
    yield finding(
        solution, "load-without-map-location", group.spot,
        f"`{short(solution.code(given))}` puts tensors on a GPU, which this machine may not have",
        repair, unfixed=NO_NAME,
    )  # fmt: skip


def _sends_to_cuda(node: ast.AST) -> bool:
    match node:
        case ast.Lambda(body=ast.Call(func=ast.Attribute(attr="cuda"), args=[] | [_])):
            return True
        case ast.Dict(values=[ast.Constant(value="cuda" | "cuda:0")]):
            return True
    return False
