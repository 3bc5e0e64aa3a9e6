"""The calls of a function that are seen: whether they are all there can be, and what each says."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.finding import Edit
from samedevice.inference.objects import Func
from samedevice.inference.values import FunctionNode
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.repair.asked import inputs

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames


def called_as(names: DeviceNames, func: Func) -> str:
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


def are_all_seen(names: DeviceNames, func: Func, called: str) -> bool:
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
    called = called_as(names, func)
    if not called:
        return []
    return say_device(names, function, path, called, True, parameter) or []


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
    called = called_as(names, func)
    return bool(called) and are_all_seen(names, func, called)


def say_device(
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
