"""What a test says of the values that it asks about, on the path where it is true or false.

The forms are a closed list: `isinstance`, `torch.is_tensor`, `hasattr` with a name that only
tensors have, `is None`, `type(x) is`, their negations, `and`, `or`, and a name that holds one of
them. A value that is narrowed has a node of its own, which flows from the one it had: what a branch
does with it says nothing about the others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import iteration
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, External, Instance, Scope, Union
from samedevice.inference.values import (
    ARRAY,
    NONE,
    SCALAR,
    UNKNOWN,
    CliOption,
    Const,
    Dict,
    Doubt,
    Seq,
    Shown,
    Tensor,
    Value,
    always_tensor,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

TENSORS = frozenset(
    ("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.FloatTensor")
)
_NUMBERS = frozenset(
    "builtins." + name for name in ("int", "float", "bool", "complex", "str", "bytes")
) | {"numbers.Number"}
_ARRAYS = frozenset(("numpy.ndarray", "PIL.Image.Image", "pandas.DataFrame", "pandas.Series"))
_ASK_FOR_ARRAYS = ("scipy.sparse.issparse", "scipy.sparse.isspmatrix")
_SEQUENCES = frozenset(("builtins.list", "builtins.tuple", "builtins.set"))
_MAPPINGS = frozenset(("builtins.dict", "collections.OrderedDict", "collections.abc.Mapping"))
#: Of more parts of a class than this no one is known.
_MOST_PARTS = 8
#: What has one of these is a tensor, as far as tests for it go.
_OF_TENSORS = frozenset(("cpu", "cuda", "detach", "is_cuda", "requires_grad", "to"))


def narrow(run: Interpreter, test: ast.expr, scope: Scope, positive: bool) -> None:
    """Bind what a test asks about to what it is where the test is true, or is not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            narrow(run, inner, scope, not positive)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == positive:
            for value in values:
                narrow(run, value, scope, positive)
        case ast.BoolOp(op=ast.Or(), values=values) if positive:
            _one_of_kinds(run, values, scope)
        case ast.NamedExpr(value=value):
            narrow(run, value, scope, positive)
        case ast.Name(id=name) if name in scope.tests:
            asked, bound = scope.tests[name]
            if all(scope.names.get(known) is value for known, value in bound.items()):
                narrow(run, asked, scope, positive)
        case ast.Compare():
            _narrow_by_comparison(run, test, scope, positive)
        case ast.Call(func=func, args=[subject, *rest], keywords=[]):
            kinds = _asked(run, func, rest, scope)
            if kinds:
                _refine(run, subject, kinds, scope, positive)
            elif positive and isinstance(subject, ast.Name):
                named = rest and _is_isinstance(func)
                _one_of_them(run, subject, run.eval(rest[0], scope) if named else UNKNOWN, scope)


def _one_of_kinds(run: Interpreter, tests: list[ast.expr], scope: Scope) -> None:
    """Bind what `isinstance(x, list) or isinstance(x, tuple)` asks about: it is one of them."""
    asked: list[str] = []
    subjects: dict[str, ast.Name] = {}
    for test in tests:
        match test:
            case ast.Call(func=func, args=[ast.Name(id=name) as subject, *rest], keywords=[]):
                kinds = _asked(run, func, rest, scope)
            case _:
                return
        if not kinds:
            return
        subjects[name] = subject
        asked += kinds
    if len(subjects) == 1:
        _refine(run, subjects.popitem()[1], tuple(asked), scope, True)


def _is_isinstance(func: ast.expr) -> bool:
    return isinstance(func, ast.Name) and func.id == "isinstance"


def _narrow_by_comparison(
    run: Interpreter, test: ast.Compare, scope: Scope, positive: bool
) -> None:
    match test:
        case ast.Compare(
            left=ast.Attribute(value=left, attr="device"),
            ops=[ast.Eq() | ast.NotEq() as op],
            comparators=[ast.Attribute(value=right, attr="device")],
        ):
            if positive == isinstance(op, ast.Eq):
                _together(run, left, right, scope)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
            same = positive == isinstance(op, ast.Is)
            if isinstance(right, ast.Constant) and right.value is None:
                _refine(run, left, ("None",), scope, same)
            else:
                _type_is(run, left, right, scope, same)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            _type_is(run, left, right, scope, positive == isinstance(op, ast.Eq))


def remember_test(name: str, test: ast.expr, scope: Scope) -> None:
    """Note a name that holds a test, and the values of what it asks about."""
    match test:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            pass
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr")):
            pass
        case ast.Call(func=ast.Attribute(attr="is_tensor")):
            pass
        case _:
            return
    if name not in scope.tests:
        mentioned = [n.id for n in syntax.walk(test) if isinstance(n, ast.Name)]
        values = {known: scope.names[known] for known in mentioned if known in scope.names}
        if values and name not in values:
            scope.tests[name] = test, values


def _asked(run: Interpreter, func: ast.expr, rest: list[ast.expr], scope: Scope) -> tuple[str, ...]:
    """Return the kinds that a call asks whether its first argument is one of."""
    callee = run.eval(func, scope)
    name = callee.name if isinstance(callee, External) else ""
    if name == "builtins.isinstance" and len(rest) == 1:
        return kinds_of(run.eval(rest[0], scope))
    if name == "torch.is_tensor" and not rest:
        return ("tensor",)
    if name in _ASK_FOR_ARRAYS and not rest:
        return ("array",)
    if name == "builtins.hasattr" and len(rest) == 1:
        if isinstance(rest[0], ast.Constant) and rest[0].value in _OF_TENSORS:
            return ("tensor",)
    return ()


def kinds_of(classes: Value) -> tuple[str, ...]:
    """Return what kinds of values classes are of; empty where one of them is not known."""
    if isinstance(classes, Seq):
        parts = [kinds_of(member) for member in classes.members()]
        return tuple(kind for part in parts for kind in part) if all(parts) else ()
    name = classes.name if isinstance(classes, External) else ""
    for kind, names in (
        ("tensor", TENSORS), ("number", _NUMBERS), ("array", _ARRAYS),
        ("sequence", _SEQUENCES), ("mapping", _MAPPINGS),
    ):  # fmt: skip
        if name in names:
            return (kind,)
    return ("module",) if name == "torch.nn.Module" else ()


def is_instance(value: Value, classes: Value) -> Value:
    """Return what is known of `isinstance(value, classes)`."""
    asked, known = kinds_of(classes), _kind_of(value)
    if not asked or not known:
        return SCALAR
    if known not in asked:
        return SCALAR if known == "sequence" and isinstance(classes, Class) else Const(False)
    if isinstance(value, (Seq, Const)):
        exact = value.kind if isinstance(value, Seq) else type(value.value).__name__
        named = classes.members() if isinstance(classes, Seq) else (classes,)
        same = any(isinstance(c, External) and c.name == f"builtins.{exact}" for c in named)
        return Const(True) if same else SCALAR
    return Const(True)


def is_type(run: Interpreter, node: ast.Compare, scope: Scope) -> Value | None:
    """Return what is known of `type(value) is torch.Tensor`; None of any other comparison."""
    match node:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[subject]),
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() as op],
            comparators=[asked],
        ):
            classes, value = run.eval(asked, scope), run.eval(subject, scope)
        case _:
            return None
    if not isinstance(classes, External) or classes.name != "torch.Tensor":
        return None
    known = _kind_of(value)
    if not known or isinstance(value, Tensor) and (value.leaf or value.parameter):
        return SCALAR
    return Const((known == "tensor") == isinstance(op, (ast.Is, ast.Eq)))


def has_attribute(value: Value, name: Value) -> Value:
    """Return what is known of `hasattr(value, name)`."""
    known = _kind_of(value)
    if known == "module" and isinstance(name, Const) and isinstance(name.value, str):
        return SCALAR if torchfacts.module_method(name.value) is None else Const(True)
    if not (isinstance(name, Const) and name.value in _OF_TENSORS):
        return SCALAR
    if known == "tensor":
        return Const(True)
    return Const(False) if known in ("array", "number", "sequence") else SCALAR


def _type_is(run: Interpreter, left: ast.expr, right: ast.expr, scope: Scope, same: bool) -> None:
    """`type(x) is C`: what is not that may be a subclass; one that is no `torch.Tensor` is none."""
    match left:
        case ast.Call(func=ast.Name(id="type"), args=[subject]):
            kinds = kinds_of(run.eval(right, scope))
            if kinds and (same or kinds == ("tensor",)):
                _refine(run, subject, kinds, scope, same)


def _together(run: Interpreter, left: ast.expr, right: ast.expr, scope: Scope) -> None:
    """Two tensors are in one place here: what is kept is where the one is that came."""
    if isinstance(right, ast.Attribute) and not isinstance(left, ast.Attribute):
        left, right = right, left
    kept, came = run.eval(left, scope), run.eval(right, scope)
    if not isinstance(kept, Tensor) or not isinstance(came, Tensor):
        return
    made = kept.copy()
    made.node = came.node
    _keep(run, left, made, scope)


def _keep(run: Interpreter, subject: ast.expr, value: Value, scope: Scope) -> None:
    """Bind what a test asked about, a name or an attribute, to what it is here."""
    match subject:
        case ast.Name(id=name) if (holder := _holder(name, scope)) is not None:
            if holder is not scope:
                run.trail.note(holder, name)
            holder.names[name] = value
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            owner = scope.names.get(name)
            if isinstance(owner, Instance) and attr in owner.attrs:
                run.trail.put(owner.attrs, attr, value)


def _holder(name: str, scope: Scope) -> Scope | None:
    """Return the code whose name it is: this function, one around it, or the file."""
    level: Scope | None = scope
    while level is not None and name not in level.names:
        level = level.outer
    return level


def _one_of_them(run: Interpreter, subject: ast.Name, asked: Value, scope: Scope) -> None:
    """Where a test holds that tells the parts of a module apart: they are none of the others.

    Those of a class of the project that is `asked` for are known.
    """
    holder = _holder(subject.id, scope)
    old = holder.names[subject.id] if holder is not None else None
    if isinstance(old, Instance) and old.parent is not None and iteration.is_any_module(old):
        classes = asked.members() if isinstance(asked, Seq) else [asked]
        parts = old.parent.tree()
        known = [p for p in parts if p.cls and any(c in classes for c in p.cls.mro())]
        if 0 < len(known) <= _MOST_PARTS:
            _keep(run, subject, known[0] if len(known) == 1 else Union(list(known)), scope)
            return
        made = iteration.any_module(old.parent, Location(scope.path, subject))
        made.node, made.moves = old.node, list(old.moves)
        _keep(run, subject, made, scope)


def _refine(
    run: Interpreter, subject: ast.expr, kinds: tuple[str, ...], scope: Scope, positive: bool
) -> None:
    match subject:
        case ast.Name(id=name) if (holder := _holder(name, scope)) is not None:
            old = holder.names[name]
            if holder is not scope and not (positive and isinstance(old, Tensor)):
                return  # what is left of it here is no news for others who read it
            new = _refined(run, old, kinds, positive, Location(scope.path, subject))
            if new is not old:
                _keep(run, subject, new, scope)
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            owner = scope.names.get(name)
            if not isinstance(owner, Instance) or attr not in owner.attrs:
                return
            old = owner.attrs[attr]
            if owner.family == "module" and not isinstance(old, Tensor):
                return
            new = _refined(run, old, kinds, positive, Location(scope.path, subject))
            if new is not old and (isinstance(new, Tensor) or new is NONE):
                _keep(run, subject, new, scope)


def _refined(
    run: Interpreter, value: Value, kinds: tuple[str, ...], positive: bool, spot: Location
) -> Value:
    """Return what is left of a value where it is of one of these kinds, or of none."""
    if kinds == ("None",):
        return _none(value, positive)
    if not isinstance(value, Tensor):
        return value
    if positive:
        if kinds == ("tensor",):
            if always_tensor(value):
                return value
            found = _split(run, value, spot)
            found.node.is_tensor = True
            found.opaque, found.doubt, found.shown = False, Doubt.NONE, Shown.NOTHING
            return found
        return _other(run, value, kinds, spot)
    if "tensor" in kinds:
        return UNKNOWN
    if value.doubt is Doubt.OTHER and {"number", "array"} & set(kinds):
        return _certain(value)
    return value


def _none(value: Value, positive: bool) -> Value:
    if isinstance(value, Tensor):
        if not positive:
            return _certain(value) if value.doubt is Doubt.ABSENT else value
        sure = value.node.find().is_tensor and value.doubt is Doubt.NONE
        return value if sure or value.opaque else NONE
    if value is UNKNOWN and positive:
        return NONE
    if isinstance(value, Const) and value.value is None and not positive:
        return UNKNOWN
    return value


def _other(run: Interpreter, value: Tensor, kinds: tuple[str, ...], spot: Location) -> Value:
    """Return what something that may be no tensor is, where it is of one of these kinds."""
    if len(set(kinds)) > 1 or value.opaque and kinds[0] in ("sequence", "mapping"):
        return value if "tensor" in kinds or value.opaque else UNKNOWN
    match kinds[0]:
        case "number":
            return SCALAR
        case "array":
            return ARRAY
        case "sequence":
            return Seq("list", None, _split(run, value, spot))
        case "mapping":
            return Dict(element=_split(run, value, spot))
    return value


def _split(run: Interpreter, value: Tensor, spot: Location) -> Tensor:
    """Return a tensor that is where another one is, and of which more is known."""
    made = value.copy()
    made.node = run.graph.node(spot)
    made.node.is_tensor = False
    run.graph.flow(value.node, made.node)
    return made


def _certain(value: Tensor) -> Tensor:
    made = value.copy()
    made.doubt = Doubt.NONE
    return made


def _kind_of(value: Value) -> str:
    """Return the kind of a value that is of one for certain, or ""."""
    match value:
        case Tensor():
            return "tensor" if always_tensor(value) else ""
        case Seq():
            return "sequence"
        case Dict():
            return "mapping"
        case Const(value=bool() | int() | float() | str()) if not isinstance(value, CliOption):
            return "number"
        case Instance(family="module"):
            return "module"
    return "array" if value is ARRAY else ""
