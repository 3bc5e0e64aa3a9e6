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
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from samedevice.reading import syntax
from samedevice.verify.device_words import (
    DECLARED,
    Words,
    binding_of,
    device_names,
    dtype_of_type,
    last_name,
    looks_for_xla,
    torch_names,
    type_names,
)
from samedevice.verify.erased_expressions import PURE_CALLS, RUNTIME, Expressions, copied, may_go
from samedevice.verify.trees import at, difference, is_call_of, like, same

__all__ = ["DECLARED", "equivalent", "erase"]


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
    binding = binding_of(before), binding_of(after)
    known = frozenset(names).union(*map(device_names, binding))
    old, new = (
        _erase(nodes, part, known, imports, declared, types, movers)
        for nodes, part in zip(binding, parts or (before, after), strict=True)
    )
    return difference(old, new)


def erase(
    tree: ast.Module,
    *,
    names: Collection[str] = (),
    imports: Collection[str] = (),
    declared: Collection[str] = (),
    types: Mapping[str, str] = {},
) -> ast.Module:
    """Return a new tree with all that speaks of devices removed (see `equivalent`)."""
    nodes = binding_of(tree)
    known = frozenset(names) | device_names(nodes)
    return _erase(nodes, tree, known, imports, declared, types)


def _erase(
    binding: Sequence[ast.AST], part: ast.Module, names: frozenset[str], imports: Collection[str],
    declared: Collection[str], types: Mapping[str, str], movers: Collection[str] = (),
) -> ast.Module:  # fmt: skip
    """Return a part of a program, erased by what its names mean in the whole."""
    unknown = set(declared) - DECLARED
    if unknown:
        raise ValueError(f"no such normal form: {', '.join(sorted(unknown))}")
    words = Words(
        names=names,
        imports=frozenset(imports),
        torch=torch_names(binding),
        declared=frozenset(declared),
        types={**types, **type_names(binding)},
        movers=frozenset(movers),
    )
    return ast.Module(_Statements(words).body(part.body), [])


class _Statements(Expressions):
    """Builds the normal form of statements, too."""

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Erase the statements of a body."""
        out: list[ast.stmt] = []
        for statement in statements:
            out += self._statement(statement)
        out = [node for node in out if not isinstance(node, ast.Pass)]
        for index, node in enumerate(out):
            match node:  # `if cuda: return x` before `return x`
                case ast.If(test=test, body=[*_, ast.Return()] as early, orelse=[]):
                    if same(early, out[index + 1 :]) and may_go(test):
                        return [*out[:index], *early]
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
                kept = [name for name in names if not self.words.is_device(ast.Name(name))]
                return [like(node, names=kept)] if kept else []
            case ast.Assert(test=test) if self.words.is_predicate(test):
                return []
        return [cast(ast.stmt, self._rebuild(node))]

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.stmt]:
        pairs = syntax.attributes_set(node)
        if len(pairs) > 1:  # so many plain ones
            alone = [like(node, targets=[target], value=value) for target, value in pairs]
            return [erased for each in alone for erased in self._assignment(each)]
        value = node.value
        if value is not None and not isinstance(node, ast.AugAssign):
            if (
                self.words.only
                and isinstance(value, ast.IfExp)
                and self.words.is_predicate(value.test)
            ):
                return self._assignment(like(node, value=value.body))
            if self.words.is_device(value) or self._asks(value):
                return []
            if self.words.legacy and (dtype_of_type(value) or last_name(value) in self.words.types):
                return []
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if all(map(self.words.is_device, targets)) and may_go(self.expression(value)):
                return []  # `device = 0`, `device = args.gpu`, `device = None`
        new = self._rebuild(node)
        if isinstance(new, ast.Assign) and _is_identity(new):
            return []
        return [cast(ast.stmt, new)]

    def _asks(self, value: ast.expr) -> bool:
        """Tell whether a value is a flag such as `args.cuda and torch.cuda.is_available()`."""
        match value:
            case ast.IfExp(test=test, body=ast.Constant() as body, orelse=ast.Constant()):
                return not self.words.is_device(body) and self._asks(test)
            case ast.BoolOp(values=values):
                return any(self._asks(each) for each in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._asks(operand)
            case ast.Call(func=func):
                return last_name(func) == "is_available"
            case ast.Compare(left=left, ops=[ast.IsNot()]):
                return looks_for_xla(left)
        return False

    def _expression_statement(self, node: ast.Expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.Constant):
            return [node] if isinstance(value.value, str) else []
        if isinstance(value, ast.Call):
            name = last_name(value.func)
            if name in {"set_default_device", "set_default_tensor_type"}:
                return []
            buffer = self._buffer(node, value)
            if buffer is not None:
                return [buffer]
        new = self.expression(value)
        if isinstance(new, ast.BoolOp) and all(map(may_go, new.values[:-1])):
            new = new.values[-1]  # `cuda and net.cuda()`
        if isinstance(new, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        if isinstance(new, ast.Call) and _is_runtime(new.func):
            return []
        if isinstance(new, (ast.ListComp, ast.GeneratorExp)) and isinstance(new.elt, ast.Name):
            return []  # `[net.to(device) for net in nets]`
        return [like(node, value=new)]

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
                return at(ast.Assign([at(target, node)], self.expression(values[0])), node)
        return None

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test, body, orelse = (
            self.expression(node.test),
            self.body(node.body),
            self.body(node.orelse),
        )
        if same(body, orelse) and may_go(test):
            return body
        if self.words.only and self.words.is_predicate(node.test) and not orelse:
            stops = len(body) == 1 and (
                isinstance(body[0], ast.Raise)
                or isinstance(body[0], ast.Expr)
                and is_call_of(body[0].value, "exit")
            )
            return [] if stops else body  # what is left out without CUDA, or demands it
        return [like(node, test=test, body=body, orelse=orelse)]

    def _for(self, node: ast.For | ast.AsyncFor) -> list[ast.stmt]:
        new = cast("ast.For | ast.AsyncFor", self._rebuild(node))
        if not new.orelse and (not new.body or _moves_items(new)) and self._is_pure(node.iter):
            return []
        return [new]

    def _is_pure(self, node: ast.expr) -> bool:
        return all(
            last_name(each.func) in PURE_CALLS | {"modules", "children", "parameters"}
            for each in ast.walk(node)
            if isinstance(each, ast.Call)
        )

    def _with(self, node: ast.With | ast.AsyncWith) -> list[ast.stmt]:
        items = [
            cast(ast.withitem, self._rebuild(item))
            for item in node.items
            if not self._is_device_context(item.context_expr)
            and not (self.words.variable and is_call_of(item.context_expr, "no_grad"))
        ]
        body = self.body(node.body)
        return [like(node, items=items, body=body)] if items else body

    def _is_device_context(self, node: ast.expr) -> bool:
        if self.words.only and isinstance(node, ast.IfExp):
            node = node.body  # `torch.cuda.device(i) if ... else nullcontext()`
        return self.words.is_device(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        if self.words.is_helper(node.name) or node.name in self.words.names:
            return []
        returns = [
            each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value
        ]
        if returns and all(self.words.is_device(value) for value in returns):
            return []
        return [cast(ast.stmt, self._rebuild(node))]

    def _children(self, values: list[object]) -> list[object]:
        if values and isinstance(values[0], ast.stmt):
            return list(self.body(cast("list[ast.stmt]", values)))
        return super()._children(values)

    def _import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        kept = []
        for alias in node.names:
            bound = alias.asname or alias.name
            plain_torch = isinstance(node, ast.Import) and alias.name == "torch"
            gone = (
                bound in self.words.names | self.words.imports
                or self.words.is_device_name(bound)
                or plain_torch
            )
            if self.words.variable and bound == "Variable":
                gone = True
            if self.words.amp and bound in {"autocast", "GradScaler", "amp"}:
                gone = True
            if not gone:
                kept.append(alias)
        # one statement for each name: a name added to a statement is no change to the others
        return [like(node, names=[alias]) for alias in kept]


def _is_runtime(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == RUNTIME
    )


def _is_identity(node: ast.Assign) -> bool:
    """Tell whether an erased assignment gives a name what it has: `x = x`, or item by item."""
    if len(node.targets) != 1:
        return False
    target, value = node.targets[0], node.value
    if isinstance(value, ast.Call) and last_name(value.func) in {"tuple", "list", "dict"}:
        if len(value.args) != 1 or value.keywords:
            return False
        value = value.args[0]
        if isinstance(value, ast.Call) and last_name(value.func) == "map":
            match value.args:
                case [ast.Lambda(args=ast.arguments(args=[arg]), body=ast.Name(id=name)), over]:
                    return arg.arg == name and same([target], [over])
            return False
    if same([target], [value]):
        return True
    match value:
        case (
            ast.ListComp(elt=element, generators=[loop])
            | ast.GeneratorExp(elt=element, generators=[loop])
        ):
            return not loop.ifs and same([element, loop.iter], [loop.target, target])
        case ast.DictComp():
            owner = copied(value)
            return owner is not None and same([owner], [target])
    return False


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
            return same([owner, key, value], [into, at, item])
    return False
