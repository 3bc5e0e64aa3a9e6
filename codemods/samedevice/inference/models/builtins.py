"""Python's built-in functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from samedevice.inference import (
    calls,
    classes,
    escapes,
    instances,
    loops,
    namespaces,
    narrowing,
    operators,
)
from samedevice.inference.dispatch import under
from samedevice.inference.models import Call
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, External, Func, Instance, Namespace, Scope
from samedevice.inference.values import (
    HOW_MANY,
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    CliOption,
    Const,
    Device,
    Dict,
    Iter,
    ProcessIndex,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Members that a function is mapped over one by one; more are joined first.
_MAPPED = 8
#: What a built-in function of some name gives.
Builtin = Callable[["Interpreter", str, Call], Value]

_BUILTINS: dict[str, Builtin] = {}


def builtin(
    run: Interpreter,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a builtin function."""
    function = _BUILTINS.get(name)
    if function is None:
        return UNKNOWN
    return function(run, name, Call(args, kwargs, spot, scope))


def _first(call: Call) -> Value:
    return call.args[0][0] if call.args else UNKNOWN


def _elements(run: Interpreter, call: Call) -> Value:
    """Return what iterating over the first argument yields."""
    given = call.args[0] if call.args else call.kwargs.get("iterable")
    return run.iterate(*given, call.scope) if given is not None else UNKNOWN


@under(_BUILTINS, "len", "int", "float", "str", "bool", "hash", "id", "ord", "repr")
def _converted(run: Interpreter, name: str, call: Call) -> Value:
    first = _first(call)
    if operators.called(run, first, f"__{name}__", [], call.spot, call.scope) is not None:
        return SCALAR
    if name == "str" and isinstance(first, Device):
        return Device(first.node, first.spot, text=True, resolved=first.resolved, rank=first.rank)
    if name == "str" and type(first) is Const and isinstance(first.value, (str, int)):
        return Const(str(first.value), call.spot)
    if (
        name in ("int", "str")
        and isinstance(first, ProcessIndex)
        or name == "int"
        and _is_number(first)
    ):
        return first
    return SCALAR


def _is_number(value: Value) -> bool:
    """Tell whether a value is what a user chooses as a number."""
    return isinstance(value, CliOption) and type(value.value) is int


@under(_BUILTINS, "open", "input", "type", "callable", "any", "all", "chr")
def _asked(run: Interpreter, name: str, call: Call) -> Value:
    return SCALAR


@under(_BUILTINS, "eval", "exec")
def _evaluated(run: Interpreter, name: str, call: Call) -> Value:
    escapes.evaluated(run, _first(call), call.spot, call.scope)
    return UNKNOWN


@under(_BUILTINS, "print")
def _printed(run: Interpreter, name: str, call: Call) -> Value:
    return NONE


@under(_BUILTINS, "abs", "round", "pow", "divmod")
def _computed(run: Interpreter, name: str, call: Call) -> Value:
    operands = [(value, where) for value, where in call.args if isinstance(value, Tensor)]
    if not operands:
        return SCALAR
    result = run.operate(operands, call.spot, True) if name in ("pow", "divmod") else operands[0][0]
    return Seq("tuple", [result, result]) if name == "divmod" else result


@under(_BUILTINS, "sum", "max", "min")
def _combined(run: Interpreter, name: str, call: Call) -> Value:
    values = [value for value, _ in call.args]
    first = _first(call)
    if name != "sum" and len(values) == 1 and isinstance(first, Tensor):
        return Tensor(first.node, scalar=True)  # compared as numbers, they are numbers
    if len(values) == 1 or (name == "sum" and values):
        return _elements(run, call)
    if HOW_MANY in values:
        return HOW_MANY if name == "min" else SCALAR  # `max(count, 1)` is never 0
    return run.join(values[0], values[1]) if len(values) > 1 else SCALAR


@under(_BUILTINS, "range")
def _range(run: Interpreter, name: str, call: Call) -> Value:
    return Iter(HOW_MANY if [v for v, _ in call.args] == [HOW_MANY] else SCALAR)


@under(_BUILTINS, "enumerate")
def _enumerate(run: Interpreter, name: str, call: Call) -> Value:
    return Iter(Seq("tuple", [SCALAR, _elements(run, call)]), _first(call))


@under(_BUILTINS, "zip")
def _zip(run: Interpreter, name: str, call: Call) -> Value:
    return Iter(Seq("tuple", [run.iterate(v, where, call.scope) for v, where in call.args]))


@under(_BUILTINS, "map")
def _map(run: Interpreter, name: str, call: Call) -> Value:
    args, scope = call.args, call.scope
    if not args:
        return UNKNOWN
    first = _first(call)
    # What a library's function makes is made where the function is named.
    where = args[0][1] if isinstance(first, External) else call.spot
    source = args[1][0] if len(args) == 2 else None
    if isinstance(source, Seq) and source.items and len(source.items) <= _MAPPED:
        each = [(member, args[1][1]) for member in source.items]
        return Seq("list", [calls.apply(run, first, [e], {}, where, scope) for e in each])
    inner = [(run.iterate(v, at, scope), at) for v, at in args[1:]]
    return Iter(calls.apply(run, first, inner, {}, where, scope))


@under(_BUILTINS, "filter")
def _filter(run: Interpreter, name: str, call: Call) -> Value:
    if len(call.args) < 2:
        return UNKNOWN
    return Iter(run.iterate(call.args[1][0], call.spot, call.scope))


@under(_BUILTINS, "iter")
def _iter(run: Interpreter, name: str, call: Call) -> Value:
    first = _first(call)
    if isinstance(first, Iter):
        return first
    return Iter(_elements(run, call), first) if call.args else UNKNOWN


@under(_BUILTINS, "next")
def _next(run: Interpreter, name: str, call: Call) -> Value:
    first, args = _first(call), call.args
    if isinstance(first, Instance):
        return calls.method(run, first, "__next__", call.scope, call.spot.node)
    if len(args) > 1 and isinstance(first, Iter) and first.element is UNKNOWN:
        if isinstance(first.source, Seq) and first.source.items == []:
            return args[1][0]
    found = _elements(run, call) if args else UNKNOWN
    return run.join(found, args[1][0]) if len(args) > 1 else found


@under(_BUILTINS, "list", "tuple", "set", "frozenset", "sorted", "reversed")
def _sequence(run: Interpreter, name: str, call: Call) -> Value:
    first, spot = _first(call), call.spot
    kind = name if name in ("list", "tuple", "set") else "list"
    if isinstance(first, Seq):
        items = list(first.items) if first.items is not None else None
        return Seq(kind, items, first.element, spot)
    if not call.args:
        return Seq(kind, [], spot=spot)
    members = loops.unrolled(first)
    if members and name in ("list", "tuple"):
        return Seq(kind, members, spot=spot)
    return Seq(kind, None, _elements(run, call), spot)


@under(_BUILTINS, "dict")
def _dict(run: Interpreter, name: str, call: Call) -> Value:
    first = _first(call)
    made = Dict({k: v for k, (v, _) in call.kwargs.items()}, spot=call.spot)
    if isinstance(first, Dict):
        made.items = {**first.items, **made.items}
        made.element = first.element
    elif isinstance(first, Iter) and isinstance(first.element, Seq):
        pair = first.element.items or []
        made.element = pair[1] if len(pair) == 2 else None
    return made


@under(_BUILTINS, "isinstance")
def _isinstance(run: Interpreter, name: str, call: Call) -> Value:
    if len(call.args) != 2:
        return SCALAR
    return narrowing.is_instance(_first(call), call.args[1][0])


@under(_BUILTINS, "hasattr")
def _hasattr(run: Interpreter, name: str, call: Call) -> Value:
    if len(call.args) != 2:
        return SCALAR
    return narrowing.has_attribute(_first(call), call.args[1][0])


@under(_BUILTINS, "getattr")
def _getattr(run: Interpreter, name: str, call: Call) -> Value:
    return classes.got(run, call.args, call.spot, call.scope)


@under(_BUILTINS, "setattr")
def _setattr(run: Interpreter, name: str, call: Call) -> Value:
    if len(call.args) == 3:
        value = call.args[2][0]
        classes.put(run, _first(call), call.args[1], value, call.spot, call.scope)
    return NONE


@under(_BUILTINS, "vars")
def _vars(run: Interpreter, name: str, call: Call) -> Value:
    if not call.args:
        return _globals(run, name, call) if call.scope.globals is call.scope else UNKNOWN
    first = _first(call)
    if isinstance(first, (Namespace, External)):
        return first
    return Dict(first.attrs) if isinstance(first, Instance) else UNKNOWN


@under(_BUILTINS, "globals")
def _globals(run: Interpreter, name: str, call: Call) -> Value:
    return namespaces.of_file(call.scope)


@under(_BUILTINS, "__import__")
def _import(run: Interpreter, name: str, call: Call) -> Value:
    given = _first(call) if len(call.args) == 1 else UNKNOWN
    if type(given) is Const and isinstance(given.value, str) and "." not in given.value:
        return namespaces.imported(run, given.value, call.scope)
    return UNKNOWN


@under(_BUILTINS, "staticmethod", "classmethod")
def _static(run: Interpreter, name: str, call: Call) -> Value:
    first = _first(call)
    if not isinstance(first, Func):
        return UNKNOWN
    return Func(first.node, first.scope, None, first.cls, name)


@under(_BUILTINS, "property")
def _property(run: Interpreter, name: str, call: Call) -> Value:
    return made_property(call.args, call.kwargs)


@under(_BUILTINS, "object.__new__")
def _new(run: Interpreter, name: str, call: Call) -> Value:
    first = _first(call)
    if not isinstance(first, Class):
        return UNKNOWN
    return instances.new_object(run, first, call.spot, call.scope)


def made_property(args: list[Arg], kwargs: dict[str, Arg]) -> Value:
    """Return what `property(get, set)` makes."""
    get = args[0] if args else kwargs.get("fget")
    put = args[1] if len(args) > 1 else kwargs.get("fset")
    if get is None or not isinstance(get[0], Func):
        return UNKNOWN
    getter = Func(get[0].node, get[0].scope, None, get[0].cls, "property")
    if put is None or not isinstance(put[0], Func):
        return getter
    setter = Func(put[0].node, put[0].scope, None, put[0].cls, "setter")
    setter.getter = getter
    return setter
