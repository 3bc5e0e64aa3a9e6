"""The laws of joins, whatever the values are; and what a path leaves when another one begins."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from samedevice.inference.environment import Trail
from samedevice.inference.graph import Graph
from samedevice.inference.lattice import Lattice
from samedevice.inference.nodes import Place
from samedevice.inference.objects import Scope
from samedevice.inference.values import (
    ARRAY,
    NONE,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Const,
    Dict,
    Doubt,
    Iter,
    Seq,
    Tensor,
    Texts,
    Value,
)

GRAPH = Graph()
LATTICE = Lattice(GRAPH)


def tensor(scalar: bool, doubt: Doubt) -> Tensor:
    made = Tensor(GRAPH.node(), scalar=scalar)
    made.doubt = doubt
    return made


plain = st.one_of(
    st.sampled_from([UNKNOWN, SCALAR, ARRAY, NONE, NOTHING]),
    st.sampled_from(["cuda", "mean", 1, 2.5, True]).map(Const),
    st.builds(tensor, st.booleans(), st.sampled_from(Doubt)),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Seq("list", items)),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(Dict),
        inner.map(Iter),
    ),
    max_leaves=6,
)


def told(value: Value | None, depth: int = 8) -> object:
    """Return what a value says, without its places."""
    match value:
        case Tensor():
            return "tensor", value.scalar, value.doubt
        case Const(value=held):
            return "constant", type(held), held
        case Texts(options=options):
            return "texts", {option.value for option in options}
        case Seq(items=items, element=element):
            parts = [told(item, depth - 1) for item in items] if items is not None else None
            return "sequence", parts, told(element, depth - 1)
        case Dict(items=items, element=element):
            return "dict", {k: told(v, depth - 1) for k, v in items.items()}, told(element)
        case Iter(element=element):
            return "iterator", told(element, depth - 1)
    return value


@settings(deadline=None)
@given(values, values)
def test_joins_commute(left: Value, right: Value) -> None:
    assert told(LATTICE.join(left, right)) == told(LATTICE.join(right, left))


@settings(deadline=None)
@given(plain, plain, plain)
def test_joins_associate(one: Value, two: Value, three: Value) -> None:
    join = LATTICE.join
    assert told(join(join(one, two), three)) == told(join(one, join(two, three)))


@settings(deadline=None)
@given(values)
def test_joins_are_idempotent(value: Value) -> None:
    assert told(LATTICE.join(value, value)) == told(value)


def placed(*places: Place | None) -> Place | None:
    """Return where a value is that may come from several places."""
    graph = Graph()
    sources = [graph.node() for _ in places]
    for source, place in zip(sources, places, strict=True):
        if place is not None:
            graph.pin(source, place, None)
    joined = graph.joined(*sources)
    graph.solve()
    return joined.place


def test_a_joined_value_is_on_the_device_only_when_all_of_its_paths_are() -> None:
    central, host = Place.CENTRAL, Place.HOST
    assert placed(central, central) is central
    assert placed(central, None) is None
    assert placed(None, central, central) is None
    assert placed(central, host) is not central


def test_what_a_path_writes_is_taken_back_when_another_begins() -> None:
    trail = Trail(LATTICE.join, Graph().joined)
    scope = Scope("main.py", ast.Module([], []), None)
    attrs: dict[object, Value] = {"kept": SCALAR}
    held = Seq("list", [SCALAR])
    fork = trail.fork(scope)
    scope.names["x"] = ARRAY
    trail.put(attrs, "new", ARRAY)
    trail.put(attrs, "kept", UNKNOWN)
    trail.note(held)
    held.items, held.element = None, ARRAY
    state = trail.leave(scope, fork)
    assert "x" not in scope.names and attrs == {"kept": SCALAR}
    assert held.items == [SCALAR] and held.element is None
    other = trail.leave(scope, fork)
    trail.resume(scope, [state, other])
    trail.close()
    assert scope.names["x"] is ARRAY and attrs["new"] is ARRAY
    assert held.items is None and held.element is ARRAY
