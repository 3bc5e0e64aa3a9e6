"""One device for each process: where the number of a process has a name, its device can get one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samedevice.finding import DeviceExpression, Edit, Verb
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Scope
from samedevice.inference.sites import Site
from samedevice.inference.values import Device, ProcessIndex
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference import Solution
    from samedevice.reading.syntax import Parents
    from samedevice.repair.asked import Asked
    from samedevice.repair.devices import DeviceNames

_NAMES = ("device", "process_device", "rank_device")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_device(asked: Asked) -> DeviceExpression | None:
    """Return the name of this process's device, outside of modules."""
    return device_of(asked.names, asked.site) if asked.module is None else None


def device_of(names: DeviceNames, site: Site) -> DeviceExpression | None:
    """Return the name of this process's device at a place, to be defined where there is none.

    None where nothing at the place says which process it is.
    """
    for code, value, _ in site.devices:
        if isinstance(value, Device) and value.rank is not None and not value.partial:
            return DeviceExpression(code, text=value.text)
    ranks = {code: v for code, v, _ in site.devices if isinstance(v, ProcessIndex)}
    for scope in names.interpreter.all_scopes.get(site.scope.node, ()):
        for code, value in scope.names.items():  # in another evaluation
            if isinstance(value, ProcessIndex) and value.device is not None:
                ranks[code] = value
    for code, rank in sorted(ranks.items(), key=lambda pair: not pair[0].startswith("self.")):
        found = definition(names, code, rank, site)
        if found is not None:
            return DeviceExpression(found[0], edits=found[1])
    return None


def definition(
    names: DeviceNames, code: str, rank: ProcessIndex, site: Site
) -> tuple[str, tuple[Edit, ...]] | None:
    """Return a name for the device of this process, and the edits that define it.

    `code` is what the number of the process is called at `site`. None where the number may stand
    for no process, and where no definition would come before the site in every run.
    """
    solution = names.solution
    torch = names.imports.alias(site.spot.path, "torch")
    if rank.device is None or rank.absent or not torch:
        return None
    holder, _, attr = code.rpartition(".")
    if _may_be_none(solution, site.spot.path, attr):
        return None
    if "device" in code and not holder:
        handed = _handed(names, code, site)
        return (code, handed) if handed else None
    if not holder:
        found = _of_name(solution, code, site)
    elif holder == "self":
        found = _of_self(solution, attr, site)
    else:
        found = _of_options(solution, holder, attr, site)
    if found is None:
        return None
    name, index, target, verb, statement = found
    path = site.spot.path
    if _is_wrapped(solution, path, code.rpartition(".")[2]):
        index = f"{index} % {torch}.cuda.device_count()"
    where = f'f"cuda:{{{index}}}" if {torch}.cuda.is_available() else "cpu"'
    if names.resolvers.accelerated(path):
        kind = f"{torch}.accelerator.current_accelerator()"
        where = f'f"{{{kind}}}:{{{index}}}" if {torch}.accelerator.is_available() else "cpu"'
    text = f"{target} = {torch}.device({where})"
    return name, (Edit(path, solution.span(Location(path, statement)), verb, (("code", text),)),)


def _may_be_none(solution: Solution, path: str, name: str) -> bool:
    """Tell whether a file asks if there is such a number: it has to do without one, then."""
    tree = solution.project.tree(path)
    for node in syntax.walk(tree) if tree is not None else ():
        match node:
            case ast.Compare(left=left, comparators=[ast.Constant(value=None)]):
                if ast.unparse(left).rpartition(".")[2] == name:
                    return True
    return False


def _is_wrapped(solution: Solution, path: str, name: str) -> bool:
    """Tell whether a program counts its processes over the GPUs of several machines.

    `rank % torch.cuda.device_count()` is the number of the GPU then, and `rank` may be none.
    """
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and ast.unparse(node.left).rpartition(".")[2] == name
        and "device_count()" in ast.unparse(node.right)
        for other in solution.programs.of(path)
        if "device_count" in solution.project.sources[other].text
        for node in syntax.walk(solution.programs.tree(other))
    )


def _handed(known: DeviceNames, code: str, site: Site) -> tuple[Edit, ...]:
    """Return the edits that hand a parameter for a device what it is for, in place of a number."""
    solution = known.solution
    func = site.scope.func
    if func is None or isinstance(func.node, ast.Lambda) or func.cls is not None:
        return ()
    spec = func.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    edits: list[Edit] = []
    for scope in solution.interpreter.all_scopes.get(func.node, ()):
        call = scope.call.node if scope.call is not None else None
        if scope.call is None or not isinstance(call, ast.Call):
            return ()
        given = next((k.value for k in call.keywords if k.arg == code), None)
        if given is None and code in names and len(call.args) > names.index(code):
            given = call.args[names.index(code)]
        own = known.reach.site_at(scope.call)
        name = known.of_process(own) if own is not None and given is not None else None
        if name is None or given is None or name.code == code and not name.edits:
            return ()
        if ast.unparse(call.func).rpartition(".")[2] != func.node.name:
            return ()
        place = solution.span(Location(scope.call.path, given))
        edits += [*name.edits, Edit(scope.call.path, place, "replace", (("code", name.code),))]
    return tuple(dict.fromkeys(edits))


#: DeviceExpression at the site, index and name at the definition, and where that stands.
_Found = tuple[str, str, str, Verb, ast.stmt]


def _of_name(solution: Solution, code: str, site: Site) -> _Found | None:
    """Return where a variable or parameter gets the number."""
    level: Scope | None = site.scope
    while level is not None and code not in level.names:
        level = level.outer
    if level is None or level.path != site.spot.path or level.cls is not None:
        return None
    inside: ast.AST = level.node
    taken = {n.id for n in ast.walk(inside) if isinstance(n, ast.Name)}
    taken |= {n.arg for n in ast.walk(inside) if isinstance(n, ast.arg)}
    free = next((name for name in _NAMES if name not in taken), None)
    if free is None:
        return None
    if isinstance(inside, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if code in {a.arg for a in ast.walk(inside.args) if isinstance(a, ast.arg)}:
            if any(True for _ in _stores(inside, code)):
                return None
            return free, code, free, "head", inside
    statements = list(_stores(inside, code))
    if len(statements) != 1 or not _comes_first(solution, statements[0], site, inside):
        return None
    return free, code, free, "after", statements[0]


def _of_self(solution: Solution, attr: str, site: Site) -> _Found | None:
    """Return where an object is given the number."""
    func = site.scope.func
    if func is None or func.cls is None or func.cls.lookup("device") is not None:
        return None
    body = func.cls.node
    if any(n.attr == "device" and _is_self(n.value) for n in _attributes(body)):
        return None
    statements = list(_stores(body, f"self.{attr}", deep=True))
    if len(statements) != 1:
        return None
    owner = _function(solution, site.spot.path, statements[0])
    if owner is func.node and not _comes_first(solution, statements[0], site, owner):
        return None
    if owner is not func.node and statements[0] not in getattr(owner, "body", ()):
        return None
    return "self.device", f"self.{attr}", "self.device", "after", statements[0]


def _of_options(solution: Solution, holder: str, attr: str, site: Site) -> _Found | None:
    """Return where a program's options get the number: where they go, the device goes."""
    path = site.spot.path
    tree = solution.project.tree(path)
    if tree is None or "." in holder:
        return None
    if any(n.attr == "device" and isinstance(n.value, ast.Name) for n in _attributes(tree)):
        return None
    statements = [s for s in ast.walk(tree) if isinstance(s, ast.Assign) and len(s.targets) == 1]
    made = [s for s in statements if _stores_attribute(s, attr)]
    if not made and _is_option(solution, path, attr):
        made = [s for s in statements if _parses(s)]
    if len(made) != 1:
        return None
    owner = _function(solution, path, made[0])
    target = ast.unparse(made[0].targets[0]).partition(".")[0]
    if made[0] not in getattr(owner, "body", ()) and not _under_main(solution, path, made[0]):
        return None
    if owner is site.scope.node and not _comes_first(solution, made[0], site, owner):
        return None
    return f"{holder}.device", f"{target}.{attr}", f"{target}.device", "after", made[0]


def _is_option(solution: Solution, path: str, attr: str) -> bool:
    """Tell whether a program's parser gives its options a name: `--local-rank`."""
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.lstrip("-").replace("-", "_") == attr
        for other in solution.programs.of(path)
        for node in ast.walk(solution.programs.tree(other))
    )


def _stores(body: ast.AST, code: str, deep: bool = False) -> Iterator[ast.Assign]:
    """Yield the statements of a function or file that give `code` a value, nothing else."""
    queue: list[ast.AST] = [body]
    while queue:
        for node in ast.iter_child_nodes(queue.pop()):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                if ast.unparse(node.targets[0]) == code:
                    yield node
            if deep or not isinstance(node, _FUNCTIONS):
                queue.append(node)


def _comes_first(solution: Solution, statement: ast.stmt, site: Site, inside: ast.AST) -> bool:
    """Tell whether a statement of a function or file is always run before a site is."""
    parents = solution.programs.parents(site.spot.path)
    if site.scope.node is not inside and not _within(parents, site.spot.node, inside):
        return False
    block = parents.get(statement)
    if isinstance(inside, ast.Module) and site.scope.func is not None:
        # A function reads the file's names when it is called.
        return block is inside or _under_main(solution, site.spot.path, statement)
    line = getattr(site.spot.node, "lineno", 0)
    return line > (statement.end_lineno or 0) and (
        block is inside or (block is not None and _within(parents, site.spot.node, block))
    )


def _within(parents: Parents, node: ast.AST | None, outer: ast.AST) -> bool:
    while node is not None and node is not outer:
        node = parents.get(node)
    return node is outer


def _under_main(solution: Solution, path: str, statement: ast.stmt) -> bool:
    """Tell whether a statement is one of `if __name__ == "__main__":` in a file nobody imports."""
    block = solution.programs.parents(path).get(statement)
    imported = path in solution.project.importers
    return isinstance(block, ast.If) and "__name__" in ast.dump(block.test) and not imported


def _function(solution: Solution, path: str, statement: ast.stmt) -> ast.AST | None:
    node: ast.AST | None = statement
    parents = solution.programs.parents(path)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = parents.get(node)
    return node if node is not None else solution.project.tree(path)


def _attributes(body: ast.AST) -> Iterator[ast.Attribute]:
    return (
        n for n in ast.walk(body)
        if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
    )  # fmt: skip


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _stores_attribute(statement: ast.Assign, attr: str) -> bool:
    target = statement.targets[0]
    return (
        isinstance(target, ast.Attribute)
        and target.attr == attr
        and isinstance(target.value, ast.Name)
        and target.value.id != "self"
    )


def _parses(statement: ast.Assign) -> bool:
    match statement:
        case ast.Assign(
            targets=[ast.Name()], value=ast.Call(func=ast.Attribute(attr="parse_args"))
        ):
            return True
    return False
