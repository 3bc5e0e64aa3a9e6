"""CUDA's runtime: how to ask for it, how torch.accelerator spells it, its streams and events."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from samedevice.finding import DeviceExpression, Edit
from samedevice.inference import Solution
from samedevice.inference.events import Loaded, Placing
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices
from samedevice.repair import device_names
from samedevice.rules._build import edit, with_comment
from samedevice.torchfacts import accelerator_names

#: Functions of torch.cuda that torch.accelerator has with the same meaning, by its names for them.
_ACCELERATED = {
    "set_device": "set_device_index",
    **{
        name: name
        for name in (
            "empty_cache", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
            "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
            "reset_peak_memory_stats", "synchronize",
        )
    },
}  # fmt: skip
#: Modules of torch for one vendor's devices, whose type is of the same name.
VENDORS = {"cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "mtia": "MTIA"}
_BACKENDS = frozenset((*VENDORS, "accelerator"))
#: What a program tells a stream, an event or a tensor, and gets nothing back for.
_TELLING = frozenset(
    ("record", "record_event", "record_stream", "synchronize", "wait", "wait_event", "wait_stream")
)
_HANDLES = frozenset(
    ("torch.cuda.Event", "torch.cuda.Stream", "torch.cuda.ExternalStream")
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The question whether there is an accelerator, and what a file needs to ask it."""

    solution: Solution
    test: str
    name: DeviceExpression


def asked(solution: Solution, spot: Location, runtime: str = "") -> Asked | None:
    """Return how code at a place asks whether it may call `runtime`; None where it cannot.

    It asks for the type of its device where that has a name there, else for the vendor's devices.
    No name is made for one question alone.
    """
    torch = device_names(solution).imports.alias(spot.path, "torch")
    any_kind = runtime.startswith("torch.accelerator") or (
        spelling(solution, spot.path, runtime) is not None
    )
    name = _named(solution, spot) or device_names(solution).name_at(spot)
    if name is not None and not name.resolvers and (not name.edits or _moves(solution, spot)):
        kind = device_names(solution).kind_of(name, torch, spot)
        if kind:
            wanted = '!= "cpu"' if any_kind else f'== "{vendor(runtime)}"'
            return Asked(solution, f"{kind} {wanted}", name)
    backend = "accelerator" if any_kind else vendor(runtime)
    return (
        Asked(solution, f"{torch}.{backend}.is_available()", DeviceExpression(""))
        if torch
        else None
    )


def vendor(runtime: str) -> str:
    """Return the type of the devices that a function is for: of `torch.xpu.synchronize`, "xpu"."""
    module = runtime.removeprefix("torch.").partition(".")[0]
    return module if runtime.startswith("torch.") and module in VENDORS else "cuda"


def _moves(solution: Solution, spot: Location) -> bool:
    """Tell whether something in the same function, or file, moves and needs the device's name."""
    home = solution.programs.function_of(spot)
    return any(
        group.spot.path == spot.path and solution.programs.function_of(group.spot) is home
        for kind in (Placing, Loaded)
        for group in solution.groups(kind)
    )


def _named(solution: Solution, spot: Location) -> DeviceExpression | None:
    """Return the device of a value that the call itself names (`set_device(x.device)`)."""
    match spot.node:
        case ast.Call(args=[ast.Attribute(value=ast.Name(), attr="device") as device]):
            site = solution.reach.site_at(spot)
            if site is not None:
                return device_names(solution).as_said(ast.unparse(device), site)
    return None


def spelling(solution: Solution, path: str, name: str) -> str | None:
    """Return what torch.accelerator calls a function of torch.cuda, in a file's words for torch.

    None where the program's device is CUDA's, or its oldest torch has no such name.
    """
    module, _, last = name.rpartition(".")
    torch = device_names(solution).imports.alias(path, "torch")
    if (
        module != "torch.cuda"
        or not torch
        or not device_names(solution).resolvers.accelerated(path)
    ):
        return None
    major, minor = max(solution.project.torch, (2, 6))  # which brought torch.accelerator
    new = _ACCELERATED.get(last, "")
    if f"torch.accelerator.{new}" not in accelerator_names(f"{major}.{minor}"):
        return None
    return f"{torch}.accelerator.{new}"


def respelled(solution: Solution, path: str, statement: ast.stmt) -> str:
    """Return a statement, in torch.accelerator's words where it is a call that they are for."""
    code = solution.project.sources[path].segment(statement)
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return code
    func = statement.value.func
    last = func.attr if isinstance(func, ast.Attribute) else ""
    new = spelling(solution, path, f"torch.cuda.{last}")
    old = solution.project.sources[path].segment(func)
    if new is None or not (is_runtime(statement) and code.startswith(old)):
        return code
    return new + code[len(old) :]


def is_runtime(statement: ast.stmt) -> bool:
    """Tell whether a statement is a call of the runtime and nothing else."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    func = statement.value.func
    if isinstance(func, ast.Attribute) and func.attr in _TELLING:
        calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
        if any(_of_backend(call.func) for call in calls):
            return True
    return _of_backend(func)


def _of_backend(func: ast.AST) -> bool:
    """Tell whether something is `torch.cuda.name` or deeper in there."""
    while isinstance(func, ast.Attribute):
        func = func.value
        if isinstance(func, ast.Attribute) and func.attr in _BACKENDS:
            return isinstance(func.value, ast.Name)
    return False


def is_idle(solution: Solution, spot: Location) -> bool:
    """Tell whether a program gives `torch.cuda.device(i)` no GPU where there is none.

    With `None` or a negative number it does nothing.
    """
    call = spot.node
    if not (isinstance(call, ast.Call) and len(call.args) == 1):
        return False
    code = ast.unparse(call.args[0])
    parents = solution.programs.parents(spot.path)
    for node in syntax.statements(solution.programs.tree(spot.path)):
        branch = parents.get(node)
        if isinstance(node, ast.Assign) and isinstance(branch, ast.If):
            if speaks_of_devices(branch.test):
                if any(_is_none(value) for name, value in _given(node) if name == code):
                    return True
    return False


def _given(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """Yield what an assignment gives to which names and attributes."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(map(ast.unparse, target.elts), node.value.elts, strict=False)
        else:
            yield ast.unparse(target), node.value


def _is_none(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=None):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


class Handles:
    """Streams and events that have a name: without CUDA they are None, and nothing is told them."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution

    def edits(self, group: SiteGroup, how: Asked) -> list[Edit]:
        """Return the edits for a stream or event and for what is done with it; none if unsure."""
        if group.first.name not in _HANDLES:
            return []
        path, call = group.spot.path, group.spot.node
        parents = self.solution.programs.parents(path)
        statement = parents.get(call)
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            return []
        target = statement.targets[0]
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return []
        code = ast.unparse(target)
        change = edit(self.solution, group.spot, "replace", code=f"{{}} if {how.test} else None")
        edits = [change]
        told: set[ast.stmt] = set()
        for use in self._uses(path, code, statement):
            there = asked(self.solution, Location(path, use), group.first.name)
            if there is None or there.name.edits or there.name.imports:
                return []
            each = self._use(path, use, there, told)
            if each is None:
                return []
            edits += each
        return edits

    def _uses(self, path: str, code: str, statement: ast.stmt) -> Iterator[ast.expr]:
        """Yield where the name of a handle is read, in its function or class."""
        parents = self.solution.programs.parents(path)
        kinds: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
        if code.startswith("self."):
            kinds = (ast.ClassDef, ast.Module)
        home: ast.AST | None = statement
        while home is not None and not isinstance(home, kinds):
            home = parents.get(home)
        for node in ast.walk(home) if home is not None else ():
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                if ast.unparse(node) == code:
                    yield node

    def _use(self, path: str, use: ast.expr, how: Asked, told: set[ast.stmt]) -> list[Edit] | None:
        """Return the edits for one use of a handle, None where it cannot be left out."""
        parents, solution = self.solution.programs.parents(path), self.solution
        attribute = parents.get(use)
        call = parents.get(attribute) if isinstance(attribute, ast.Attribute) else attribute
        node = solution.statement_of(Location(path, use))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr == "stream" and _of_backend(call.func):
                return []  # `with torch.cuda.stream(None)` does nothing
            if call.func.attr == "elapsed_time":
                if attribute is not call.func:
                    return []  # the other end of it
                test = f'{{}} if {how.test} else float("nan")'
                return [edit(solution, Location(path, call), "replace", code=test)]
            if isinstance(node, ast.Expr) and node.value is call and call.func.attr in _TELLING:
                if node in told:
                    return []
                told.add(node)
                if self._guarded(path, node):
                    return []
                place = Location(path, node)
                code = with_comment(solution, place, solution.code(place))
                if "\n" in code:
                    return None
                return [
                    edit(solution, place, "replace_statement", code=f"if {how.test}:\n    {code}")
                ]
        return None

    def _guarded(self, path: str, statement: ast.stmt) -> bool:
        parent = self.solution.programs.parents(path).get(statement)
        return isinstance(parent, ast.If) and any(
            word in ast.unparse(parent.test) for word in ("cuda", ".type", "accelerator")
        )
