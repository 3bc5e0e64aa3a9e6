"""Devices that the user chooses: options of a command line, and switches in a config.

What is chosen (`args.cuda`, `opt.gpu_id`, `USE_CUDA`) decides where a name for the device could be
defined, and how: after the choice, so that the option keeps its meaning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from samedevice.inference import arithmetic, command_lines, devices
from samedevice.inference.events import BranchTaken
from samedevice.inference.markers import VISIBLE, markers
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Instance, Scope
from samedevice.inference.values import (
    Choice,
    CliOption,
    Const,
    Device,
    DeviceTest,
    PlannedDefinition,
    Value,
)
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

#: Calls in each other from a script's own code to what says which GPUs it sees.
_CALLERS = 6

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What every index of a GPU is written with.
_INDEXING = re.compile(r"\.cuda\s*\(|(?:cuda|xpu|mps|npu|hpu|mlu|musa):")
#: Names of switches that a user edits in the program.
_SWITCH = re.compile(
    r"(?i)(?:(?:use|with|opt|is|on|enable)_?)?(?:cuda|gpu)(?:_?(?:on|enabled|mode))?"
)
#: What a test asks a value: where it is, which nobody chooses there.
_ASKED_OF_VALUES = re.compile(r"\.is_cuda\b")


def switch(target: ast.expr, value: Value) -> Value:
    """Return a flag for `USE_CUDA = True`, which is there to be edited by hand."""
    if isinstance(value, Const) and isinstance(value.value, bool):
        if isinstance(target, ast.Name) and _SWITCH.fullmatch(target.id):
            return DeviceTest(asks=False, choice=True)
    return value


def chosen_unknown(run: Interpreter, node: ast.If, scope: Scope) -> bool:
    """Note a branch that moves values after a test about devices of which nothing else is known."""
    if not speaks_of_devices(run.project.sources[scope.path].lines(node.test)):
        return False
    if not speaks_of_devices(node.test):
        return False
    if moves(node.orelse):
        return False
    if not moves(node.body):
        # What is brought to a device that is chosen elsewhere is there where it meets another.
        return not node.orelse and _brings(node.body)
    of_values = not speaks_of_devices(_ASKED_OF_VALUES.sub("", ast.unparse(node.test)))
    if not (of_values or run.symbolic and isinstance(scope.self_value, Instance)):
        run.offers.append(Location(scope.path, node))  # a class that nobody uses offers nothing
    run.record(BranchTaken(Location(scope.path, node), None, scope, positive=None))
    return True


def offer(
    run: Interpreter, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Note where a name for the device could be defined: after what the user chose.

    That is `use_cuda = args.cuda and torch.cuda.is_available()`, or the parsed options where
    one of them says whether to use the accelerator, or which one.
    """
    if not isinstance(value, (DeviceTest, CliOption, Instance)):
        return  # nearly all that is bound
    flags, indexes = _choices(run, ast.unparse(target), value, scope)
    if not flags and not indexes or len(flags) > 1 or len(indexes) > 1:
        return
    choice = (flags or indexes)[0][0]
    if not command_lines.decides(run, choice, scope.path):
        return
    spot = Location(scope.path, statement)
    run.offers.append(spot)
    names = words(run, scope.path)
    if "device" in names or not _in_line(statement, scope):
        return
    shared = scope.path in run.project.importers
    torch = _torch(scope, names, shared)
    if not torch:
        return
    owner: Scope | Instance | None = scope
    name = "device"
    if "." in choice and (scope.func is not None or shared):
        # Whatever receives the options receives the device. An object writes nothing into those
        # that it was given: it keeps the device beside them.
        holder, _, _ = choice.rpartition(".")
        holder = "self" if holder.startswith("self.") else holder
        owner, name = _holder(run, holder, scope, names), f"{holder}.device"
    if owner is None:
        return
    if scope.cls is not None and _set_later(run, scope.path, choice):
        return
    before = (owner.attrs if isinstance(owner, Instance) else owner.names).get("device")
    if isinstance(owner, Instance) and isinstance(before, Device) and before.planned is not None:
        home = run.scope_of(before.planned.spot)
        if not before.partial and (home is None or home.node is not scope.node):
            for _, flag in flags:
                flag.decides = before
            return  # whoever has the object first gives it the device
    values = scope.globals.names.values()
    new = not any(isinstance(v, External) and v.name == "torch" for v in values)
    planned = _planned(run, flags, indexes, PlannedDefinition(spot, name, torch, imports_torch=new))
    if not planned.index and isinstance(before, Device) and before.planned is not None:
        index, absent = before.planned.index, before.planned.index_absent
        planned = replace(planned, index=index, index_absent=absent)
    device = Device(run.graph.node(spot), spot, resolved=True)
    run.graph.pin(device.node, Place.CENTRAL, spot)
    for _, flag in flags:
        flag.decides = device
    device.planned = planned
    if isinstance(owner, Instance):
        owner.attrs["device"] = device
    else:
        owner.names["device"] = device


def _choices(
    run: Interpreter, code: str, value: Value, scope: Scope
) -> tuple[list[tuple[str, DeviceTest]], list[tuple[str, CliOption]]]:
    """Return the switches and the indexes among what is bound, by how they are written."""
    flags: list[tuple[str, DeviceTest]] = []
    indexes: list[tuple[str, CliOption]] = []
    for name, member in _members(code, value):
        if isinstance(member, DeviceTest) and member.choice:
            flags.append((name, member))
        elif isinstance(member, CliOption) and is_index(run, name, member, scope.path):
            indexes.append((name, member))
    return flags, indexes


def _planned(
    run: Interpreter, flags: list[tuple[str, DeviceTest]], indexes: list[tuple[str, CliOption]],
    planned: PlannedDefinition,
) -> PlannedDefinition:  # fmt: skip
    """Return a definition with what decides whether to use the accelerator, and which."""
    path = planned.spot.path
    choices = [Choice(name, "true" if flag.positive else "false") for name, flag in flags]
    for name, option in indexes:
        needed = _index_test(run, name, option, path)
        choices += needed
        # `.cuda(None)` goes to the first GPU, unless another is set
        planned = replace(planned, index=name, index_absent=option.value is None and not needed)
    asks = not any(flag.asks for _, flag in flags)
    switch = flags[0][0] if flags and not indexes else ""
    if not (switch and flags[0][1].positive and asks and handed_on(run, switch, path)):
        switch = ""
    return replace(planned, choices=tuple(choices), asks=asks, switch=switch)


def _holder(run: Interpreter, code: str, scope: Scope, names: set[str]) -> Instance | None:
    """Return the options that the device goes into, or None where it cannot.

    An attribute that is there has a meaning of its own, and a module writes no settings.
    """
    if names & {"vars", "__dict__"} and _is_listed(run, code, scope.path):
        return None
    writer = scope.self_value
    if code != "self" and isinstance(writer, Instance) and writer.family == "module":
        return None
    found = run.eval(ast.parse(code, mode="eval").body, scope)
    known = found.attrs.get("device") if isinstance(found, Instance) else None
    if known is not None and not (isinstance(known, Device) and known.planned is not None):
        return None
    return found if isinstance(found, Instance) else None


def _is_listed(run: Interpreter, code: str, path: str) -> bool:
    """Tell whether a file perhaps lists all that an object has: an object lists its own alone."""
    own = code == "self"
    for node in syntax.walk(run.project.tree(path) or ast.Module([], [])):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr="__dict__"):
                listed = own
            case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id="self")]):
                listed = own
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")):
                listed = True
            case _:
                continue
        if listed:
            return True
    return False


def hides(
    run: Interpreter, owner: ast.expr, index: ast.expr, scope: Scope, statement: ast.stmt
) -> None:
    """Note `os.environ["CUDA_VISIBLE_DEVICES"] = ...`: code that asks for a GPU earlier sees all.

    So the name for the device is defined after it.
    """
    match owner, index:
        case ast.Attribute(attr="environ") | ast.Name(id="environ"), ast.Constant(
            value=str(text)
        ) if VISIBLE.fullmatch(text):
            pass
        case _:
            return
    if scope.func is not None:
        _hidden_by_call(run, scope)
    line = _line_of(statement, scope)
    torch = _torch(scope, set(), False)
    if scope.func is None and not torch and _imports_behind(line, scope):
        return  # no code can have asked for a GPU yet
    spot = Location(scope.path, line)
    run.offers.append(spot)
    for value in tuple(scope.names.values()):
        known = value.attrs.get("device") if isinstance(value, Instance) else value
        if isinstance(known, Device) and known.planned is not None:
            if known.planned.spot.path == scope.path:  # not one that another file defines
                known.planned = replace(known.planned, spot=spot)
    if not torch or line is not statement or "device" in words(run, scope.path):
        return
    _plan(run, scope, spot, torch)


def _plan(run: Interpreter, scope: Scope, spot: Location, torch: str) -> None:
    """Plan the name for the device after a statement, unless a scope has one of its own."""
    there = scope.names.get("device")
    if isinstance(there, Device) and there.planned is not None:
        there = there if there.planned.spot.path == scope.path else None  # of an imported file
    if scope.cls is not None or isinstance(there, Device):
        return
    device = Device(run.graph.node(spot), spot, resolved=True)
    run.graph.pin(device.node, Place.CENTRAL, spot)
    device.planned = PlannedDefinition(spot, "device", torch)
    scope.names["device"] = device


def _hidden_by_call(run: Interpreter, scope: Scope) -> None:
    """Plan the device's name behind a call of another file's function that hides GPUs.

    `opt = Options().parse()`
    """
    home, call = scope, scope.call
    for _ in range(_CALLERS):
        caller = run.scope_of(call) if call is not None else None
        if caller is None or call is None:
            return
        if caller.path != scope.path:
            home = caller
            break
        call = caller.call
    if call is None or home.path == scope.path or "device" in words(run, home.path):
        return
    at, torch = getattr(call.node, "lineno", 0), _torch(home, set(), False)
    behind = (p for p in _in_order(home) if p.lineno <= at <= (p.end_lineno or p.lineno))
    line = next(behind, None)
    if torch and isinstance(line, (ast.Assign, ast.AnnAssign, ast.Expr)):
        _plan(run, home, Location(home.path, line), torch)


def overruled(owner: Instance, attr: str, value: Value) -> None:
    """Forget the device that a choice was to define, where another value replaces that."""
    old = owner.attrs.get(attr)
    if not isinstance(old, DeviceTest) or old.decides is None or isinstance(value, DeviceTest):
        return
    old.decides.partial = True
    if owner.attrs.get("device") is old.decides:
        del owner.attrs["device"]


def _members(code: str, value: Value) -> Iterator[tuple[str, Value]]:
    """Return what is chosen with its code: a value itself, or parsed options one by one."""
    if isinstance(value, Instance):
        for attr, member in value.attrs.items() if value.family == "namespace" else ():
            yield f"{code}.{attr}", member
    else:
        yield code, value


def _torch(scope: Scope, names: set[str], shared: bool) -> str:
    """Return torch's name in a file, also where others would make it import torch first."""
    for name, value in scope.globals.names.items():
        if isinstance(value, External) and value.name == "torch":
            return name
    wanted = shared and scope.func is None and "torch" not in names
    return "torch" if wanted else ""


def _set_later(run: Interpreter, path: str, name: str) -> bool:
    """Tell whether a program may set a switch of a class after its definition."""
    for other in run.project.programs.get(path, frozenset((path,))):
        for node in syntax.walk(run.project.tree(other) or ast.Module([], [])):
            match node:
                case ast.Attribute(attr="__dict__") | ast.Name(id="setattr" | "vars"):
                    return True
                case ast.Attribute(attr=attr, ctx=ast.Store()) if attr == name:
                    return True
                case ast.keyword(arg=arg) if arg == name:
                    return True
    return False


def handed_on(run: Interpreter, code: str, path: str) -> bool:
    """Tell whether a file passes an expression to functions."""
    tree = run.project.tree(path)
    return any(
        isinstance(argument, (ast.Name, ast.Attribute)) and ast.unparse(argument) == code
        for node in (syntax.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Call)
        for argument in (*node.args, *(k.value for k in node.keywords))
    )


def is_index(run: Interpreter, code: str, option: CliOption, path: str) -> bool:
    """Tell whether an option says which GPU to use, by how a program uses it."""
    if option.value is not None and type(option.value) not in (int, str):
        return False
    return code in indexes(run, path)


def _index_test(run: Interpreter, code: str, option: CliOption, path: str) -> list[Choice]:
    """Return the condition under which an index stands for a GPU, if there is one."""
    for other in sorted(run.project.programs.get(path, frozenset((path,)))):
        for node in syntax.walk(run.project.tree(other) or ast.Module([], [])):
            if isinstance(node, ast.Compare) and arithmetic.index_means(node) is not None:
                if ast.unparse(node.left) == code:
                    none = ast.unparse(node.comparators[0]) == "None"
                    return [Choice(code, "given" if none else "positive")]
    negative = isinstance(option.value, int) and option.value < 0
    return [Choice(code, "positive")] if negative else []


def indexes(run: Interpreter, path: str) -> set[str]:
    """Return the expressions that a program gives to `.cuda(...)` or puts into "cuda:..."."""
    program = run.project.programs.get(path, frozenset((path,)))
    known = run.indexes_of.get(program)
    if known is None:
        known = run.indexes_of[program] = set()
        if any(markers(run.project, other).is_distributed for other in program):
            return known  # a number for each process, which no user chooses
        for other in sorted(program):
            if not _INDEXING.search(run.project.sources[other].text):
                continue
            tree = run.project.tree(other)
            for node in syntax.walk(tree) if tree is not None else ():
                index = unconverted(index_in(node))
                if isinstance(index, (ast.Name, ast.Attribute)):
                    known |= {ast.unparse(index)} - counted(tree)
    return known


def unconverted(node: ast.expr | None) -> ast.expr | None:
    """Return `x` of `int(x)` and `str(x)`: the same number."""
    match node:
        case ast.Call(func=ast.Name(id="int" | "str"), args=[inner], keywords=[]):
            return inner
    return node


def counted(tree: ast.AST | None) -> set[str]:
    """Return the names that the loops of a file bind: one GPU after the other is no choice."""
    loops = (
        node.target
        for node in (syntax.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
    )
    return {part.id for target in loops for part in ast.walk(target) if isinstance(part, ast.Name)}


def words(run: Interpreter, path: str) -> set[str]:
    """Return the names that a file reads, binds, and has as attributes that it stores."""
    known = run.words_of.get(path)
    if known is None:
        tree = run.project.tree(path)
        known = run.words_of[path] = set()
        for node in syntax.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Name):
                known.add(node.id)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.alias):
                known.add(node.asname or node.name)
            elif isinstance(node, ast.Attribute):
                if isinstance(node.ctx, ast.Store) or node.attr == "__dict__":
                    known.add(node.attr)
    return known


def moves(body: list[ast.stmt]) -> bool:
    """Tell whether statements move something to a GPU."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cuda"
        for node in syntax.walk_all(body)
    )


def _brings(body: list[ast.stmt]) -> bool:
    """Tell whether statements only bind values to what they are on a device that has a name."""
    return bool(body) and all(
        isinstance(statement, ast.Assign)
        and all(_is_brought(*pair) for target in statement.targets
                for pair in _pairs(target, statement.value))
        for statement in body
    )  # fmt: skip


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return list(zip(targets, values, strict=True))
    return [(target, value)]


def _is_brought(target: ast.expr, value: ast.expr) -> bool:
    """Tell whether an assignment is `x = x.to(device)`."""
    match value:
        case ast.Call(
            func=ast.Attribute(value=held, attr="to"),
            args=[ast.Name() | ast.Attribute() as device, *_],
        ):
            return ast.unparse(target) == ast.unparse(held) and speaks_of_devices(device)
    return False


def index_in(node: ast.AST) -> ast.expr | None:
    """Return the index in `x.cuda(index)`, `f"cuda:{index}"` and their like."""
    match node:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[index], keywords=[]):
            return index
        case ast.JoinedStr(values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=index)]):
            return index
        case (
            ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=[index]
            )
            | ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod() | ast.Add(), right=index)
        ):
            if devices.INDEXED.fullmatch(text):
                if isinstance(index, ast.Call) and ast.unparse(index.func) == "str" and index.args:
                    return index.args[0]
                return index
    return None


def _in_line(statement: ast.stmt, scope: Scope) -> bool:
    """Tell whether a statement is always run when its scope is, before the statements after it."""
    return any(part is statement for part in _in_order(scope))


def _in_order(scope: Scope) -> Iterator[ast.stmt]:
    """Yield the statements that are always run when a scope is, one after the other."""
    body = getattr(scope.node, "body", [])
    yield from _one_by_one(body if isinstance(body, list) else [])


def _one_by_one(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for part in body:
        started = isinstance(part, ast.If) and "__name__" in ast.dump(part.test)
        inner = part.body if isinstance(part, ast.If) and started else syntax.goes_on(part)
        if inner:
            yield from _one_by_one(inner)
        else:
            yield part


def _line_of(statement: ast.stmt, scope: Scope) -> ast.stmt:
    """Return the statement of a scope that another is part of, and which is always run."""
    for part in _in_order(scope):
        if part.lineno <= statement.lineno <= (part.end_lineno or part.lineno):
            return part
    return statement


def _imports_behind(line: ast.stmt, scope: Scope) -> bool:
    """Tell whether a file imports something after one of its statements."""
    return any(
        isinstance(part, (ast.Import, ast.ImportFrom)) and part.lineno > line.lineno
        for part in _in_order(scope)
    )
