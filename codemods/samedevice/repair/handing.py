"""The device handed on: a function without one gets a parameter, and its callers say theirs."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.finding import DeviceExpression, Edit
from samedevice.inference.events import Built, Kept, ModuleMade, ModuleMoved
from samedevice.inference.iteration import is_any_module
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.programs import Programs, is_main
from samedevice.inference.reach import may_be_none
from samedevice.inference.uncalled import OF_MODULES
from samedevice.inference.values import FunctionNode, Tensor, Value
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.repair.asked import Asked, inputs
from samedevice.repair.resolvers import edited

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames


def parameter(asked: Asked) -> DeviceExpression | None:
    """Return what callers say, where the device of the program may be meant."""
    return _handed(asked) if asked.chooses else None


def _handed(asked: Asked) -> DeviceExpression | None:
    """Hand the function of a place the device that its callers have, where it can import none.

    Only where every call is known and can name the device: for a helper of another file, or of a
    program in which each process has a device of its own or somebody chooses it; for a method or
    constructor in such a program alone, any other gets a device of its own.
    """
    names, group = asked.names, asked.group
    func = group.first.scope.function()
    if func is None or isinstance(func.node, ast.Lambda):
        return None
    path = func.scope.path
    around = func.cls.scope if func.cls is not None else func.scope
    there = names.resolvers.existing(path, names.programs.of(path))
    if (
        around.outer is not None
        or there is not None
        and not is_of_main(names.programs, there.code, func)
    ):
        return None
    if "device" in {a.arg for a in ast.walk(func.node.args) if isinstance(a, ast.arg)}:
        return None
    if "device" in _bound(syntax.walk(func.node)):
        return None  # what is handed in would be another one where it is needed
    local = names.programs.is_distributed(path) or names.solution.policy.has_device(path)
    moves_module = isinstance(group.first, ModuleMade | ModuleMoved | Kept)
    # What is built beside a module that was handed in follows that; no module follows itself.
    follows = not moves_module or isinstance(group.first, Built)
    known = _of_module(names, func, held=not moves_module) if follows else None
    if known is not None and _would_choose(names, edited(group.first)):
        return known
    called = _called(names, func) if local or func.cls is None else ""
    if not called:
        return None
    if known is None and not moves_module:
        known = _of_called(names, func)
    if not _are_all_seen(names, func, called):
        return known
    edits = _edits(names, func.node, path, called, local)
    if not edits:
        return None
    return known or DeviceExpression("device", edits=tuple(dict.fromkeys(edits)))


def is_of_main(programs: Programs, code: str, func: Func | None) -> bool:
    """Tell whether a function would use an object that only `__main__` makes."""
    if func is None or _is_in_main(programs, func):
        return False
    return code.partition(".")[0] in _bound_in_main(programs.tree(func.scope.path))


def _is_in_main(programs: Programs, func: Func) -> bool:
    """Tell whether a function is defined under `if __name__ == "__main__":` itself."""
    parents = programs.parents(func.scope.path)
    node: ast.AST | None = func.node
    while node is not None:
        if isinstance(node, ast.stmt) and is_main(node):
            return True
        node = parents.get(node)
    return False


@syntax.per_node
def _bound_in_main(tree: ast.Module) -> set[str]:
    """Return the names that a file binds for its own script alone."""
    main = [part for part in tree.body if is_main(part)]
    others = [part for part in tree.body if not is_main(part)]
    return _bound(syntax.walk_all(main)) - _bound(syntax.walk_all(others))


def _would_choose(names: DeviceNames, path: str) -> bool:
    """Tell whether a file has no device to name but one that is still to be chosen.

    A file that others import, that nobody starts, and that moves no module itself, need not know
    who chooses it.
    """
    name = names.resolvers.resolver(path)
    if name is None:
        return not names.resolvers.wanting(path)
    return (
        bool(name.resolvers)
        and names.programs.is_imported(path)
        and not any(map(is_main, names.programs.tree(path).body))
        and path not in names.resolvers.moving
    )


def _of_module(names: DeviceNames, func: Func, *, held: bool) -> DeviceExpression | None:
    """Return the device of a module that a function has on the device, whoever calls it.

    It is one that every call hands in, or one that the method's object has `held`.
    """
    assert not isinstance(func.node, ast.Lambda)
    scopes = names.interpreter.all_scopes.get(func.node, ())
    nodes = syntax.walk(func.node)
    if not scopes or any(isinstance(node, ast.Name) and node.id == "device" for node in nodes):
        return None
    path = func.scope.path
    given = [*_handed_in(names, func.node, scopes)]
    given += _held(names, nodes, path, scopes) if held else ()
    if not given:
        return None
    owner, _, attr = given[0].partition(".")
    values = [scope.names.get(owner) for scope in scopes]
    if attr:
        values = [each.attrs.get(attr) if isinstance(each, Instance) else None for each in values]
    if any(isinstance(each, Instance) and torchfacts.is_pipeline(each.name) for each in values):
        return _named_after(names, func, f"{given[0]}.device")
    return _named_after(names, func, f"next({given[0]}.parameters()).device")


def _handed_in(
    names: DeviceNames, function: ast.FunctionDef | ast.AsyncFunctionDef, scopes: Sequence[Scope]
) -> Iterator[str]:
    """Yield the parameters that each call gives a module on the device."""
    nodes = syntax.walk(function)
    bound = _bound(nodes)
    for name in (arg.arg for arg in (*function.args.posonlyargs, *function.args.args)):
        if name in bound or name in may_be_none(scopes[0]):
            continue
        if all(
            scope.call is not None
            and _has_place(scope.names.get(name))
            and names.solution.handed_there(scope, name)
            for scope in scopes
        ):
            yield name


def _held(
    names: DeviceNames, nodes: Sequence[ast.AST], path: str, scopes: Sequence[Scope]
) -> Iterator[str]:
    """Yield the attributes of a method's object that it computes with: modules on the device.

    Not those that the file moves itself: to where, is what it has to know.
    """
    used = (
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "self"
    )
    for attr in dict.fromkeys(used):
        if all(
            isinstance(owner := scope.names.get("self"), Instance)
            and isinstance(held := owner.attrs.get(attr), Instance)
            and _has_place(held)
            and held.node is not None
            and not any(move.path == path for move in held.moves)
            and names.solution.place(held.node) is Place.CENTRAL
            for scope in scopes
        ):
            yield f"self.{attr}"


def _has_place(value: Value | None) -> bool:
    """Tell whether a value is a module that can be asked where it is, on every path."""
    return (
        isinstance(value, Instance)
        and value.family == "module"
        and not (value.absent or is_any_module(value))  # a part may be a `ReLU`
        and has_parameters(value)
    )


def _of_called(names: DeviceNames, func: Func) -> DeviceExpression | None:
    """Return the device of the module that a function hands what it moves: `net(x.cuda())`.

    That is a parameter of which nothing is known but that the function uses it as a module.
    """
    nodes = syntax.walk(func.node)
    moved = _moved_to_cuda(nodes)
    used, called = set[str](), set[str]()
    bound = _bound(nodes)
    for node in nodes:
        match node:
            case ast.Name(id="device"):
                return None
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in OF_MODULES:
                used.add(name)
            case ast.Call(func=ast.Name(id=name), args=args) if any(
                _is_move_to_cuda(arg) or isinstance(arg, ast.Name) and arg.id in moved
                for arg in args
            ):
                called.add(name)
    spare = syntax.defaults(func.node.args)
    for name in syntax.parameters(func.node):
        if name in used & called and name not in bound and name not in spare:
            return _named_after(names, func, f"next({name}.parameters()).device")
    return None


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some code gives a value, or deletes."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _moved_to_cuda(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound to what `.cuda()` gives."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_move_to_cuda(value):
                found.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Tuple(elts=values)):
                pairs = zip(elts, values, strict=False)
                found |= {t.id for t, v in pairs if isinstance(t, ast.Name) and _is_move_to_cuda(v)}
    return found


def _is_move_to_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
    )


def _named_after(names: DeviceNames, func: Func, device: str) -> DeviceExpression:
    """Return a name for the device of a function's module, with its definition."""
    place = names.solution.span(Location(func.scope.path, func.node))
    edits = (Edit(func.scope.path, place, "head", (("code", f"device = {device}"),)),)
    return DeviceExpression("device", edits=edits)


def has_parameters(module: Instance, without: Collection[str] = (), depth: int = 6) -> bool:
    """Tell whether a module, or a part of it, has parameters, and not only buffers.

    `without` some of its attributes, which may not be there yet.
    """
    if module.fact is not None and module.fact.state or not depth:
        return True
    return any(
        isinstance(value, Tensor)
        and (value.leaf or value.parameter)
        or isinstance(value, Instance)
        and value.family == "module"
        and value.stateful
        and has_parameters(value, depth=depth - 1)
        for name, value in module.attrs.items()
        if name not in without
    )


def _called(names: DeviceNames, func: Func) -> str:
    """Return the name by which a function is called, "" where another one may be meant."""
    assert not isinstance(func.node, ast.Lambda)
    if func.cls is None:
        return func.node.name
    if func.node.name == "__init__":
        return getattr(func.cls.node, "name", "")
    if torchfacts.module_method(func.node.name) is not None:
        return ""  # `x.cuda()` may mean that of a module or tensor
    alike = [
        node
        for path in names.programs.of(func.scope.path)
        for node in syntax.functions(names.programs.tree(path)).get(func.node.name, ())
    ]
    return func.node.name if len(alike) == 1 else ""


def _are_all_seen(names: DeviceNames, func: Func, called: str) -> bool:
    """Tell whether nobody can call a function but the calls that are seen.

    Who is not rewritten leaves a new parameter out, and `.to(None)` moves nothing where `.cuda()`
    did.
    """
    path, project = func.scope.path, names.programs.project
    if not called.startswith("_") and names.resolvers.imports.is_installed(path):
        return False
    speaking = [
        other
        for other, source in project.sources.items()
        if called in source.text
        and (other == path or _reaches(names, other, path) or _may_reach(source.text, path))
    ]
    if any(project.tree(other) is None for other in speaking):
        return False
    known = {
        scope.call.node.func
        for scope in names.interpreter.all_scopes.get(func.node, ())
        if scope.call is not None and isinstance(scope.call.node, ast.Call)
    }
    return all(
        node in known
        for other in speaking
        for node in _mentions(project, other, called, path, func.cls is not None)
    )


def _may_reach(text: str, target: str) -> bool:
    """Tell whether a file may import another one by a path that it adds: by its last name."""
    stem = posixpath.basename(target).partition(".")[0]
    return re.search(rf"\bimport {stem}\b|\bfrom {stem} import\b", text) is not None


def _reaches(names: DeviceNames, path: str, target: str) -> bool:
    """Tell whether a file imports another one, directly or not; it need not parse."""
    project = names.programs.project
    named = project.layout.imported(path, project.sources[path].text)
    return target in named or any(target in names.programs.reached_from(each) for each in named)


def _mentions(
    project: Project, path: str, called: str, home: str, of_class: bool
) -> Iterator[ast.AST]:
    """Yield what may stand for a function in a file: its name, or an attribute of that name.

    Its name means it where it is defined, at `home`, and where it is imported. A plain function
    is an attribute only of what is imported from the project.
    """
    tree = project.tree(path)
    if tree is None:
        return
    imports = _imports(tree)
    meaning = {called} if path == home else set[str]()
    stem = posixpath.basename(home).partition(".")[0]
    for node in imports:
        if isinstance(node, ast.ImportFrom):
            meaning |= {alias.asname or alias.name for alias in node.names if alias.name == called}
            meaning |= {called for alias in node.names if alias.name == "*"}
    for name in meaning:
        yield from (node for node in _read_as(tree).get(name, ()) if isinstance(node, ast.Name))
    attributes = [
        node for node in _read_as(tree).get(called, ()) if isinstance(node, ast.Attribute)
    ]
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in (imports if attributes else ())
        for alias in node.names
        if _is_own(project, path, node, alias.name, stem)
    }
    for attribute in attributes:
        if of_class or syntax.dotted(attribute).partition(".")[0] in imported:
            yield attribute


@syntax.per_node
def _imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    nodes = syntax.statements(tree)
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


@syntax.per_node
def _read_as(tree: ast.Module) -> dict[str, list[ast.Name | ast.Attribute]]:
    """Return where each name of a file is read, as a variable or as an attribute."""
    found: dict[str, list[ast.Name | ast.Attribute]] = {}
    for node in syntax.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found.setdefault(name, []).append(node)
    return found


def _is_own(
    project: Project, path: str, node: ast.Import | ast.ImportFrom, name: str, target: str
) -> bool:
    """Tell whether a statement imports a name from the project itself, or a file named `target`."""
    if isinstance(node, ast.Import):
        return name == target or project.resolve(path, name) is not None
    whole = f"{node.module}.{name}" if node.module else name
    if whole == target:
        return True  # by a path that the file adds
    known = (node.module or "", whole)
    return any(project.resolve(path, module, node.level) is not None for module in known)


def _edits(
    names: DeviceNames, function: FunctionNode, path: str, called: str, local: bool
) -> list[Edit]:
    """Return the edits that add the parameter, and say it in every call; none where one cannot."""
    place = names.solution.span(Location(path, function))
    edits = [Edit(path, place, "parameter", (("name", "device"), ("default", "None")))]
    said = _at_calls(names, function, path, called, local)
    return [*edits, *said] if said is not None else []


def followed(names: DeviceNames, function: FunctionNode) -> str:
    """Return the device of a tensor that every caller hands in from the device, or ""."""
    scopes = names.interpreter.all_scopes.get(function, ())
    if not scopes or any(scope.call is None for scope in scopes):
        return ""
    name = next(iter(inputs(names, scopes[0])), "")
    return f"{name}.device" if name else ""


def said(names: DeviceNames, function: FunctionNode, path: str, parameter: str) -> list[Edit]:
    """Return the edits that say the device in all calls that leave it out.

    None where a call is not known or cannot name it.
    """
    scopes = names.interpreter.all_scopes.get(function, ())
    func = next((scope.func for scope in scopes if scope.func is not None), None)
    if func is None or isinstance(func.node, ast.Lambda):
        return []
    called = _called(names, func)
    if not called:
        return []
    return _at_calls(names, function, path, called, True, parameter) or []


def is_always_given(names: DeviceNames, function: FunctionNode, parameter: str) -> bool:
    """Tell whether all calls that there can be give a parameter: nobody gets its default."""
    scopes = names.interpreter.all_scopes.get(function, ())
    calls = [scope.call.node if scope.call is not None else None for scope in scopes]
    given = (
        isinstance(call, ast.Call) and _gives(call, function, parameter, scope.func)
        for call, scope in zip(calls, scopes, strict=True)
    )
    return bool(calls) and all(given) and are_all(names, function)


def are_all(names: DeviceNames, function: FunctionNode) -> bool:
    """Tell whether nobody can call a function but the calls that are seen."""
    scopes = names.interpreter.all_scopes.get(function, ())
    func = next((scope.func for scope in scopes if scope.func is not None), None)
    if func is None or isinstance(func.node, ast.Lambda):
        return False
    called = _called(names, func)
    return bool(called) and _are_all_seen(names, func, called)


def _at_calls(
    names: DeviceNames,
    function: FunctionNode,
    path: str,
    called: str,
    local: bool,
    parameter: str = "",
) -> list[Edit] | None:
    """Return the edits that say the device in every call; None where one cannot.

    What gives a `parameter` that is there already is left as it is.
    """
    edits: list[Edit] = []
    for caller in names.interpreter.all_scopes.get(function, ()):
        call = caller.call
        if call is None or not isinstance(call.node, ast.Call):
            return None
        if ast.unparse(call.node.func).rpartition(".")[2] != called:
            return None  # it is handed on, to be called by another
        if parameter:
            given = _gives(call.node, function, parameter, caller.func)
            if given is None:
                return None
            if given:
                continue
        around = names.interpreter.scope_of(call)
        if around is not None and around.node is function:
            value = (("name", "device"), ("value", "device"))  # it calls itself
            edits.append(Edit(path, names.solution.span(call), "keyword", value))
            continue
        name = names.name_at(call) if call.path != path or local else None
        if name is None or name.resolvers or name.imports:
            return None
        if name.edits and not local:
            return None
        value = (("name", parameter or "device"), ("value", name.code))
        edits += [*name.edits, Edit(call.path, names.solution.span(call), "keyword", value)]
    return edits


def _gives(call: ast.Call, function: FunctionNode, name: str, func: Func | None) -> bool | None:
    """Tell whether a call gives a parameter; None where stars may do so."""
    if any(keyword.arg == name for keyword in call.keywords):
        return True
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    ordered = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    own = func is not None and func.cls is not None and func.static != "staticmethod"
    return name in ordered[own:] and len(call.args) > ordered[own:].index(name)
