"""Python's built-in functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.places import calls, classes, instances, narrowing, operators
from samedevice.places.graph import Spot
from samedevice.places.values import (
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Device,
    Dict,
    Ext,
    Func,
    Iter,
    Klass,
    Obj,
    Rank,
    Scope,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.places.interpret import Interpreter

#: Members that a function is mapped over one by one; more are joined first.
_MAPPED = 8


def builtin(
    run: Interpreter, name: str, args: list[Arg], kwargs: dict[str, Arg], spot: Spot, scope: Scope
) -> Value:
    """Call a builtin function."""
    values = [value for value, _ in args]
    first = values[0] if values else UNKNOWN
    match name:
        case "len" | "int" | "float" | "str" | "bool" | "hash" | "id" | "ord" | "repr":
            own = operators.called(run, first, f"__{name}__", [], spot, scope)
            if own is not None:
                return SCALAR
            if name == "str" and isinstance(first, Device):
                return Device(
                    first.node, first.spot, text=True, resolved=first.resolved, rank=first.rank
                )
            if name in ("int", "str") and isinstance(first, Rank):
                return first
            return SCALAR
        case "range":
            return Iter(SCALAR)
        case "enumerate":
            return Iter(Seq("tuple", [SCALAR, run.iterate(first, args[0][1], scope)]), first)
        case "zip":
            members = [run.iterate(v, where, scope) for v, where in args]
            return Iter(Seq("tuple", members))
        case "map":
            if not args:
                return UNKNOWN
            source = values[1] if len(args) == 2 else None
            if isinstance(source, Seq) and source.items and len(source.items) <= _MAPPED:
                where = args[0][1] if isinstance(first, Ext) else spot
                each = [(member, args[1][1]) for member in source.items]
                return Seq("list", [calls.apply(run, first, [e], {}, where, scope) for e in each])
            inner = [(run.iterate(v, where, scope), where) for v, where in args[1:]]
            # What a library's function makes is made where the function is named.
            where = args[0][1] if isinstance(first, Ext) else spot
            return Iter(calls.apply(run, first, inner, {}, where, scope))
        case "filter":
            return Iter(run.iterate(values[1], spot, scope)) if len(values) > 1 else UNKNOWN
        case "iter":
            if isinstance(first, Iter):
                return first
            return Iter(run.iterate(first, args[0][1], scope), first) if args else UNKNOWN
        case "next":
            if isinstance(first, Obj):
                return calls.method(run, first, "__next__", scope, spot.node)
            if len(values) > 1 and isinstance(first, Iter) and first.element is UNKNOWN:
                if isinstance(first.source, Seq) and first.source.items == []:
                    return values[1]
            found = run.iterate(first, args[0][1], scope) if args else UNKNOWN
            return run.join(found, values[1]) if len(values) > 1 else found
        case "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed":
            kind = name if name in ("list", "tuple", "set") else "list"
            if isinstance(first, Seq):
                return Seq(kind, list(first.items) if first.items is not None else None,
                           first.element, spot)  # fmt: skip
            if not args:
                return Seq(kind, [], spot=spot)
            return Seq(kind, None, run.iterate(first, args[0][1], scope), spot)
        case "dict":
            made = Dict({k: v for k, (v, _) in kwargs.items()}, spot=spot)
            if isinstance(first, Dict):
                made.items = {**first.items, **made.items}
                made.element = first.element
            elif isinstance(first, Iter) and isinstance(first.element, Seq):
                pair = first.element.items or []
                made.element = pair[1] if len(pair) == 2 else None
            return made
        case "sum" | "max" | "min":
            if name != "sum" and len(values) == 1 and isinstance(first, Tensor):
                return Tensor(first.node, scalar=True)  # compared as numbers, they are numbers
            if len(values) == 1 or (name == "sum" and values):
                return run.iterate(first, args[0][1], scope)
            return run.join(values[0], values[1]) if len(values) > 1 else SCALAR
        case "abs" | "round" | "pow":
            return first if isinstance(first, Tensor) else SCALAR
        case "isinstance":
            return narrowing.is_instance(first, values[1]) if len(values) == 2 else SCALAR
        case "getattr":
            return classes.got(run, args, spot, scope)
        case "setattr":
            if len(values) == 3:
                classes.put(run, first, args[1], values[2], spot, scope)
            return NONE
        case "open" | "input" | "type" | "callable" | "hasattr" | "any" | "all" | "chr":
            return SCALAR
        case "print":
            return NONE
        case "vars":
            if isinstance(first, Obj):
                return Dict(first.attrs)
        case "staticmethod" | "classmethod" if isinstance(first, Func):
            return Func(first.node, first.scope, None, first.cls, name)
        case "property":
            return made_property(args, kwargs)
        case "object.__new__" if isinstance(first, Klass):
            return instances.new_object(run, first, spot, scope)
    return UNKNOWN


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
