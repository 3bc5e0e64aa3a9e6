"""A function that only CUDA has is called on every machine.

Why: `torch.cuda.synchronize()`, `set_device`, `get_device_name`, streams, events and others raise
on a machine without CUDA ("Torch not compiled with CUDA enabled"), where what they do has no
meaning. Their `torch.accelerator` namesakes raise there just the same. A branch whose test calls
one of them is not taken there.

Example:

    torch.cuda.synchronize()
    with torch.cuda.device(1):
        y = model(x)
    print(torch.cuda.get_device_name(0))

becomes

    if device.type == "cuda":
        torch.cuda.synchronize()
    with torch.cuda.device(1) if device.type == "cuda" else contextlib.nullcontext():
        y = model(x)
    if device.type == "cuda":
        print(torch.cuda.get_device_name(0))

A program that takes its device from `torch.accelerator` gets the namesakes from there, where the
oldest torch of the project has them.

Fix safety: safe. On a CPU-only machine the program could not run before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Import
from samedevice.inference import Solution, demands
from samedevice.inference.events import CudaOnly, CudaQuiet, DefaultSet, DeviceOf
from samedevice.inference.nodes import Location
from samedevice.inference.probes import is_probe
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import DIVIDES
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules import _left_out as left_out
from samedevice.rules._build import edit, finding, short, with_comment
from samedevice.rules._runtime import (
    VENDORS,
    Asked,
    Handles,
    asked,
    is_idle,
    respelled,
    spelling,
    vendor,
)
from samedevice.rules._where_asked import where_asked

RULE = "cuda-only-api"
#: A test that speaks of one of these may well be one for CUDA.
_TESTS = ("gpu", "device", "distributed", "rank", "accelerator", "stream", *VENDORS)
_CONTEXTS = frozenset(
    (
        "torch.autograd.profiler.emit_nvtx", "torch.cuda.device", "torch.cuda.device_of",
        "torch.cuda.nvtx.range", "torch.cuda.profiler.profile",
    )
)  # fmt: skip
#: What stands for the result where there is no CUDA.
_WITHOUT = {"get_device_name": '"CPU"', "elapsed_time": 'float("nan")'}
#: Libraries whose kernels run on CUDA alone: a program with them needs it.
_KERNELS = frozenset(
    (
        "apex", "bitsandbytes", "cupy", "flash_attn", "mamba_ssm", "MultiScaleDeformableAttention",
        "numba", "pycuda", "spconv", "tinycudann", "torch_scatter", "transformer_engine", "triton",
        "xformers",
    )
)  # fmt: skip


def find(solution: Solution) -> Iterator[Finding]:
    """Report calls that raise without CUDA and that no test for it guards."""
    handles = Handles(solution)
    done: set[ast.AST] = set()
    for group in solution.groups(CudaOnly):
        if any(site.under_device_test for site in group.sites):
            continue
        if group.first.name.endswith("set_device") and solution.programs.is_distributed(
            group.spot.path
        ):
            continue  # `processes-tied-to-cuda` deals with it
        statement = _statement(solution, group.spot)
        if statement in done or _tested(solution, group.spot):
            continue
        if group.first.name == DIVIDES:
            if not _tested(solution, group.spot, solution.code(group.spot).lower()):
                yield _divisor(solution, group)
            continue
        if statement is None:
            yield _later(solution, group)
            continue
        if group.first.name in _CONTEXTS and is_idle(solution, group.spot):
            continue
        yield _repaired(solution, group, statement, done, handles)
    for quiet in solution.groups(CudaQuiet):
        yield from _quiet(solution, quiet)
    for asking in solution.groups(DeviceOf):
        yield from where_asked(solution, asking, RULE)
    for told in solution.groups(DefaultSet):
        found = _default(solution, told)
        if found is not None:
            yield found
    for path in solution.programs.files():
        if solution.judges(path):
            yield from _demanded(solution, path)


def _message(solution: Solution, spot: Location, name: str = "") -> str:
    if isinstance(spot.node, ast.Constant):
        return "this asks for pinned memory, which raises on a machine without CUDA"
    return f"`{short(solution.code(spot))}` raises on a machine without {VENDORS[vendor(name)]}"


def _later(solution: Solution, group: SiteGroup) -> Finding:
    """What a lambda calls: whether anybody calls that without CUDA is not seen."""
    noted = finding(
        solution, RULE, group.spot, _message(solution, group.spot, group.first.name), None,
        unfixed="left as it is: it is called when the lambda is",
    )  # fmt: skip
    return replace(noted, level="note")


def _fix(name: DeviceExpression, edits: tuple[Edit, ...], imports: tuple[Import, ...] = ()) -> Fix:
    return Fix(
        (*edits, *name.edits), imports=(*name.imports, *imports), resolvers=name.resolvers,
        erasure=RULE,
    )  # fmt: skip


# -- one call -------------------------------------------------------------------------------


def _repaired(
    solution: Solution, group: SiteGroup, statement: ast.stmt, done: set[ast.AST], handles: Handles
) -> Finding:
    spot = group.spot
    how = asked(solution, spot, group.first.name)
    repair: Fix | None = None
    unfixed = (
        "the program uses its result, and what that should be without "
        f"{VENDORS[vendor(group.first.name)]} is not known"
    )
    if solution.programs.is_distributed(spot.path) and any(
        solution.programs.owner(path) for path in solution.programs.of(spot.path)
    ):  # `processes-tied-to-cuda` leaves them
        unfixed = "the processes of this program keep needing CUDA"
    elif how is not None:
        repair = (
            _as_device(solution, group)
            or _handle(solution, group, how, handles)
            or _test(solution, group, how)
            or _comparison(solution, group, how)
            or _unread(solution, group, statement, how)
            or _context(group, statement, how)
            or (_result(solution, group, how) if _says_more(group, statement) else None)
            or _left_out(group, left_out.run(solution, group.spot, statement, done), how, done)
            or _result(solution, group, how)
            or _left_out(group, left_out.told(solution, group.spot, statement), how, done)
        )
    return finding(
        solution, RULE, spot, _message(solution, spot, group.first.name), repair, unfixed=unfixed
    )  # fmt: skip


def _as_device(solution: Solution, group: SiteGroup) -> Fix | None:
    """`x.to(torch.cuda.current_device())`: the program's device."""
    spot = group.spot
    if group.first.name != "torch.cuda.current_device":
        return None
    if not solution.is_meant(spot.node):
        return None
    if solution.is_stored(spot.node):
        torch = device_names(solution).imports.alias(spot.path, "torch")
        code = f'{{}} if {torch}.cuda.is_available() else "cpu"'
        return (
            _fix(DeviceExpression(""), (edit(solution, spot, "replace", code=code),))
            if torch
            else None
        )
    name = device_names(solution).name_at(spot)
    if name is None:
        return None
    parent = solution.programs.parents(spot.path).get(spot.node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        if parent.func.attr == "cuda":
            place = Location(spot.path, parent)
            change = edit(solution, place, "method", code=f".to({name.code})")
            return _fix(name, (edit(solution, place, "unwrap"), change))
    return _fix(name, (edit(solution, spot, "replace", code=name.code),))


def _handle(solution: Solution, group: SiteGroup, how: Asked, handles: Handles) -> Fix | None:
    """A stream or an event: none without CUDA, and what is done with it is left out."""
    edits = handles.edits(group, how)
    return _fix(how.name, tuple(edits)) if edits else None


def _context(group: SiteGroup, statement: ast.stmt, how: Asked) -> Fix | None:
    if not (
        isinstance(statement, ast.With)
        and any(item.context_expr is group.spot.node for item in statement.items)
        and group.first.name in _CONTEXTS
    ):
        return None
    code = f"{{}} if {how.test} else contextlib.nullcontext()"
    change = edit(how.solution, group.spot, "replace", code=code)
    return _fix(how.name, (change,), (Import(group.spot.path, "contextlib"),))


def _test(solution: Solution, group: SiteGroup, how: Asked) -> Fix | None:
    """What a branch asks of CUDA: without it, the answer is no."""
    test = _asked_by(solution, group.spot)
    if test is None:
        return None
    weaker = isinstance(test, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
        isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
    )
    code = f"{how.test} and {'({})' if weaker else '{}'}"
    return _fix(how.name, (edit(solution, Location(group.spot.path, test), "replace", code=code),))


def _comparison(solution: Solution, group: SiteGroup, how: Asked) -> Fix | None:
    """`new = get_device_capability() >= (8, 0)`: what it asks for is not there without CUDA."""
    path, node = group.spot.path, group.spot.node
    parents = solution.programs.parents(path)
    parent = parents.get(node)
    while isinstance(parent, (ast.Attribute, ast.Subscript, ast.BinOp)):
        node, parent = parent, parents.get(parent)
    if not (isinstance(parent, ast.Compare) and parent.left is node and len(parent.ops) == 1):
        return None
    if not isinstance(parent.ops[0], (ast.Eq, ast.In, ast.Gt, ast.GtE)):
        return None  # what is not asked for is true without CUDA, perhaps
    outer = parents.get(parent)
    alone = isinstance(outer, (ast.Assign, ast.AnnAssign, ast.Call, ast.Return, ast.keyword))
    code = f"{how.test} and {{}}"
    change = edit(solution, Location(path, parent), "replace", code=code if alone else f"({code})")
    return _fix(how.name, (change,))


def _left_out(
    group: SiteGroup, statements: list[ast.stmt], how: Asked, done: set[ast.AST]
) -> Fix | None:
    """Statements that do nothing but this: without CUDA they are left out."""
    if not statements:
        return None
    done.update(statements)
    return _fix(how.name, left_out.under(how.solution, group.spot.path, how.test, statements))


def _unread(solution: Solution, group: SiteGroup, statement: ast.stmt, how: Asked) -> Fix | None:
    """`x.pin_memory()` as a statement: one more test for it, where it has one to itself."""
    if not (isinstance(statement, ast.Expr) and statement.value is group.spot.node):
        return None
    if not group.first.name.endswith("pin_memory"):
        return None
    path = group.spot.path
    outer = solution.programs.parents(path).get(statement)
    if isinstance(outer, ast.If) and outer.body == [statement] and not outer.orelse:
        test = outer.test
        weaker = isinstance(test, (ast.IfExp, ast.NamedExpr)) or (
            isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
        )
        code = f"{'({})' if weaker else '{}'} and {how.test}"
        return _fix(how.name, (edit(solution, Location(path, test), "replace", code=code),))
    place = Location(path, statement)
    code = with_comment(solution, place, solution.code(place))
    code = f"if {how.test}:\n    {code}"
    return _fix(how.name, (edit(solution, place, "replace_statement", code=code),))


def _says_more(group: SiteGroup, statement: ast.stmt) -> bool:
    """Tell whether a statement reads something else than this call's result, too."""
    own = set(ast.walk(group.spot.node))
    called = statement.value.func if isinstance(
        statement, ast.Expr) and isinstance(statement.value, ast.Call) else None  # fmt: skip
    skipped = own | (set(ast.walk(called)) if called is not None else set())
    return any(isinstance(node, ast.Name) and node not in skipped for node in ast.walk(statement))


def _result(solution: Solution, group: SiteGroup, how: Asked) -> Fix | None:
    """A call whose result means something else without CUDA, or the receiver of `pin_memory`."""
    last, spot = group.first.name.rpartition(".")[2], group.spot
    code = _WITHOUT.get(last)
    if last == "pin_memory" and isinstance(spot.node, ast.Call):
        func = spot.node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, (ast.Name, ast.Attribute)):
            code = solution.code(Location(spot.path, func.value))
    if last == "pin_memory=":
        return _fix(how.name, (edit(solution, spot, "replace", code=how.test),))
    if code is None:
        return None
    change = edit(solution, spot, "replace", code=f"{{}} if {how.test} else {code}")
    return _fix(how.name, (change,))


def _quiet(solution: Solution, group: SiteGroup) -> Iterator[Finding]:
    """What is silent without CUDA says nothing of another accelerator."""
    spot, call = group.spot, group.spot.node
    new = spelling(solution, spot.path, group.first.name)
    if new is None or not isinstance(call, ast.Call) or any(
        site.under_device_test for site in group.sites
    ) or _tested(solution, spot):  # fmt: skip
        return
    how = asked(solution, spot, group.first.name)
    statement = solution.programs.parents(spot.path).get(call)
    repair: Fix | None = None
    if how is not None and isinstance(statement, ast.Expr):
        place = Location(spot.path, statement)
        code = with_comment(solution, place, respelled(solution, spot.path, statement))
        change = edit(solution, place, "replace_statement", code=f"if {how.test}:\n    {code}")
        repair = _fix(how.name, (change,))
    elif how is not None and new.rpartition(".")[2].endswith(("allocated", "reserved")):
        edits = (
            edit(solution, spot, "callee", code=new),
            edit(solution, spot, "replace", code=f"{{}} if {how.test} else 0"),
        )
        repair = _fix(how.name, edits)
    yield finding(
        solution, RULE, spot,
        f"`{short(solution.code(spot))}` knows CUDA only, while this program uses any accelerator",
        repair, unfixed="the program goes on with its result",
    )  # fmt: skip


def _default(solution: Solution, group: SiteGroup) -> Finding | None:
    """`torch.set_default_tensor_type(torch.cuda.FloatTensor)`, whether there is CUDA or not."""
    spot, call = group.spot, group.spot.node
    torch = device_names(solution).imports.alias(spot.path, "torch")
    if any(site.under_device_test for site in group.sites) or _tested(solution, spot):
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
            place = Location(spot.path, statement)
            code = with_comment(solution, place, solution.code(spot))
            change = edit(solution, place, "replace_statement", code=f"if {asks}:\n    {code}")
            repair = _fix(DeviceExpression(""), (change,))
        elif isinstance(argument, ast.Constant):
            code = f'{{}} if {asks} else "cpu"'
            repair = _fix(
                DeviceExpression(""),
                (edit(solution, Location(spot.path, argument), "replace", code=code),),
            )
    return finding(
        solution, RULE, spot, _message(solution, spot), repair,
        unfixed="what it is without CUDA is not known",
    )  # fmt: skip


# -- programs that demand CUDA ----------------------------------------------------------------


def _demanded(solution: Solution, path: str) -> Iterator[Finding]:
    """`assert torch.cuda.is_available()`: a program that follows its device needs no such thing.

    One that says why it is made is believed.
    """
    if "is_available()" not in solution.project.sources[path].text:
        return
    tree = solution.programs.tree(path)
    demanding = [node for node in syntax.statements(tree) if demands.is_demand(node)]
    if not demanding or solution.policy.managed(path):
        return
    believed = set(demands.believed(tree))
    for node in demanding:
        spot = Location(path, node)
        if node in believed:
            yield _believed(solution, spot)
        elif not _announces(solution, spot):
            kernels = _kernels(solution, path)
            gone = Fix((edit(solution, spot, "delete"),), erasure=RULE, last=True)
            repair = None if kernels else gone
            yield finding(
                solution, RULE, spot, "this stops the program on a machine without CUDA", repair,
                unfixed=f"{kernels} has kernels for CUDA only",
            )  # fmt: skip


def _believed(solution: Solution, spot: Location) -> Finding:
    noted = finding(
        solution, RULE, spot, "this program says that it needs CUDA: what follows may ask for it",
        None, unfixed="it is meant so",
    )  # fmt: skip
    return replace(noted, level="note")


def _announces(solution: Solution, spot: Location) -> bool:
    """Tell whether a demand only tells those who chose CUDA that there is none.

    That is where it stands behind their choice, or before calls that stay, as nobody else gets
    there. Without it what comes next would fail all the same, with less of a reason.
    """
    block = solution.programs.parents(spot.path).get(spot.node)
    if block is None or isinstance(block, ast.Module):
        return False
    if _tested(solution, spot):
        return True
    return any(
        site.under_device_test
        for node in syntax.walk(block)
        for group in solution.groups_at(CudaOnly, node)
        for site in group.sites
    )


def _kernels(solution: Solution, path: str) -> str:
    """Return a library of a program that runs on CUDA alone, "" without one."""
    for other in solution.programs.of(path):
        for node in syntax.statements(solution.project.tree(other) or ast.Module([], [])):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                root = name.split(".")[0]
                if root in _KERNELS or root.endswith("_cuda") or "cpp_extension" in name:
                    return name
    return ""


# -- statements -------------------------------------------------------------------------------


def _divisor(solution: Solution, group: SiteGroup) -> Finding:
    """`batch // torch.cuda.device_count()`: without CUDA that is a division by zero."""
    code = solution.code(group.spot)
    at_least = edit(solution, group.spot, "replace", code=f"max({code}, 1)")
    return finding(
        solution, RULE, group.spot,
        f"`{short(code)}` is 0 on a machine without CUDA, and something is divided by it",
        Fix((at_least,)),
    )  # fmt: skip


def _statement(solution: Solution, spot: Location) -> ast.stmt | None:
    parents = solution.programs.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Lambda):
            return None
        node = parents.get(node)
    return node


def _tested(solution: Solution, spot: Location, *more: str) -> bool:
    """Tell whether the call stands under some test that speaks of CUDA, or is made to fail.

    One that has one of some `more` words speaks of it, too.
    """
    parents = solution.programs.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None:
        parent = parents.get(node)
        if isinstance(parent, ast.ExceptHandler):
            return True
        if isinstance(parent, ast.Try) and node in (*parent.body, *parent.orelse):
            if is_probe(parent):
                return True
        before: list[ast.expr] = []
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and node is not parent.test:
            before = [parent.test]
        elif isinstance(parent, ast.BoolOp) and isinstance(node, ast.expr):
            before = parent.values[: parent.values.index(node)]
        parts = (part for test in before for part in _parts(test) if not _is_first_process(part))
        if any(word in ast.unparse(part).lower() for part in parts for word in (*_TESTS, *more)):
            return True
        node = parent
    return False


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _is_first_process(test: ast.expr) -> bool:
    """Tell whether a test is for the process of rank 0, which says nothing of its device."""
    match test:
        case ast.Compare(left=rank, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            pass
        case ast.Compare(left=rank, ops=[ast.In()], comparators=[ast.Tuple() | ast.List()]):
            pass
        case ast.UnaryOp(op=ast.Not(), operand=rank):
            pass
        case _:
            return False
    name = syntax.dotted(rank.func if isinstance(rank, ast.Call) else rank)
    return name.lower().endswith("rank")


def _asked_by(solution: Solution, spot: Location) -> ast.expr | None:
    """Return the test of a branch or loop that a call stands in."""
    parents = solution.programs.parents(spot.path)
    node: ast.AST | None = spot.node
    while node is not None and not isinstance(node, (ast.stmt, ast.Lambda)):
        parent = parents.get(node)
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and node is parent.test:
            return parent.test
        node = parent
    return None
