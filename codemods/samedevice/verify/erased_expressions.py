"""Expressions with all that speaks of devices taken out (see `erase`)."""

from __future__ import annotations

import ast
import re
from typing import cast

from samedevice.torchfacts import legacy_dtype
from samedevice.verify.device_words import (
    DEVICE,
    DEVICE_TEXT,
    INDEX_NAME,
    Words,
    last_name,
    type_text,
)
from samedevice.verify.trees import at, is_call_of, like, same

_PREDICATE = "a question about devices"
RUNTIME = "an accelerator's runtime"
_MOVES = frozenset({"cuda", "cpu", "npu", "xpu", "mps", "hpu", "pin_memory"})
_MOVE_ARGUMENTS = frozenset({"map_location", "non_blocking", "async", "pin_memory"})
_BACKENDS = frozenset({"cuda", "accelerator", "xpu", "mps", "npu", "hpu"})
_CONTAINERS = {
    "ModuleList": ast.List,
    "ParameterList": ast.List,
    "ModuleDict": ast.Dict,
    "ParameterDict": ast.Dict,
}
PURE_CALLS = frozenset(
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


class Expressions:
    """Builds the normal form of expressions; the tree it is given stays as it is."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def expression(self, node: ast.expr) -> ast.expr:
        """Erase an expression."""
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            return node
        if self.words.is_device(node):
            return at(ast.Name(DEVICE, ast.Load()), node)
        if self.words.is_predicate(node):
            return at(ast.Name(_PREDICATE, ast.Load()), node)
        match node:
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.IfExp(test=test, body=body) if self.words.only and self.words.is_predicate(
                test
            ):
                return self.expression(body)
            case ast.BoolOp() if self.words.only and (part := self._beside(node)) is not None:
                return self.expression(part)
            case ast.IfExp():
                test, body, orelse = map(self.expression, (node.test, node.body, node.orelse))
                if same([body], [orelse]) and may_go(test):
                    return body
                return like(node, test=test, body=body, orelse=orelse)
            case ast.BoolOp(
                op=ast.Or(), values=[ast.BoolOp(op=ast.And(), values=[test, body]), orelse]
            ):  # `cuda and x.cuda() or x`
                test, body, orelse = map(self.expression, (test, body, orelse))
                if same([body], [orelse]) and may_go(test):
                    return body
            case ast.Lambda():
                return self._lambda(node)
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    (key and self.expression(key), self.expression(value))
                    for key, value in zip(keys, values, strict=True)
                    if not self.words.is_device(value)
                ]
                return like(node, keys=[key for key, _ in pairs], values=[v for _, v in pairs])
            case ast.Subscript() if (
                self.words.variable and _undressed(node.value) is not node.value
            ):
                value = _undressed(node.value)
                item = at(ast.Attribute(self.expression(value), "item", ast.Load()), node)
                return at(ast.Call(item, [], []), node)
        return cast(ast.expr, self._rebuild(node))

    def _beside(self, node: ast.BoolOp) -> ast.expr | None:
        """Return what is tested beside a question about devices that has one answer with CUDA."""
        first, *_, last = node.values
        if isinstance(node.op, ast.And) and len(node.values) == 2:
            if self.words.is_predicate(first):
                # `device.type == "cuda" and torch.cuda.get_device_properties(0).major > 7`
                return last
        if isinstance(node.op, ast.Or):  # `no_cuda or not torch.cuda.is_available()`
            if not (isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.Not)):
                return None
            last = last.operand
        if not (isinstance(last, ast.Call) and self.words.is_predicate(last)):
            return None
        held = node.values[:-1]  # `ngpu > 0 and torch.cuda.is_available()`
        return like(node, values=held) if len(held) > 1 else first

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
        return like(node, args=self._arguments(node.args), body=body)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        value = node.value
        if (
            isinstance(value, ast.Attribute)
            and self.words.is_torch(value.value)
            and value.attr in _BACKENDS
        ):
            if node.attr.endswith("Tensor"):  # torch.cuda.FloatTensor
                return like(node, value=self.expression(value.value))
            if node.attr != "amp":
                runtime = at(ast.Name(RUNTIME, ast.Load()), node)
                return like(node, value=runtime)
        if self.words.variable and node.attr == "data":
            return self.expression(value)
        return like(node, value=self.expression(value))

    def _call(self, node: ast.Call) -> ast.expr:
        func, name = node.func, last_name(node.func)
        receiver = func.value if isinstance(func, ast.Attribute) else None
        if receiver is not None and name in _MOVES and not self.words.is_torch(receiver):
            return self.expression(receiver)
        if receiver is not None and name == "to":
            return self._move(node, receiver)
        if self.words.is_helper(name) and node.args:
            return self.expression(node.args[0])
        if self.words.variable and name == "Variable" and node.args:
            return self.expression(node.args[0])
        if self.words.variable and name == "next" and receiver is not None and not node.args:
            advance = at(ast.Name("next", ast.Load()), node)
            return at(ast.Call(advance, [self.expression(receiver)], []), node)
        if self.words.amp and name in {"autocast", "GradScaler"}:
            return self._amp_call(node, name)
        if self.words.legacy:
            legacy = self._legacy_call(node, name, receiver)
            if legacy is not None:
                return legacy
        if name in _CONTAINERS and len(node.args) + len(node.keywords) <= 1:
            if node.args:
                return self.expression(node.args[0])
            if not node.keywords:
                kind = _CONTAINERS[name]
                empty = ast.List([], ast.Load()) if kind is ast.List else ast.Dict([], [])
                return at(empty, node)
        args = node.args
        if name == "load" and receiver is not None and self.words.is_torch(receiver):
            args = args[:1]  # the second one is map_location
        new_args = [self.expression(each) for each in args]
        return like(node, func=self.expression(func), args=new_args, keywords=self._keywords(node))

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
            like(each, value=self._given(each), arg=self._renamed(each.arg))
            for each in node.keywords
            if each.arg is None
            or not (
                each.arg in _MOVE_ARGUMENTS | self.words.names
                or self.words.is_device_name(each.arg)
            )
            and not (self.words.generator and self._is_plain_generator(each))
        ]

    def _given(self, keyword: ast.keyword) -> ast.expr:
        """Erase the value of an argument: `**{k: v for k, v in x.items()}` hands on `**x`."""
        value = self.expression(keyword.value)
        whole = copied(value) if isinstance(value, ast.DictComp) else None
        return whole if whole is not None and keyword.arg is None else value

    def _renamed(self, argument: str | None) -> str | None:
        gone = self.words.variable and argument == "retain_variables"
        return "retain_graph" if gone else argument

    def _move(self, node: ast.Call, receiver: ast.expr) -> ast.expr:
        """Erase `receiver.to(...)`, of which a dtype or a memory format stays."""
        args = [each for each in node.args if self._is_dtype(each)]
        odd = [each for each in node.args if not self._is_dtype(each) and self._is_odd(each)]
        keywords = [each for each in self._keywords(node) if each.arg not in {"other", "copy"}]
        if args or odd or keywords:
            if self.words.legacy and len(args) + len(keywords) == 1 and not odd:
                dtype = args[0] if args else keywords[0].value
                return self._cast(node, receiver, last_name(dtype))
            func = at(ast.Attribute(self.expression(receiver), "to", ast.Load()), node)
            new_args = [self.expression(each) for each in (*args, *odd)]
            return at(ast.Call(func, new_args, keywords), node)
        return self.expression(receiver)

    @staticmethod
    def _is_dtype(node: ast.expr) -> bool:
        name = last_name(node)
        return "dtype" in name or (isinstance(node, ast.Attribute) and name in _DTYPES)

    @staticmethod
    def _is_odd(node: ast.expr) -> bool:
        """Tell whether an argument of `.to` is neither a device nor a tensor."""
        if not isinstance(node, ast.Constant) or isinstance(node.value, (int, bool)):
            return False
        return not (isinstance(node.value, str) and DEVICE_TEXT.match(node.value))

    # Declared normal forms

    def _amp_call(self, node: ast.Call, name: str) -> ast.expr:
        """Read every spelling of `autocast` and `GradScaler` alike, whatever turns them on."""
        keywords = [
            each
            for each in self._keywords(node)
            if each.arg not in {"device_type", "enabled", "cache_enabled"}
        ]
        func = at(ast.Name(name, ast.Load()), node)
        return at(ast.Call(func, [], keywords), node)

    def _legacy_call(self, node: ast.Call, name: str, receiver: ast.expr | None) -> ast.expr | None:
        """Read `torch.FloatTensor(x)` as `torch.tensor(x, dtype=torch.float32)`, casts alike."""
        if receiver is None:
            return (
                self._creation(node, self.words.types[name]) if name in self.words.types else None
            )
        if name == "type" and len(node.args) == 1:
            kind = type_text(node.args[0])
            dtype = legacy_dtype(kind) or self.words.types.get(kind, kind)
            if dtype != kind or self._is_dtype(node.args[0]):
                return self._cast(node, receiver, dtype)
        if name == "sparse_coo_tensor" or legacy_dtype(name) and last_name(receiver) == "sparse":
            return self._sparse(node)
        if name in self.words.types and not self.words.is_torch(receiver):
            return self._creation(node, self.words.types[name])  # of a module that defines it
        if name in _ALIASES and not node.args and not self.words.is_torch(receiver):
            return self._cast(node, receiver, name)
        torch_owner = self.words.is_torch(receiver) or (
            isinstance(receiver, ast.Attribute) and self.words.is_torch(receiver.value)
        )
        if not torch_owner:
            return None
        if legacy_dtype(name):
            return self._creation(node, legacy_dtype(name))
        if name in {"tensor", "as_tensor", "empty", "from_numpy"}:
            dtype = next(
                (last_name(each.value) for each in node.keywords if each.arg == "dtype"), "float32"
            )
            if dtype in {"", "get_default_dtype"}:
                dtype = "float32"
            return self._creation(node, dtype)
        return None

    def _creation(self, node: ast.Call, dtype: str) -> ast.expr:
        args = [each for each in node.args if not self.words.is_device(each)]
        if len(args) == 1 and isinstance(args[0], ast.Tuple):
            args = list(args[0].elts)
        kind = at(ast.Constant(_ALIASES.get(dtype, dtype)), node)
        func = at(ast.Name("a new tensor", ast.Load()), node)
        keywords = [each for each in self._keywords(node) if each.arg != "dtype"]
        new = [self.expression(each) for each in args]
        return at(ast.Call(func, [*new, kind], keywords), node)

    def _sparse(self, node: ast.Call) -> ast.expr | None:
        """Read `torch.cuda.sparse.FloatTensor(indices, values)`: of the values' own dtype."""
        if len(node.args) < 2 or node.keywords:
            return None
        func = at(ast.Name("a new sparse tensor", ast.Load()), node)
        return at(ast.Call(func, [self.expression(each) for each in node.args], []), node)

    def _cast(self, node: ast.Call, receiver: ast.expr, dtype: str) -> ast.expr:
        kind = at(ast.Constant(_ALIASES.get(dtype, dtype)), node)
        func = at(ast.Name("a cast", ast.Load()), node)
        return at(ast.Call(func, [self.expression(receiver), kind], []), node)

    # Everything else

    def _arguments(self, node: ast.arguments) -> ast.arguments:
        """Drop the parameters that take devices, and what indexes of devices are by default."""
        positional = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
        defaults += node.defaults
        kept = [
            (arg, default)
            for arg, default in zip(positional, defaults, strict=True)
            if not self.words.is_device_name(arg.arg) and arg.arg not in self.words.names
        ]
        only = [
            (arg, default)
            for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)
            if not self.words.is_device_name(arg.arg) and arg.arg not in self.words.names
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
        """Return the default of a parameter; of one for an index, a device whichever it is.

        A rank above zero is that of a matrix, more likely than a process's.
        """
        if INDEX_NAME.match(arg.arg) and isinstance(default, ast.Constant):
            of_gpu = re.search(r"(?i)gpu|cuda", arg.arg) is not None
            value = default.value
            if value is None or type(value) is int and (of_gpu or value in (-1, 0)):
                return at(ast.Name(DEVICE, ast.Load()), default)
        return self.expression(default)

    def _rebuild(self, node: ast.AST) -> ast.AST:
        """Return a copy of a node with everything under it erased."""
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            fields[name] = self._children(value) if isinstance(value, list) else self._child(value)
        new = type(node)(**fields)
        if isinstance(new, ast.comprehension):
            new.iter = _handed_on(new.iter)
        return ast.copy_location(new, node) if hasattr(node, "lineno") else new

    def _children(self, values: list[object]) -> list[object]:
        return [self._child(value) for value in values]

    def _child(self, value: object) -> object:
        if isinstance(value, ast.expr):
            return self.expression(value)
        if isinstance(value, ast.arguments):
            return self._arguments(value)
        return self._rebuild(value) if isinstance(value, ast.AST) else value


def may_go(test: ast.expr) -> bool:
    """Tell whether an erased test does nothing, so that it may go with what it guards."""
    return not any(
        isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or isinstance(node, ast.Call)
        and last_name(node.func) not in PURE_CALLS
        for node in ast.walk(test)
    )


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


def copied(node: ast.DictComp) -> ast.expr | None:
    """Return `x` of an erased `{k: v for k, v in x.items()}`."""
    if len(node.generators) != 1:
        return None
    [loop] = node.generators
    if loop.ifs or not is_call_of(loop.iter, "items"):
        return None
    unchanged = same([ast.Tuple([node.key, node.value], ast.Load())], [loop.target])
    return cast(ast.Attribute, cast(ast.Call, loop.iter).func).value if unchanged else None


def _handed_on(drawn: ast.expr) -> ast.expr:
    """Return `x` of an erased `(t for t in x)` that is iterated over."""
    match drawn:
        case ast.GeneratorExp(elt=item, generators=[ast.comprehension(ifs=[], is_async=0) as loop]):
            return loop.iter if same([item], [loop.target]) else drawn
    return drawn
