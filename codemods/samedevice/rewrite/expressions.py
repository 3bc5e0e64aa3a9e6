"""The verbs on expressions: node in, node out.

Every function gets the updated node, in which edits of inner nodes are done already, and raises
`Refused` when the edit does not fit it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

import libcst as cst

from . import layout

_HOLE = "samedevice_old_expression"
_EMPTY = cst.Module(body=())

# Expressions that bind tighter than any operator around them.
_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.SimpleString,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.Integer,
    cst.Float,
    cst.Imaginary,
    cst.Ellipsis,
)
# Expressions that need parentheses even where any operator is fine without.
_LOOSE = (cst.Tuple, cst.GeneratorExp, cst.Yield, cst.NamedExpr, cst.StarredElement)
# Nodes under which an expression stands alone, inside brackets ...
_BRACKETED = (
    cst.Arg,
    cst.Element,
    cst.DictElement,
    cst.Index,
    cst.Param,
    cst.ListComp,
    cst.SetComp,
    cst.GeneratorExp,
)
# ... or up to the end of the line.
_ALONE = (
    cst.Annotation,
    cst.Assign,
    cst.AnnAssign,
    cst.AugAssign,
    cst.Return,
    cst.Expr,
    cst.If,
    cst.While,
    cst.For,
    cst.Assert,
    cst.WithItem,
)

#: What binds tighter than what it may stand in.
_BINDING: dict[type[cst.CSTNode], tuple[type[cst.BaseExpression], ...]] = {
    cst.BooleanOperation: (cst.Comparison,),
    cst.IfExp: (cst.BinaryOperation, cst.Comparison, cst.BooleanOperation),
}


class Refused(Exception):
    """An edit that cannot be made; the message says why."""


def parse(code: str) -> cst.BaseExpression:
    """Parse an expression; raises `Refused`."""
    try:
        return cst.parse_expression(code)
    except cst.ParserSyntaxError:
        raise Refused(f"the new code {code!r} is no expression") from None


def code_of(node: cst.CSTNode) -> str:
    """Return the code of a node alone."""
    return _EMPTY.code_for_node(node)


def fit(
    node: cst.BaseExpression, parent: cst.CSTNode, old: cst.BaseExpression
) -> cst.BaseExpression:
    """Return `node` in the place of `old` under `parent`, in parentheses if it needs them there.

    Those are the parentheses of `old` if it had any.
    """
    if node.lpar:
        return node
    if isinstance(parent, _BRACKETED):
        needed = isinstance(node, _LOOSE)
    elif isinstance(parent, cst.FormattedStringExpression):
        needed = isinstance(node, (*_LOOSE, cst.Lambda)) or code_of(node).startswith("{")
    elif isinstance(parent, _ALONE):
        needed = isinstance(node, _LOOSE) or not _stands_alone(node)
    elif isinstance(node, _BINDING.get(type(parent), ())):
        needed = not _stands_alone(node)
    else:
        number = isinstance(node, cst.Integer) and isinstance(parent, cst.Attribute)
        needed = number or not isinstance(node, _ATOMS) or not _stands_alone(node)
    return _enclose(node, old) if needed else node


def _enclose(node: cst.BaseExpression, old: cst.CSTNode) -> cst.BaseExpression:
    lpar: Sequence[cst.LeftParen] = getattr(old, "lpar", ())
    rpar: Sequence[cst.RightParen] = getattr(old, "rpar", ())
    if lpar:
        return node.with_changes(lpar=lpar, rpar=rpar)
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _stands_alone(node: cst.BaseExpression) -> bool:
    """Tell whether the code of `node` needs no brackets to run over several lines."""
    code = code_of(node)
    if "\n" not in code:
        return True
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return False
    return True


def method(node: cst.BaseExpression, code: str, parent: cst.CSTNode) -> cst.BaseExpression:
    """Append `code`, such as ".to(device)", to an expression; in a chain with a call on each line,
    on a line of its own."""
    if not node.lpar and (not isinstance(node, _ATOMS) or isinstance(node, cst.Integer)):
        node = _enclose(node, node)
    called = _fill(parse(_HOLE + code), node, fitted=True)
    line = _own_line(node, parent)
    if line is None or not isinstance(called, cst.Call):
        return called
    assert isinstance(called.func, cst.Attribute)
    dot = called.func.dot.with_changes(whitespace_before=line)
    return called.with_changes(func=called.func.with_changes(dot=dot))


def _own_line(
    node: cst.BaseExpression, parent: cst.CSTNode
) -> cst.BaseParenthesizableWhitespace | None:
    """Return what stands before the dot of each call of a chain with one on each line, or None."""
    before = []
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.lpar:
        before.append(node.func.dot.whitespace_before)
    if isinstance(parent, cst.Attribute):
        before.append(parent.dot.whitespace_before)
    if not before or not all(isinstance(each, cst.ParenthesizedWhitespace) for each in before):
        return None
    return before[0]


def replace(node: cst.BaseExpression, code: str, parent: cst.CSTNode) -> cst.BaseExpression:
    """Replace an expression by `code`, in which `{}` stands for it."""
    new = parse(code.replace("{}", _HOLE))
    if _HOLE in code.replace("{}", _HOLE):
        return fit(_fill(new, node), parent, cst.Name("_"))
    if node.lpar and not new.lpar:
        if isinstance(new, (cst.Name, cst.Attribute)) and not isinstance(node, _ATOMS):
            if isinstance(parent, (cst.Assign, cst.Arg)) and "#" not in code_of(node):
                return new  # a name needs no parentheses where a choice had some
        return new.with_changes(lpar=node.lpar, rpar=node.rpar)
    return fit(new, parent, node)


class _Filler(cst.CSTTransformer):
    """Puts an expression into the hole of a template."""

    def __init__(self, node: cst.BaseExpression, fitted: bool) -> None:
        super().__init__()
        self._node = node
        self._fitted = fitted
        self._stack: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self._stack.append(node)
        return True

    def on_leave(  # type: ignore[override]  # one method for all node types
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        self._stack.pop()
        if isinstance(updated_node, cst.Name) and updated_node.value == _HOLE:
            node = self._node
            if self._fitted or not self._stack:
                return node
            parent = self._stack[-1]
            if isinstance(parent, cst.Arg) and node.lpar and not isinstance(node, _LOOSE):
                node = node.with_changes(lpar=(), rpar=())
            return fit(node, parent, cst.Name("_"))
        return updated_node


def _fill(
    template: cst.BaseExpression, node: cst.BaseExpression, *, fitted: bool = False
) -> cst.BaseExpression:
    """Put `node` into the hole of `template`, in parentheses if needed and not `fitted` already."""
    return cast(cst.BaseExpression, template.visit(_Filler(node, fitted)))


def _call(node: cst.BaseExpression) -> cst.Call:
    if not isinstance(node, cst.Call):
        raise Refused("there is no call here")
    return node


def keyword(
    node: cst.BaseExpression,
    name: str,
    value: str,
    *,
    fits: layout.Fits,
    wrapped: cst.ParenthesizedWhitespace | None,
) -> cst.Call:
    """Set a keyword argument of a call, in place or after the last argument (before `**`)."""
    call = _call(node)
    args = list(call.args)
    new_value = parse(value)
    for index, arg in enumerate(args):
        if arg.keyword is not None and arg.keyword.value == name:
            args[index] = arg.with_changes(value=new_value)
            return call.with_changes(args=args)
    equals = [arg.equal for arg in args if isinstance(arg.equal, cst.AssignEqual)]
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(new_value, cst.Name(name), equal=equals[-1] if equals else tight)
    if len(args) == 1 and isinstance(args[0].value, cst.GeneratorExp) and not args[0].value.lpar:
        generator = args[0].value
        args[0] = args[0].with_changes(
            value=generator.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        )
    stars = [index for index, arg in enumerate(args) if arg.star == "**"]
    if stars:
        return call.with_changes(args=layout.insert_before(args, stars[0], new))
    args = layout.append(args, new, call.whitespace_before_args, fits=fits, wrapped=wrapped)
    return call.with_changes(args=args)


def drop_keyword(node: cst.BaseExpression, name: str) -> cst.Call:
    """Remove a keyword argument of a call."""
    call = _call(node)
    for index, arg in enumerate(call.args):
        if arg.keyword is not None and arg.keyword.value == name:
            args = layout.remove(call.args, index)
            if args:
                return call.with_changes(args=args)
            return call.with_changes(args=(), whitespace_before_args=cst.SimpleWhitespace(""))
    raise Refused(f"the call has no keyword {name!r}")


def callee(node: cst.BaseExpression, code: str) -> cst.Call:
    """Replace what a call calls; `{}` in `code` stands for it."""
    call = _call(node)
    func = _fill(parse(code.replace("{}", _HOLE)), call.func)
    return call.with_changes(func=func)


def unwrap(node: cst.BaseExpression, parent: cst.CSTNode) -> cst.BaseExpression:
    """Turn `receiver.method(...)` into `receiver`."""
    call = _call(node)
    if not isinstance(call.func, cst.Attribute):
        raise Refused("the call is not of a method")
    receiver = call.func.value
    if len(receiver.lpar) == 1 and not isinstance(
        receiver, _LOOSE
    ):  # the method may have been all that asked for them
        bare = receiver.with_changes(lpar=(), rpar=())
        return fit(bare, parent, call if call.lpar else receiver)
    if call.lpar and not receiver.lpar:
        return receiver.with_changes(lpar=call.lpar, rpar=call.rpar)
    return fit(receiver, parent, call)


def unwrap_argument(node: cst.BaseExpression, parent: cst.CSTNode) -> cst.BaseExpression:
    """Turn `f(x, ...)` into `x`."""
    call = _call(node)
    if not call.args or call.args[0].star or call.args[0].keyword is not None:
        raise Refused("the call has no first argument to keep")
    value = call.args[0].value
    if call.lpar and not value.lpar:
        return value.with_changes(lpar=call.lpar, rpar=call.rpar)
    return fit(value, parent, call)


def branch(node: cst.BaseExpression, taken: bool, parent: cst.CSTNode) -> cst.BaseExpression:
    """Turn `a if test else b` into `a` (if `taken`) or `b`."""
    if not isinstance(node, cst.IfExp):
        raise Refused("there is no conditional expression here")
    return fit(node.body if taken else node.orelse, parent, node)


def parameter(
    node: cst.FunctionDef,
    name: str,
    default: str | None,
    annotation: str | None,
    *,
    fits: layout.Fits,
    wrapped: cst.ParenthesizedWhitespace | None,
) -> cst.FunctionDef:
    """Add a parameter at the end of a function's signature, before `**kwargs`."""
    params = node.params
    star_kwarg = [params.star_kwarg] if params.star_kwarg is not None else []
    star_arg = [params.star_arg] if isinstance(params.star_arg, cst.Param) else []
    every = [*params.posonly_params, *params.params, *star_arg, *params.kwonly_params, *star_kwarg]
    if any(param.name.value == name for param in every):
        raise Refused(f"the function has a parameter {name!r} already")
    new = cst.Param(
        cst.Name(name),
        annotation=None if annotation is None else cst.Annotation(parse(annotation)),
        default=None if default is None else parse(default),
        equal=_equal(every, annotation) if default is not None else cst.MaybeSentinel.DEFAULT,
        star="",
    )
    field = "params" if params.star_arg is cst.MaybeSentinel.DEFAULT else "kwonly_params"
    own: Sequence[cst.Param] = getattr(params, field)
    if field == "params" and default is None and any(param.default for param in every):
        raise Refused("a parameter without a default cannot follow one that has one")
    try:
        if star_kwarg:
            extended = layout.insert_before([*own, *star_kwarg], len(own), new)[:-1]
            if not own and every[:-1]:  # what stands before is in another field
                extended = [
                    new.with_changes(
                        comma=cst.Comma(cst.SimpleWhitespace(""), cst.SimpleWhitespace(" "))
                    )
                ]
            return node.with_changes(params=params.with_changes(**{field: extended}))
        if own:
            extended = layout.append(
                own, new, node.whitespace_before_params, fits=fits, wrapped=wrapped
            )
            return node.with_changes(params=params.with_changes(**{field: extended}))
        changes: dict[str, object] = {field: [new]}
        if star_arg:  # `*args` is the last one
            star = layout.append(
                [*params.params, *star_arg],
                new,
                node.whitespace_before_params,
                fits=fits,
                wrapped=wrapped,
            )
            changes["star_arg"], changes[field] = star[-2], [star[-1]]
        return node.with_changes(params=params.with_changes(**changes))
    except cst.CSTValidationError as error:
        raise Refused(f"the parameter does not fit the signature: {error}") from None


def _equal(every: Sequence[cst.Param], annotation: str | None) -> cst.AssignEqual:
    """Return the `=` of a default as the signature writes it."""
    for param in every:
        if isinstance(param.equal, cst.AssignEqual) and (param.annotation is None) == (
            annotation is None
        ):
            return param.equal
    space = cst.SimpleWhitespace("" if annotation is None else " ")
    return cst.AssignEqual(space, space)
