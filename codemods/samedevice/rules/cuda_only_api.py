"""An interface that only CUDA has is called whatever machine the program runs on.

Why: `torch.cuda.synchronize()`, `set_device`, `get_device_name` and others raise on a machine
without CUDA ("Torch not compiled with CUDA enabled"), while what they do has no meaning there.
Their `torch.accelerator` namesakes raise there just the same.

Example:

    torch.cuda.synchronize()
    with torch.cuda.device(1):
        y = model(x)

becomes

    if device.type == "cuda":
        torch.cuda.synchronize()
    with torch.cuda.device(1) if device.type == "cuda" else contextlib.nullcontext():
        y = model(x)

Fix safety: safe. On a CPU-only machine the program could not run before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Edit, Finding, Fix, Import
from samedevice.places import Solution
from samedevice.places.graph import Spot
from samedevice.places.solution import Name, SiteGroup
from samedevice.rules._build import edit, finding, short, with_comment

RULE = "cuda-only-api"
#: Calls that say something about the device and do nothing else: they may be left out with it.
_SAYING = frozenset(("print", "info", "debug", "log", "write", "warning"))
_CONTEXTS = frozenset(("torch.cuda.device", "torch.cuda.device_of"))


def find(solution: Solution) -> Iterator[Finding]:
    """Report calls that raise without CUDA and that no test for it guards."""
    done: set[ast.AST] = set()
    for group in solution.groups("cuda-only"):
        if any(site.detail["guarded"] for site in group.sites):
            continue
        if group.first.name.endswith("set_device") and solution.ranked(group.spot.path):
            continue  # `processes-tied-to-cuda` deals with it
        statement = _statement(solution, group.spot)
        if statement is None or statement in done or _tested(solution, group.spot):
            continue
        yield _repaired(solution, group, statement, done)
    for group in solution.groups("default-device"):
        found = _default(solution, group)
        if found is not None:
            yield found


def _default(solution: Solution, group: SiteGroup) -> Finding | None:
    """`torch.set_default_tensor_type(torch.cuda.FloatTensor)`, whether there is CUDA or not."""
    spot, call = group.spot, group.spot.node
    torch = solution.alias(spot.path, "torch")
    if any(site.detail["guarded"] for site in group.sites) or _tested(solution, spot):
        return None
    if "is_available" in solution.code(spot):
        return None  # it asks in its own argument
    if not (isinstance(call, ast.Call) and len(call.args) == 1 and "cuda" in solution.code(spot)):
        return None
    statement = _statement(solution, spot)
    repair: Fix | None = None
    if torch and isinstance(statement, ast.Expr):
        asks = f"{torch}.cuda.is_available()"
        argument = call.args[0]
        if group.first.name == "set_default_tensor_type":
            place = Spot(spot.path, statement)
            code = with_comment(solution, place, solution.code(spot))
            change = edit(solution, place, "replace_statement", code=f"if {asks}:\n    {code}")
            repair = _fix(Name(""), (change,), ())
        elif isinstance(argument, ast.Constant):
            code = f'{{}} if {asks} else "cpu"'
            repair = _fix(
                Name(""), (edit(solution, Spot(spot.path, argument), "replace", code=code),), ()
            )
    return finding(
        solution, RULE, spot,
        f"`{short(solution.code(spot))}` raises on a machine without CUDA",
        repair, unfixed="what it is without CUDA is not known",
    )  # fmt: skip


def _repaired(
    solution: Solution, group: SiteGroup, statement: ast.stmt, done: set[ast.AST]
) -> Finding:
    path = group.spot.path
    repair: Fix | None = None
    test, name = _test(solution, group.spot)
    if test and _is_context(group, statement):
        code = f"{{}} if {test} else contextlib.nullcontext()"
        imports = (*name.imports, Import(path, "contextlib"))
        repair = _fix(name, (edit(solution, group.spot, "replace", code=code),), imports)
    elif test and _may_be_left_out(statement):
        run = _run(solution, path, statement, done)
        done.update(run)
        source = solution.project.sources[path]
        body = [with_comment(solution, Spot(path, s), source.segment(s)) for s in run]
        lines = [f"if {test}:", *(f"    {line}" for line in body)]
        edits = [edit(solution, Spot(path, statement), "replace_statement", code="\n".join(lines))]
        edits += [edit(solution, Spot(path, each), "delete") for each in run[1:]]
        if all("\n" not in source.segment(each) for each in run):
            repair = _fix(name, tuple(edits), name.imports)
    return finding(
        solution, RULE, group.spot,
        f"`{short(solution.code(group.spot))}` raises on a machine without CUDA",
        repair, unfixed="the program goes on with its result: what it is without CUDA is not known",
    )  # fmt: skip


def _fix(name: Name, edits: tuple[Edit, ...], imports: tuple[Import, ...]) -> Fix:
    return Fix(
        (*edits, *name.edits), imports=imports, resolvers=name.resolvers, erasure=RULE
    )  # fmt: skip


def _test(solution: Solution, spot: Spot) -> tuple[str, Name]:
    """Return the question whether CUDA is used, and what the file needs to ask it."""
    torch = solution.alias(spot.path, "torch")
    name = solution.name_at(spot)
    if name is not None and not name.resolvers:
        kind = solution.kind_of(name, torch, spot)
        if kind:
            return f'{kind} == "cuda"', name
    return (f"{torch}.cuda.is_available()" if torch else ""), Name("")


def _statement(solution: Solution, spot: Spot) -> ast.stmt | None:
    parents = solution.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Lambda):
            return None
        node = parents.get(node)
    return node


def _tested(solution: Solution, spot: Spot) -> bool:
    """Tell whether the call stands under some test that speaks of CUDA, or is made to fail."""
    parents = solution.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None:
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            words = ast.unparse(node.test).lower()
            if any(w in words for w in ("cuda", "gpu", "device", "distributed", "rank")):
                return True
        if isinstance(node, ast.Try):
            return True
        node = parents.get(node)
    return False


def _is_context(group: SiteGroup, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.With)
        and any(item.context_expr is group.spot.node for item in statement.items)
        and group.first.name in _CONTEXTS
    )


def _may_be_left_out(statement: ast.stmt) -> bool:
    """Tell whether a statement only calls CUDA's runtime, or says something about it."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    func = statement.value.func
    last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return last in _SAYING or _is_runtime(statement)


def _is_runtime(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Attribute(attr="cuda")))):
            return True
    return False


def _run(
    solution: Solution, path: str, statement: ast.stmt, done: set[ast.AST]
) -> list[ast.stmt]:
    """Return a statement and those behind it that call CUDA's runtime too."""
    parent = solution.parents(path).get(statement)
    only = {g.spot.node for g in solution.groups("cuda-only")}
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            run = [statement]
            for each in block[block.index(statement) + 1 :]:
                if each in done or not (
                    _is_runtime(each) and any(node in only for node in ast.walk(each))
                ):
                    break
                run.append(each)
            return run
    return [statement]
