"""functools, operator and weakref: functions that call, choose or stand for others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import arithmetic, attributes, calls, narrowing, subscripts
from samedevice.inference.models import Call, methods, model
from samedevice.inference.objects import Class, External, Func, Instance, Method, Partial
from samedevice.inference.values import SCALAR, UNKNOWN, Const, Seq, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: The family of a function that chooses its body by the kind of its first argument.
DISPATCHED = "dispatched"
#: Members that are folded one by one; more are joined first.
_FOLDED = 6
#: The operator module's functions of two values, each with the operator it is.
_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv,
    "mod": ast.Mod, "pow": ast.Pow, "matmul": ast.MatMult, "and_": ast.BitAnd, "or_": ast.BitOr,
    "xor": ast.BitXor, "iadd": ast.Add, "isub": ast.Sub, "imul": ast.Mult, "itruediv": ast.Div,
}  # fmt: skip
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")


@model("functools.reduce")
def reduce(run: Interpreter, call: Call) -> Value:
    """`functools.reduce`: a function of the result so far and the next member."""
    if len(call.args) < 2:
        return UNKNOWN
    function = call.args[0][0]
    source, where = call.args[1]
    given = call.args[2] if len(call.args) > 2 else call.kwargs.get("initial")
    result = given[0] if given is not None else None
    if isinstance(source, Seq) and source.items and len(source.items) <= _FOLDED:
        members = list(source.items)
    else:
        member = run.iterate(source, where, call.scope)
        members = [member, member]
    for member in members:
        if result is None:
            result = member
        else:
            pair = [(result, call.spot), (member, where)]
            result = calls.apply(run, function, pair, {}, call.spot, call.scope)
    return result if result is not None else UNKNOWN


@model("functools.update_wrapper")
def wrapped(run: Interpreter, call: Call) -> Value:
    """A function that is called in the place of another one, and has its name."""
    return call.args[0][0] if call.args else UNKNOWN


@model("functools.wraps")
def wraps(run: Interpreter, call: Call) -> Value:
    """`wraps(f)` gives what is done with the function that is called in the place of `f`."""
    return External("functools.update_wrapper")


@model("functools.singledispatch")
def dispatched(run: Interpreter, call: Call) -> Value:
    """A function that has another body for each kind of its first argument."""
    made = Instance(DISPATCHED)
    made.args = [call.args[0][0] if call.args else UNKNOWN]
    return made


@methods(DISPATCHED)
def dispatched_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """`register` adds a body, by its annotation or for the class that it is given."""
    if name == "__call__":
        bodies = _bodies(run, owner, call)
        joined: Value | None = None
        for body in bodies:
            result = calls.apply(run, body, call.args, call.kwargs, call.spot, call.scope)
            joined = run.join(joined, result)
        return joined if joined is not None else UNKNOWN
    if name != "register" or not call.args:
        return UNKNOWN
    first = call.args[0][0]
    if len(call.args) == 1 and not isinstance(first, Func):
        return Partial(Method(owner, "register", call.spot), call.args, {})
    if isinstance(first, Func):
        annotation = first.node.args.args[0].annotation if first.node.args.args else None
        kind = run.eval(annotation, first.scope) if annotation is not None else UNKNOWN
        owner.args.append(Seq("tuple", [kind, first]))
        return first
    owner.args.append(Seq("tuple", [first, call.args[1][0]]))
    return call.args[1][0]


def _bodies(run: Interpreter, owner: Instance, call: Call) -> list[Value]:
    """Return the bodies that a call may choose: the one for the kind, if that is known."""
    default, *registered = owner.args
    pairs = [pair.items for pair in registered if isinstance(pair, Seq) and pair.items]
    value = call.args[0][0] if call.args else UNKNOWN
    perhaps: list[Value] = []
    for kind, body in reversed(pairs):
        known = narrowing.is_instance(value, kind)
        if isinstance(value, Instance) and isinstance(kind, Class) and value.cls is not None:
            known = Const(kind in value.cls.mro())
        if isinstance(known, Const):
            if known.value:
                return [*perhaps, body]
        else:
            perhaps.append(body)
    return [*perhaps, default]


@model(*(f"operator.{name}" for name in _BINARY))
def binary(run: Interpreter, call: Call) -> Value:
    """An operator of two values, as a function."""
    if len(call.args) != 2:
        return UNKNOWN
    (left, left_spot), (right, right_spot) = call.args
    return arithmetic.binary(run, left, left_spot, right, right_spot, call.spot, False)


@model(*(f"operator.{name}" for name in _COMPARED))
def compared(run: Interpreter, call: Call) -> Value:
    """A comparison, as a function."""
    result = binary(run, call)
    return result if result is not UNKNOWN else SCALAR


@model("operator.getitem")
def item(run: Interpreter, call: Call) -> Value:
    """A subscript, as a function."""
    if len(call.args) != 2:
        return UNKNOWN
    return subscripts.subscript(run, call.args[0][0], call.args[1][0], call.spot, call.scope)


@model("operator.itemgetter")
def item_getter(run: Interpreter, call: Call) -> Value:
    """What gets items of what it is called with."""
    return _getter("items", call)


@model("operator.attrgetter")
def attribute_getter(run: Interpreter, call: Call) -> Value:
    """What gets attributes of what it is called with."""
    return _getter("attributes", call)


@model("operator.methodcaller")
def method_caller(run: Interpreter, call: Call) -> Value:
    """What calls a method of what it is called with."""
    return _getter("method", call)


def _getter(what: str, call: Call) -> Instance:
    made = Instance("getter", what)
    made.args = [value for value, _ in call.args]
    made.kwargs = {name: value for name, (value, _) in call.kwargs.items()}
    return made


@methods("getter")
def got(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """One item or attribute, or a tuple of several; or what the method gives."""
    if name != "__call__" or not call.args:
        return UNKNOWN
    value = call.args[0][0]
    if owner.name == "method":
        method = _attribute(run, value, owner.args[0] if owner.args else UNKNOWN, call)
        given = [(argument, call.spot) for argument in owner.args[1:]]
        named = {key: (argument, call.spot) for key, argument in owner.kwargs.items()}
        return calls.apply(run, method, given, named, call.spot, call.scope)
    if owner.name == "items":
        found = [subscripts.subscript(run, value, key, call.spot, call.scope) for key in owner.args]
    else:
        found = [_attribute(run, value, key, call) for key in owner.args]
    return found[0] if len(found) == 1 else Seq("tuple", found)


def _attribute(run: Interpreter, value: Value, name: Value, call: Call) -> Value:
    """Return an attribute by a dotted name."""
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    for part in name.value.split("."):
        value = attributes.attribute(run, value, part, call.spot, call.scope)
    return value


@model("weakref.ref", "weakref.ReferenceType", "weakref.WeakMethod")
def reference(run: Interpreter, call: Call) -> Value:
    """What gives an object that it does not keep."""
    made = Instance("reference")
    made.args = [call.args[0][0] if call.args else UNKNOWN]
    return made


@methods("reference")
def referenced(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Calling it gives the object."""
    return owner.args[0] if name == "__call__" else UNKNOWN


@model("weakref.proxy")
def proxy(run: Interpreter, call: Call) -> Value:
    """Stands for an object in all ways."""
    return call.args[0][0] if call.args else UNKNOWN
