"""Methods of lists, tuples, sets and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference.models import module_methods
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Scope
from samedevice.inference.values import (
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def extend(run: Interpreter, owner: Seq, other: Value) -> None:
    """Add the members of a container to a list."""
    if isinstance(other, (Seq, Iter)):
        members = list(other.members()) if isinstance(other, Seq) else [other.element]
        for member in members:
            append(run, owner, member)


def append(run: Interpreter, owner: Seq, value: Value, spot: Location | None = None) -> None:
    """Add a member to a list: how many there are is not known any more."""
    run.trail.note(owner)
    if spot is None or not isinstance(value, Tensor):
        owner.added = None
    elif owner.added is not None and all(spot.node is not s.node for _, s in owner.added):
        owner.added = (*owner.added, (value, spot))
    for member in owner.items or ():
        owner.element = run.join(owner.element, member)
    owner.items = None
    owner.element = run.join(owner.element, value)


def sequence_method(
    run: Interpreter, owner: Seq, name: str, args: list[Arg], spot: Location, scope: Scope
) -> Value:
    """Call a method of a list, tuple, set or deque."""
    values = [value for value, _ in args]
    if name in ("append", "appendleft", "add") and values:
        append(run, owner, *args[0])
        return NONE
    if name == "insert" and len(values) == 2:
        append(run, owner, values[1])
        return NONE
    if name in ("extend", "update", "extendleft") and values:
        extend(run, owner, values[0])
        return NONE
    if name in ("pop", "popleft", "__getitem__"):
        return run.iterate(owner, spot, scope)
    if name in ("copy", "union", "difference", "__iter__"):
        return owner
    return NONE if name in ("sort", "reverse", "clear", "remove") else SCALAR


def dict_method(
    run: Interpreter,
    owner: Dict,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method of a dictionary."""
    joined: Value | None = None
    for member in owner.members():
        joined = run.join(joined, member)
    element = joined if joined is not None else UNKNOWN
    if name == "items":
        return Iter(Seq("tuple", [SCALAR, element]), owner)
    if name == "values":
        return Iter(element, owner)
    if name == "keys":
        return Iter(SCALAR, owner)
    if name == "setdefault" and len(args) > 1:
        return _member_or_new(run, owner, args[0][0], args[1][0])
    if name in ("get", "pop", "setdefault") and args:
        key = args[0][0]
        if isinstance(key, Const):
            if key.value in owner.items:
                return owner.items[key.value]
            # It is none of the members with other keys.
            element = owner.element if owner.element is not None else UNKNOWN
            if len(args) > 1 and owner.element is None:
                return args[1][0]
        return run.join(args[1][0], element) if len(args) > 1 else element
    if name == "update":
        module_methods.add_to_state(owner, args)
        if args and isinstance(args[0][0], Dict):
            for entry, member in args[0][0].items.items():
                run.trail.put(owner.items, entry, member)
            if args[0][0].element is not None:
                run.trail.note(owner)
                owner.element = run.join(owner.element, args[0][0].element)
        for entry, (member, _) in kwargs.items():
            run.trail.put(owner.items, entry, member)
        return NONE
    return owner if name == "copy" else UNKNOWN


def _member_or_new(run: Interpreter, owner: Dict, key: Value, new: Value) -> Value:
    """Return the member under a key, which is put there if it is missing: what is added stays."""
    if isinstance(key, Const):
        if key.value not in owner.items:
            # What is under keys that are not known may be under this one.
            run.trail.put(owner.items, key.value, run.join(owner.element, new))
        return owner.items[key.value]
    member: Value | None = None
    for each in owner.members():
        member = run.join(member, each)
    run.trail.note(owner)
    owner.element = run.join(member, new)
    return owner.element
