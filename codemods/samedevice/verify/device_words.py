"""The words in which a program speaks of devices: names, questions, moves and old tensor types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from samedevice.reading import syntax
from samedevice.torchfacts import legacy_dtype

DEVICE = "a device"  # no identifier, so no program has it
INDEX_NAME = re.compile(r"(?i).*(rank|gpu|cuda|index)")
_DEVICE_NAME = re.compile(r"(?i).*device")
DEVICE_TEXT = re.compile(r"(?:cpu|cuda|gpu|mps|xpu|hpu|npu|xla|meta|privateuseone)(?::\d*)?\Z")
_HELPERS = re.compile(
    r"(?i)_*(?:to_?(?:device|cuda|gpu|var)|(?:move|send|batch|put)_?(?:to|on)(?:_?(?:device|gpu|cuda))?"
    r"|cuda|gpu)\Z"
)

# What a fix may change beside device handling when it says so in `Fix.erasure`.
DECLARED = frozenset({"legacy-constructor", "amp", "variable", "cuda-only-api", "generator"})


class Words:
    """What the names of one program mean, as far as devices are concerned."""

    def __init__(
        self,
        names: frozenset[str] = frozenset(),
        imports: frozenset[str] = frozenset(),
        torch: frozenset[str] = frozenset({"torch"}),
        declared: frozenset[str] = frozenset(),
        types: Mapping[str, str] = {},
        movers: frozenset[str] = frozenset(),
    ) -> None:
        self.names = names
        self.movers = movers
        self.imports = imports
        self.torch = torch
        self.legacy = "legacy-constructor" in declared
        self.types = types if self.legacy else {}
        self.amp = "amp" in declared
        self.variable = "variable" in declared
        self.only = "cuda-only-api" in declared
        self.generator = "generator" in declared

    def is_helper(self, name: str) -> bool:
        """Tell whether a function moves what it is given: its name says so, or the fix does."""
        return name in self.movers or _HELPERS.match(name) is not None

    def is_torch(self, node: ast.AST) -> bool:
        """Tell whether an expression is the module torch."""
        return isinstance(node, ast.Name) and node.id in self.torch

    def is_device(self, node: ast.AST | None) -> bool:
        """Tell whether an expression (not erased yet) names a device."""
        match node:
            case ast.Constant(value=str(text)):
                return DEVICE_TEXT.match(text) is not None
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
                return text.startswith(("cuda:", "cuda"))
            case ast.Name(id=name):
                return name in self.names or self.is_device_name(name)
            case ast.Attribute(value=value, attr=attr):
                return self.is_device_name(attr) or (
                    attr in {"type", "index"} and self.is_device(value)
                )
            case (
                ast.Call(func=ast.Name(id="str" | "int"), args=[argument])
                | ast.Call(func=ast.Name(id="max"), args=[argument, ast.Constant(value=1)])
            ):
                return self.is_device(argument)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str()), attr="join"),
                args=[ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_])],
            ):
                return self.is_device(first)  # `":".join([backend, str(index)])`
            case ast.Call(func=func):
                name = last_name(func)
                return name in self.names | {"current_accelerator"} or (
                    self.is_device_name(name)
                    and not self.is_helper(name)
                    and not name.endswith("mesh")
                )
            case ast.IfExp(body=ast.Constant(value=int()), orelse=orelse):
                return self.is_device(orelse)  # `0 if torch.cuda.is_available() else "cpu"`
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_device(body) and self.is_device(orelse)
            case ast.BoolOp(values=values):
                return all(self.is_device(value) for value in values)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mod()):
                return self.is_device(left)
            case ast.Subscript(slice=ast.Constant(value=str(name))) if self.is_device_name(name):
                return True  # `config["device"]`
            case ast.Subscript(value=value):
                return self.is_device(value)
        return False

    @staticmethod
    def is_device_name(name: str) -> bool:
        """Tell whether a name says that it has a device."""
        return _DEVICE_NAME.match(name) is not None

    def is_predicate(self, node: ast.AST) -> bool:
        """Tell whether an expression asks which device there is."""
        match node:
            case ast.Call(func=func):
                return last_name(func) in {
                    "is_available",
                    "device_count",
                    "is_built",
                } or looks_for_xla(node)
            case ast.Attribute(attr="is_cuda"):
                return True
            case ast.Compare(left=left, comparators=[right]):
                sides = (left, right)
                return any(self.is_device(side) or self.is_predicate(side) for side in sides)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.is_predicate(operand)
            case ast.BoolOp(values=values):
                return all(self.is_predicate(value) for value in values)
        return False


def binding_of(tree: ast.Module) -> list[ast.AST]:
    """Return what gives the names of a program their values, as far as that is asked for here."""
    kinds = (ast.Assign, ast.arg, ast.arguments, ast.Import)
    return [node for node in syntax.walk(tree) if isinstance(node, kinds)]


def device_names(binding: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that are only ever given devices.

    A parameter is such a name where its default is a device, as in `def grid(n, dev="cuda")`, and
    nothing else is given to a name like it.
    """
    words = Words()
    given: set[str] = set()
    other: set[str] = set()
    by_default: set[str] = set()
    taken: set[str] = set()
    for node in binding:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    (given if words.is_device(node.value) else other).add(target.id)
        elif isinstance(node, ast.arg):
            taken.add(node.arg)
        elif isinstance(node, ast.arguments):
            for name, default in syntax.defaults(node).items():
                if isinstance(default, ast.Constant) and default.value is None:
                    continue
                (by_default if words.is_device(default) else other).add(name)
    return frozenset((given - taken | by_default) - other)


def type_names(binding: Iterable[ast.AST]) -> dict[str, str]:
    """Return the names that only ever stand for one of torch's tensor types, with its dtype."""
    found: dict[str, set[str]] = {}
    for node in binding:
        if isinstance(node, ast.Assign):
            dtypes = {dtype_of_type(node.value)}
            if isinstance(node.value, ast.Name):  # `Tensor = FloatTensor`
                dtypes = found.get(node.value.id, {""})
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, set()).update(dtypes)
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, set()).add("")
    return {
        name: dtype
        for name, dtypes in found.items()
        for dtype in dtypes
        if len(dtypes) == 1 and dtype
    }


def type_text(node: ast.AST) -> str:
    """Return the last part of a type's name, also where it is given as a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return last_name(node)


def dtype_of_type(node: ast.AST) -> str:
    """Return the dtype of `torch.cuda.FloatTensor`, or of a choice between it and the CPU's."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            dtype = dtype_of_type(body)
            return dtype if dtype == dtype_of_type(orelse) else ""
        case ast.Attribute(attr=attr):
            return legacy_dtype(attr)
    return ""


def torch_names(binding: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names under which a program imports torch."""
    aliases = {
        alias.asname or "torch"
        for node in binding
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "torch"
    }
    return frozenset({"torch", *aliases})


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name, "" for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def looks_for_xla(node: ast.AST) -> bool:
    """Tell whether an expression asks if torch_xla is installed."""
    match node:
        case ast.Call(func=func, args=[ast.Constant(value="torch_xla")]):
            return last_name(func) == "find_spec"
    return False
