"""Device erasure: the proof that a rewrite changed device handling and nothing else.

`erase` turns a tree into a normal form in which nothing speaks of devices: what names a device
becomes one name, moves become their receivers, device arguments and parameters go, and so do
statements that then do nothing. Two programs that are `equivalent` differ in device handling only.
(black's `assert_equivalent` is the same idea for formatting.)

The normal form is for comparison only: it is applied to both sides, so that taking an unrelated
word for a device makes the comparison coarser at that word, and wrong nowhere else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from samedevice.reading import syntax
from samedevice.torchfacts import legacy_dtype

_DEVICE = "a device"  # no identifier, so no program has it
_PREDICATE = "a question about devices"
_RUNTIME = "an accelerator's runtime"

_DEVICE_NAME = re.compile(r"(?i).*device")
_DEVICE_TEXT = re.compile(r"(?:cpu|cuda|gpu|mps|xpu|hpu|npu|xla|meta|privateuseone)(?::\d*)?\Z")
_MOVES = frozenset({"cuda", "cpu", "npu", "xpu", "mps", "hpu", "pin_memory"})
_MOVE_ARGUMENTS = frozenset({"map_location", "non_blocking", "async", "pin_memory"})
_HELPERS = re.compile(
    r"(?i)_*(?:to_?(?:device|cuda|gpu|var)|(?:move|send|batch|put)_?(?:to|on)(?:_?(?:device|gpu|cuda))?"
    r"|cuda|gpu)\Z"
)
_INDEX_NAME = re.compile(r"(?i).*(rank|gpu|cuda|index)")
_BACKENDS = frozenset({"cuda", "accelerator", "xpu", "mps", "npu", "hpu"})
_CONTAINERS = {
    "ModuleList": ast.List,
    "ParameterList": ast.List,
    "ModuleDict": ast.Dict,
    "ParameterDict": ast.Dict,
}
_PURE_CALLS = frozenset(
    {
        "isinstance",
        "hasattr",
        "getattr",
        "len",
        "is_tensor",
        "type",
        "range",
        "items",
        "keys",
        "values",
        "enumerate",
    }
)
_DTYPES = frozenset(
    {"float", "float16", "float32", "float64", "half", "double", "bfloat16", "bool"}
    | {"int", "int8", "int16", "int32", "int64", "uint8", "long", "short"}
    | {"cfloat", "cdouble", "complex64", "complex128"}
)
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}

# What a fix may change beside device handling when it says so in `Fix.erasure`.
DECLARED = frozenset({"legacy-constructor", "amp", "variable", "cuda-only-api", "generator"})


def equivalent(
    before: ast.Module,
    after: ast.Module,
    *,
    names: Collection[str] = (),
    imports: Collection[str] = (),
    declared: Collection[str] = (),
    types: Mapping[str, str] = {},
    movers: Collection[str] = (),
    parts: tuple[ast.Module, ast.Module] | None = None,
) -> str | None:
    """Return None when two programs differ in device handling only, else the first difference.

    `names` are those of resolvers, and `imports` the names whose import may come or go. `declared`
    are normal forms of `DECLARED`; raises `ValueError` for another. `types` are names that stand
    for old tensor types, with their dtypes, beside those that the programs themselves define, and
    `movers` functions that move what they are given, beside those whose names say so.
    `parts` are the two programs without statements that are the same in both: to compare these
    will do.
    """
    binding = _binding(before), _binding(after)
    known = frozenset(names).union(*map(_device_names, binding))
    old, new = (
        _erase(nodes, part, known, imports, declared, types, movers)
        for nodes, part in zip(binding, parts or (before, after), strict=True)
    )
    return _difference(old, new)


def erase(
    tree: ast.Module,
    *,
    names: Collection[str] = (),
    imports: Collection[str] = (),
    declared: Collection[str] = (),
    types: Mapping[str, str] = {},
) -> ast.Module:
    """Return a new tree with all that speaks of devices removed (see `equivalent`)."""
    nodes = _binding(tree)
    known = frozenset(names) | _device_names(nodes)
    return _erase(nodes, tree, known, imports, declared, types)


def _binding(tree: ast.Module) -> list[ast.AST]:
    """Return what gives the names of a program their values, as far as that is asked for here."""
    kinds = (ast.Assign, ast.arg, ast.Import)
    return [node for node in syntax.walk(tree) if isinstance(node, kinds)]


def _erase(
    binding: Sequence[ast.AST], part: ast.Module, names: frozenset[str], imports: Collection[str],
    declared: Collection[str], types: Mapping[str, str], movers: Collection[str] = (),
) -> ast.Module:  # fmt: skip
    """Return a part of a program, erased by what its names mean in the whole."""
    unknown = set(declared) - DECLARED
    if unknown:
        raise ValueError(f"no such normal form: {', '.join(sorted(unknown))}")
    eraser = _Eraser(
        names=names,
        imports=frozenset(imports),
        torch=_torch_names(binding),
        declared=frozenset(declared),
        types={**types, **_type_names(binding)},
        movers=frozenset(movers),
    )
    return ast.Module(eraser.body(part.body), [])


def _device_names(binding: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that are only ever given devices."""
    eraser = _Eraser()
    given: set[str] = set()
    other: set[str] = set()
    for node in binding:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    (given if eraser.is_device(node.value) else other).add(target.id)
        elif isinstance(node, ast.arg):
            other.add(node.arg)
    return frozenset(given - other)


def _type_names(binding: Iterable[ast.AST]) -> dict[str, str]:
    """Return the names that only ever stand for one of torch's tensor types, with its dtype."""
    found: dict[str, set[str]] = {}
    for node in binding:
        if isinstance(node, ast.Assign):
            dtypes = {_dtype_of_type(node.value)}
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


def _type_text(node: ast.AST) -> str:
    """Return the last part of a type's name, also where it is given as a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition(".")[2]
    return _last_name(node)


def _dtype_of_type(node: ast.AST) -> str:
    """Return the dtype of `torch.cuda.FloatTensor`, or of a choice between it and the CPU's."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            dtype = _dtype_of_type(body)
            return dtype if dtype == _dtype_of_type(orelse) else ""
        case ast.Attribute(attr=attr):
            return legacy_dtype(attr)
    return ""


def _last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name, "" for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _torch_names(binding: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names under which a program imports torch."""
    aliases = {
        alias.asname or "torch"
        for node in binding
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "torch"
    }
    return frozenset({"torch", *aliases})


class _Eraser:
    """Builds the normal form; the tree it is given stays as it is."""

    def __init__(
        self,
        names: frozenset[str] = frozenset(),
        imports: frozenset[str] = frozenset(),
        torch: frozenset[str] = frozenset({"torch"}),
        declared: frozenset[str] = frozenset(),
        types: Mapping[str, str] = {},
        movers: frozenset[str] = frozenset(),
    ) -> None:
        self._names = names
        self._movers = movers
        self._imports = imports
        self._torch = torch
        self._legacy = "legacy-constructor" in declared
        self._types = types if self._legacy else {}
        self._amp = "amp" in declared
        self._variable = "variable" in declared
        self._only = "cuda-only-api" in declared
        self._generator = "generator" in declared

    # What is a device

    def _is_helper(self, name: str) -> bool:
        """Tell whether a function moves what it is given: its name says so, or the fix does."""
        return name in self._movers or _HELPERS.match(name) is not None

    def _is_torch(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self._torch

    def is_device(self, node: ast.AST | None) -> bool:
        """Tell whether an expression (not erased yet) names a device."""
        match node:
            case ast.Constant(value=str(text)):
                return _DEVICE_TEXT.match(text) is not None
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
                return text.startswith(("cuda:", "cuda"))
            case ast.Name(id=name):
                return name in self._names or self._is_device_name(name)
            case ast.Attribute(value=value, attr=attr):
                return self._is_device_name(attr) or (
                    attr in {"type", "index"} and self.is_device(value)
                )
            case (
                ast.Call(func=ast.Name(id="str" | "int"), args=[argument])
                | ast.Call(func=ast.Name(id="max"), args=[argument, ast.Constant(value=1)])
            ):
                return self.is_device(argument)
            case ast.Call(func=func):
                name = _last_name(func)
                return name in self._names | {"current_accelerator"} or (
                    self._is_device_name(name)
                    and not self._is_helper(name)
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
            case ast.Subscript(value=value):
                return self.is_device(value)
        return False

    @staticmethod
    def _is_device_name(name: str) -> bool:
        return _DEVICE_NAME.match(name) is not None

    def _is_predicate(self, node: ast.AST) -> bool:
        """Tell whether an expression asks which device there is."""
        match node:
            case ast.Call(func=func):
                return _last_name(func) in {
                    "is_available",
                    "device_count",
                    "is_built",
                } or _looks_for_xla(node)
            case ast.Attribute(attr="is_cuda"):
                return True
            case ast.Compare(left=left, comparators=[right]):
                sides = (left, right)
                return any(self.is_device(side) or self._is_predicate(side) for side in sides)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_predicate(operand)
            case ast.BoolOp(values=values):
                return all(self._is_predicate(value) for value in values)
        return False

    @staticmethod
    def _may_go(test: ast.expr) -> bool:
        """Tell whether an erased test does nothing, so that it may go with what it guards."""
        return not any(
            isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
            or isinstance(node, ast.Call)
            and _last_name(node.func) not in _PURE_CALLS
            for node in ast.walk(test)
        )

    # Statements

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Erase the statements of a body."""
        out: list[ast.stmt] = []
        for statement in statements:
            out += self._statement(statement)
        out = [node for node in out if not isinstance(node, ast.Pass)]
        for index, node in enumerate(out):
            match node:  # `if cuda: return x` before `return x`
                case ast.If(test=test, body=[*_, ast.Return()] as same, orelse=[]):
                    if _same(same, out[index + 1 :]) and self._may_go(test):
                        return [*out[:index], *same]
        return out

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return self._assignment(node)
            case ast.Expr(value=value):
                return self._expression_statement(node, value)
            case ast.If():
                return self._if(node)
            case ast.For() | ast.AsyncFor():
                return self._for(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(node)
            case ast.Import() | ast.ImportFrom():
                return self._import(node)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                kept = [name for name in names if not self.is_device(ast.Name(name))]
                return [_like(node, names=kept)] if kept else []
            case ast.Assert(test=test) if self._is_predicate(test):
                return []
        return [cast(ast.stmt, self._rebuild(node))]

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.stmt]:
        pairs = syntax.attributes_set(node)
        if len(pairs) > 1:  # so many plain ones
            alone = [_like(node, targets=[target], value=value) for target, value in pairs]
            return [erased for each in alone for erased in self._assignment(each)]
        value = node.value
        if value is not None and not isinstance(node, ast.AugAssign):
            if self._only and isinstance(value, ast.IfExp) and self._is_predicate(value.test):
                return self._assignment(_like(node, value=value.body))
            if self.is_device(value) or self._asks(value):
                return []
            if self._legacy and (_dtype_of_type(value) or _last_name(value) in self._types):
                return []
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if all(map(self.is_device, targets)) and self._may_go(self.expression(value)):
                return []  # `device = 0`, `device = args.gpu`, `device = None`
        new = self._rebuild(node)
        if isinstance(new, ast.Assign) and _is_identity(new):
            return []
        return [cast(ast.stmt, new)]

    def _asks(self, value: ast.expr) -> bool:
        """Tell whether a value is a flag such as `args.cuda and torch.cuda.is_available()`."""
        match value:
            case ast.IfExp(test=test, body=ast.Constant(), orelse=ast.Constant()):
                return self._asks(test)
            case ast.BoolOp(values=values):
                return any(self._asks(each) for each in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._asks(operand)
            case ast.Call(func=func):
                return _last_name(func) == "is_available"
            case ast.Compare(left=left, ops=[ast.IsNot()]):
                return _looks_for_xla(left)
        return False

    def _expression_statement(self, node: ast.Expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.Constant):
            return [node] if isinstance(value.value, str) else []
        if isinstance(value, ast.Call):
            name = _last_name(value.func)
            if name in {"set_default_device", "set_default_tensor_type"}:
                return []
            buffer = self._buffer(node, value)
            if buffer is not None:
                return [buffer]
        new = self.expression(value)
        if isinstance(new, ast.BoolOp) and all(map(self._may_go, new.values[:-1])):
            new = new.values[-1]  # `cuda and net.cuda()`
        if isinstance(new, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        if isinstance(new, ast.Call) and _is_runtime(new.func):
            return []
        if isinstance(new, (ast.ListComp, ast.GeneratorExp)) and isinstance(new.elt, ast.Name):
            return []  # `[net.to(device) for net in nets]`
        return [_like(node, value=new)]

    def _buffer(self, node: ast.Expr, call: ast.Call) -> ast.stmt | None:
        """Read `self.register_buffer("name", value)` as `self.name = value`."""
        match call:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="register_buffer"),
                args=[ast.Constant(value=str(name)), *rest],
                keywords=keywords,
            ):
                values = [*rest, *(each.value for each in keywords if each.arg == "tensor")]
                if not values:
                    return None
                target = ast.Attribute(self.expression(owner), name, ast.Store())
                return _at(ast.Assign([_at(target, node)], self.expression(values[0])), node)
        return None

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test, body, orelse = (
            self.expression(node.test),
            self.body(node.body),
            self.body(node.orelse),
        )
        if _same(body, orelse) and self._may_go(test):
            return body
        if self._only and self._is_predicate(node.test) and not orelse:
            stops = len(body) == 1 and (
                isinstance(body[0], ast.Raise)
                or isinstance(body[0], ast.Expr)
                and _is_call_of(body[0].value, "exit")
            )
            return [] if stops else body  # what is left out without CUDA, or demands it
        return [_like(node, test=test, body=body, orelse=orelse)]

    def _for(self, node: ast.For | ast.AsyncFor) -> list[ast.stmt]:
        new = cast("ast.For | ast.AsyncFor", self._rebuild(node))
        if not new.orelse and (not new.body or _moves_items(new)) and self._is_pure(node.iter):
            return []
        return [new]

    def _is_pure(self, node: ast.expr) -> bool:
        return all(
            _last_name(each.func) in _PURE_CALLS | {"modules", "children", "parameters"}
            for each in ast.walk(node)
            if isinstance(each, ast.Call)
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> list[ast.stmt]:
        items = [
            cast(ast.withitem, self._rebuild(item))
            for item in node.items
            if not self._is_device_context(item.context_expr)
            and not (self._variable and _is_call_of(item.context_expr, "no_grad"))
        ]
        body = self.body(node.body)
        return [_like(node, items=items, body=body)] if items else body

    def _is_device_context(self, node: ast.expr) -> bool:
        if self._only and isinstance(node, ast.IfExp):
            node = node.body  # `torch.cuda.device(i) if ... else nullcontext()`
        return self.is_device(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        if self._is_helper(node.name) or node.name in self._names:
            return []
        returns = [
            each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value
        ]
        if returns and all(self.is_device(value) for value in returns):
            return []
        return [cast(ast.stmt, self._rebuild(node))]

    def _import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        kept = []
        for alias in node.names:
            bound = alias.asname or alias.name
            plain_torch = isinstance(node, ast.Import) and alias.name == "torch"
            gone = (
                bound in self._names | self._imports or self._is_device_name(bound) or plain_torch
            )
            if self._variable and bound == "Variable":
                gone = True
            if self._amp and bound in {"autocast", "GradScaler", "amp"}:
                gone = True
            if not gone:
                kept.append(alias)
        # one statement for each name: a name added to a statement is no change to the others
        return [_like(node, names=[alias]) for alias in kept]

    # Expressions

    def expression(self, node: ast.expr) -> ast.expr:
        """Erase an expression."""
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            return node
        if self.is_device(node):
            return _at(ast.Name(_DEVICE, ast.Load()), node)
        if self._is_predicate(node):
            return _at(ast.Name(_PREDICATE, ast.Load()), node)
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.IfExp(test=test, body=body) if self._only and self._is_predicate(test):
                return self.expression(body)
            case ast.BoolOp(op=ast.And(), values=[test, asked]) if (
                self._only and self._is_predicate(test)
            ):  # `device.type == "cuda" and torch.cuda.get_device_properties(0).major > 7`
                return self.expression(asked)
            case ast.IfExp():
                test, body, orelse = map(self.expression, (node.test, node.body, node.orelse))
                if _same([body], [orelse]) and self._may_go(test):
                    return body
                return _like(node, test=test, body=body, orelse=orelse)
            case ast.BoolOp(
                op=ast.Or(), values=[ast.BoolOp(op=ast.And(), values=[test, body]), orelse]
            ):  # `cuda and x.cuda() or x`
                test, body, orelse = map(self.expression, (test, body, orelse))
                if _same([body], [orelse]) and self._may_go(test):
                    return body
            case ast.Lambda():
                return self._lambda(node)
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    (key and self.expression(key), self.expression(value))
                    for key, value in zip(keys, values, strict=True)
                    if not self.is_device(value)
                ]
                return _like(node, keys=[key for key, _ in pairs], values=[v for _, v in pairs])
            case ast.Subscript() if self._variable and _undressed(node.value) is not node.value:
                value = _undressed(node.value)
                item = _at(ast.Attribute(self.expression(value), "item", ast.Load()), node)
                return _at(ast.Call(item, [], []), node)
        return cast(ast.expr, self._rebuild(node))

    def _lambda(self, node: ast.Lambda) -> ast.expr:
        body = self.expression(node.body)
        match node.args, body:  # `lambda data: torch.tensor(data, device=device)`
            case (
                ast.arguments(args=[ast.arg(arg=name)], vararg=None, kwarg=None) as spec,
                ast.Call(func=ast.Attribute() as function, args=[ast.Name(id=given)], keywords=[]),
            ) if name == given and not (spec.posonlyargs or spec.kwonlyargs):
                if not spec.defaults and not any(
                    isinstance(part, ast.Name) and part.id == name for part in ast.walk(function)
                ):
                    return function
        return _like(node, args=self._arguments(node.args), body=body)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        value = node.value
        if (
            isinstance(value, ast.Attribute)
            and self._is_torch(value.value)
            and value.attr in _BACKENDS
        ):
            if node.attr.endswith("Tensor"):  # torch.cuda.FloatTensor
                return _like(node, value=self.expression(value.value))
            if node.attr != "amp":
                runtime = _at(ast.Name(_RUNTIME, ast.Load()), node)
                return _like(node, value=runtime)
        if self._variable and node.attr == "data":
            return self.expression(value)
        return _like(node, value=self.expression(value))

    def _call(self, node: ast.Call) -> ast.expr:
        func, name = node.func, _last_name(node.func)
        receiver = func.value if isinstance(func, ast.Attribute) else None
        if receiver is not None and name in _MOVES and not self._is_torch(receiver):
            return self.expression(receiver)
        if receiver is not None and name == "to":
            return self._move(node, receiver)
        if self._is_helper(name) and node.args:
            return self.expression(node.args[0])
        if self._variable and name == "Variable" and node.args:
            return self.expression(node.args[0])
        if self._variable and name == "next" and receiver is not None and not node.args:
            advance = _at(ast.Name("next", ast.Load()), node)
            return _at(ast.Call(advance, [self.expression(receiver)], []), node)
        if self._amp and name in {"autocast", "GradScaler"}:
            return self._amp_call(node, name)
        if self._legacy:
            legacy = self._legacy_call(node, name, receiver)
            if legacy is not None:
                return legacy
        if name in _CONTAINERS and len(node.args) + len(node.keywords) <= 1:
            if node.args:
                return self.expression(node.args[0])
            if not node.keywords:
                kind = _CONTAINERS[name]
                empty = ast.List([], ast.Load()) if kind is ast.List else ast.Dict([], [])
                return _at(empty, node)
        args = node.args
        if name == "load" and receiver is not None and self._is_torch(receiver):
            args = args[:1]  # the second one is map_location
        new_args = [self.expression(each) for each in args]
        return _like(node, func=self.expression(func), args=new_args, keywords=self._keywords(node))

    def _is_plain_generator(self, keyword: ast.keyword) -> bool:
        """Tell whether an argument is a generator that says nothing but where it is."""
        match keyword:
            case ast.keyword(
                arg="generator",
                value=ast.Call(func=ast.Attribute(attr="Generator"), args=[], keywords=[device]),
            ):
                return device.arg == "device"
        return False

    def _keywords(self, node: ast.Call) -> list[ast.keyword]:
        return [
            _like(each, value=self._given(each), arg=self._renamed(each.arg))
            for each in node.keywords
            if each.arg is None
            or not (each.arg in _MOVE_ARGUMENTS or self._is_device_name(each.arg))
            and not (self._generator and self._is_plain_generator(each))
        ]

    def _given(self, keyword: ast.keyword) -> ast.expr:
        """Erase the value of an argument: `**{k: v for k, v in x.items()}` hands on `**x`."""
        value = self.expression(keyword.value)
        copied = _copied(value) if isinstance(value, ast.DictComp) else None
        return copied if copied is not None and keyword.arg is None else value

    def _renamed(self, argument: str | None) -> str | None:
        gone = self._variable and argument == "retain_variables"
        return "retain_graph" if gone else argument

    def _move(self, node: ast.Call, receiver: ast.expr) -> ast.expr:
        """Erase `receiver.to(...)`, of which a dtype or a memory format stays."""
        args = [each for each in node.args if self._is_dtype(each)]
        odd = [each for each in node.args if not self._is_dtype(each) and self._is_odd(each)]
        keywords = [each for each in self._keywords(node) if each.arg not in {"other", "copy"}]
        if args or odd or keywords:
            if self._legacy and len(args) + len(keywords) == 1 and not odd:
                dtype = args[0] if args else keywords[0].value
                return self._cast(node, receiver, _last_name(dtype))
            func = _at(ast.Attribute(self.expression(receiver), "to", ast.Load()), node)
            new_args = [self.expression(each) for each in (*args, *odd)]
            return _at(ast.Call(func, new_args, keywords), node)
        return self.expression(receiver)

    @staticmethod
    def _is_dtype(node: ast.expr) -> bool:
        name = _last_name(node)
        return "dtype" in name or (isinstance(node, ast.Attribute) and name in _DTYPES)

    @staticmethod
    def _is_odd(node: ast.expr) -> bool:
        """Tell whether an argument of `.to` is neither a device nor a tensor."""
        if not isinstance(node, ast.Constant) or isinstance(node.value, (int, bool)):
            return False
        return not (isinstance(node.value, str) and _DEVICE_TEXT.match(node.value))

    # Declared normal forms

    def _amp_call(self, node: ast.Call, name: str) -> ast.expr:
        """Read every spelling of `autocast` and `GradScaler` alike, whatever turns them on."""
        keywords = [
            each
            for each in self._keywords(node)
            if each.arg not in {"device_type", "enabled", "cache_enabled"}
        ]
        func = _at(ast.Name(name, ast.Load()), node)
        return _at(ast.Call(func, [], keywords), node)

    def _legacy_call(self, node: ast.Call, name: str, receiver: ast.expr | None) -> ast.expr | None:
        """Read `torch.FloatTensor(x)` as `torch.tensor(x, dtype=torch.float32)`, casts alike."""
        if receiver is None:
            return self._creation(node, self._types[name]) if name in self._types else None
        if name == "type" and len(node.args) == 1:
            kind = _type_text(node.args[0])
            dtype = legacy_dtype(kind) or self._types.get(kind, kind)
            if dtype != kind or self._is_dtype(node.args[0]):
                return self._cast(node, receiver, dtype)
        if name in self._types and not self._is_torch(receiver):
            return self._creation(node, self._types[name])  # of a module that defines it
        if name in _ALIASES and not node.args and not self._is_torch(receiver):
            return self._cast(node, receiver, name)
        torch_owner = self._is_torch(receiver) or (
            isinstance(receiver, ast.Attribute) and self._is_torch(receiver.value)
        )
        if not torch_owner:
            return None
        if legacy_dtype(name):
            return self._creation(node, legacy_dtype(name))
        if name in {"tensor", "as_tensor", "empty", "from_numpy"}:
            dtype = next(
                (_last_name(each.value) for each in node.keywords if each.arg == "dtype"), "float32"
            )
            if dtype in {"", "get_default_dtype"}:
                dtype = "float32"
            return self._creation(node, dtype)
        return None

    def _creation(self, node: ast.Call, dtype: str) -> ast.expr:
        args = [each for each in node.args if not self.is_device(each)]
        if len(args) == 1 and isinstance(args[0], ast.Tuple):
            args = list(args[0].elts)
        kind = _at(ast.Constant(_ALIASES.get(dtype, dtype)), node)
        func = _at(ast.Name("a new tensor", ast.Load()), node)
        keywords = [each for each in self._keywords(node) if each.arg != "dtype"]
        new = [self.expression(each) for each in args]
        return _at(ast.Call(func, [*new, kind], keywords), node)

    def _cast(self, node: ast.Call, receiver: ast.expr, dtype: str) -> ast.expr:
        kind = _at(ast.Constant(_ALIASES.get(dtype, dtype)), node)
        func = _at(ast.Name("a cast", ast.Load()), node)
        return _at(ast.Call(func, [self.expression(receiver), kind], []), node)

    # Everything else

    def _arguments(self, node: ast.arguments) -> ast.arguments:
        """Drop the parameters that take devices, and what indexes of devices are by default."""
        positional = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
        defaults += node.defaults
        kept = [
            (arg, default)
            for arg, default in zip(positional, defaults, strict=True)
            if not self._is_device_name(arg.arg) and arg.arg not in self._names
        ]
        only = [
            (arg, default)
            for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
            if not self._is_device_name(arg.arg) and arg.arg not in self._names
        ]
        return ast.arguments(
            posonlyargs=[],
            args=[cast(ast.arg, self._rebuild(arg)) for arg, _ in kept],
            vararg=node.vararg,
            kwonlyargs=[cast(ast.arg, self._rebuild(arg)) for arg, _ in only],
            kw_defaults=[default and self._default(arg, default) for arg, default in only],
            kwarg=node.kwarg,
            defaults=[self._default(arg, default) for arg, default in kept if default is not None],
        )

    def _default(self, arg: ast.arg, default: ast.expr) -> ast.expr:
        """Return the default of a parameter; of one for an index, a device whichever it is."""
        if _INDEX_NAME.match(arg.arg) and isinstance(default, ast.Constant):
            if default.value is None or type(default.value) is int:
                return _at(ast.Name(_DEVICE, ast.Load()), default)
        return self.expression(default)

    def _rebuild(self, node: ast.AST) -> ast.AST:
        """Return a copy of a node with everything under it erased."""
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    fields[name] = self.body(value)
                else:
                    fields[name] = [self._child(each) for each in value]
            else:
                fields[name] = self._child(value)
        new = type(node)(**fields)
        if isinstance(new, ast.comprehension):
            new.iter = _handed_on(new.iter)
        return ast.copy_location(new, node) if hasattr(node, "lineno") else new

    def _child(self, value: object) -> object:
        if isinstance(value, ast.expr):
            return self.expression(value)
        if isinstance(value, ast.arguments):
            return self._arguments(value)
        return self._rebuild(value) if isinstance(value, ast.AST) else value


def _looks_for_xla(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=func, args=[ast.Constant(value="torch_xla")]):
            return _last_name(func) == "find_spec"
    return False


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) == name


def _undressed(node: ast.expr) -> ast.expr:
    """Return `x` of `x.data`, `x.data.cpu().numpy()` and their like."""
    match node:
        case (
            ast.Attribute(value=inner, attr="data")
            | ast.Call(
                func=ast.Attribute(value=inner, attr="cpu" | "numpy" | "detach"),
                args=[],
                keywords=[],
            )
        ):
            return _undressed(inner)
    return node


def _is_runtime(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == _RUNTIME
    )


def _is_identity(node: ast.Assign) -> bool:
    """Tell whether an erased assignment gives a name what it has: `x = x`, or item by item."""
    if len(node.targets) != 1:
        return False
    target, value = node.targets[0], node.value
    if isinstance(value, ast.Call) and _last_name(value.func) in {"tuple", "list", "dict"}:
        if len(value.args) != 1 or value.keywords:
            return False
        value = value.args[0]
        if isinstance(value, ast.Call) and _last_name(value.func) == "map":
            match value.args:
                case [ast.Lambda(args=ast.arguments(args=[arg]), body=ast.Name(id=name)), over]:
                    return arg.arg == name and _same([target], [over])
            return False
    if _same([target], [value]):
        return True
    match value:
        case (
            ast.ListComp(elt=element, generators=[loop])
            | ast.GeneratorExp(elt=element, generators=[loop])
        ):
            return not loop.ifs and _same([element, loop.iter], [loop.target, target])
        case ast.DictComp():
            owner = _copied(value)
            return owner is not None and _same([owner], [target])
    return False


def _copied(node: ast.DictComp) -> ast.expr | None:
    """Return `x` of an erased `{k: v for k, v in x.items()}`."""
    if len(node.generators) != 1:
        return None
    [loop] = node.generators
    if loop.ifs or not _is_call_of(loop.iter, "items"):
        return None
    same = _same([ast.Tuple([node.key, node.value], ast.Load())], [loop.target])
    return cast(ast.Attribute, cast(ast.Call, loop.iter).func).value if same else None


def _handed_on(drawn: ast.expr) -> ast.expr:
    """Return `x` of an erased `(t for t in x)` that is iterated over."""
    match drawn:
        case ast.GeneratorExp(elt=item, generators=[ast.comprehension(ifs=[], is_async=0) as loop]):
            return loop.iter if _same([item], [loop.target]) else drawn
    return drawn


def _moves_items(node: ast.For | ast.AsyncFor) -> bool:
    """Tell whether an erased loop only gives a dictionary or a list the items that it has."""
    match node:
        case (
            ast.For(
                target=ast.Tuple(elts=[key, value]),
                iter=ast.Call(func=ast.Attribute(value=owner, attr="items")),
                body=[ast.Assign(targets=[ast.Subscript(value=into, slice=at)], value=item)],
            )
            | ast.For(
                target=ast.Tuple(elts=[key, value]),
                iter=ast.Call(func=ast.Name(id="enumerate"), args=[owner]),
                body=[ast.Assign(targets=[ast.Subscript(value=into, slice=at)], value=item)],
            )
        ):
            return _same([owner, key, value], [into, at, item])
    return False


_Node = TypeVar("_Node", bound=ast.AST)


def _like(node: _Node, **changes: object) -> _Node:
    """Return a copy of `node` with some of its fields changed."""
    fields = {**dict(ast.iter_fields(node)), **changes}
    return _at(type(node)(**fields), node)


def _at(new: _Node, node: ast.AST) -> _Node:
    """Give a new node the place of an old one, for messages."""
    return ast.copy_location(new, node)


# Fields that say nothing about what a program does.
_IGNORED = frozenset({"ctx", "type_comment", "kind", "type_ignores"})


def _same(left: Sequence[ast.AST], right: Sequence[ast.AST]) -> bool:
    return _first_difference(list(left), list(right)) is None


def _is_device_or_index(one: ast.AST, other: ast.AST) -> bool:
    """Tell whether a device stands where the other program has one, too, or its index."""
    match one, other:
        case (ast.Name(id=name), ast.Constant(value=int(index))):
            return name == _DEVICE and not isinstance(index, bool)
        case (ast.Name(id=name), ast.Name() | ast.Attribute()):
            return name == _DEVICE and _INDEX_NAME.match(_last_name(other)) is not None
    return False


def _without_devices(args: list[ast.expr]) -> list[ast.expr]:
    return [arg for arg in args if not (isinstance(arg, ast.Name) and arg.id == _DEVICE)]


def _first_difference(left: object, right: object) -> tuple[object, object] | None:
    """Return the innermost pair of nodes at which two trees first differ."""
    if isinstance(left, list) and isinstance(right, list):
        return _first_in_lists(left, right)
    if not isinstance(left, ast.AST) or not isinstance(right, ast.AST):
        same = type(left) is type(right) and left == right
        return None if same else (left, right)
    if _is_device_or_index(left, right) or _is_device_or_index(right, left):
        return None
    if type(left) is not type(right):
        return left, right
    for name in left._fields:
        if name in _IGNORED:
            continue
        if name == "args" and isinstance(left, ast.Call) and isinstance(right, ast.Call):
            found = _first_difference(left.args, right.args) and _first_difference(
                _without_devices(left.args), _without_devices(right.args)
            )
            if found is not None:
                return found
            continue
        found = _first_difference(getattr(left, name, None), getattr(right, name, None))
        if found is not None:
            return found if any(isinstance(each, ast.AST) for each in found) else (left, right)
    return None


def _first_in_lists(left: list[object], right: list[object]) -> tuple[object, object] | None:
    more = len(right) - len(left)
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        found = _first_difference(one, other)
        if found is None:
            continue
        if more > 0 and _first_difference(left[at:], right[at + more :]) is None:
            return None, other  # the rest is the same: this one was put in
        if more < 0 and _first_difference(left[at - more :], right[at:]) is None:
            return one, None
        return found
    if more == 0:
        return None
    return (None, right[len(left)]) if more > 0 else (left[len(right)], None)


def _difference(before: ast.Module, after: ast.Module) -> str | None:
    """Describe the first difference of two erased trees, with its line."""
    found = _first_difference(before.body, after.body)
    if found is None:
        return None
    old, new = found
    line = getattr(new, "lineno", None) or getattr(old, "lineno", None)
    place = f"line {line}: " if line else ""
    if old is None:
        return f"{place}`{_code(new)}` is new"
    if new is None:
        return f"{place}`{_code(old)}` is gone"
    return f"{place}`{_code(old)}` became `{_code(new)}`"


def _code(node: object) -> str:
    """Return the first line of a node's code."""
    if not isinstance(node, ast.AST):
        return str(node)
    text = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0]
    return text if len(text) <= 80 else f"{text[:77]}..."
