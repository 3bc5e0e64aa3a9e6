"""The constraint graph: how places spread along each relation, and what clashes."""

from __future__ import annotations

import ast
from time import process_time

import pytest

from samedevice.inference.graph import Graph
from samedevice.inference.nodes import Clash, Location, Place, PlaceVar

HOST, CENTRAL, FIXED, FOLLOWS = Place.HOST, Place.CENTRAL, Place.FIXED, Place.FOLLOWS


def spot(name: str = "x") -> Location:
    return Location("a.py", ast.Name(name))


def pinned(graph: Graph, place: Place | None, name: str = "") -> PlaceVar:
    """Return a node that is certainly at `place`, or one whose place is open."""
    node = graph.node()
    if place is not None:
        graph.pin(node, place, spot(), name)
    return node


def meet(graph: Graph, left: PlaceVar, right: PlaceVar) -> tuple[Location, Location, Location]:
    spots = spot("left"), spot("right"), spot("operation")
    graph.meet(left, spots[0], right, spots[1], spots[2])
    return spots


def clashed(graph: Graph) -> list[Clash]:
    graph.solve()
    return graph.clashes


def color(node: PlaceVar) -> Place | None:
    return node.find().place


# -- pins and merging --------------------------------------------------------------------------


def test_what_nothing_says_stays_open() -> None:
    graph = Graph()
    left, right = graph.node(), graph.node()
    meet(graph, left, right)
    graph.flow(left, graph.node())
    assert not clashed(graph)
    assert all(node.place is None for node in graph.nodes)


def test_the_first_pin_stands() -> None:
    graph = Graph()
    node = pinned(graph, HOST)
    graph.pin(node, CENTRAL, spot())
    graph.solve()
    assert color(node) is HOST


@pytest.mark.parametrize("place", [HOST, CENTRAL, FIXED, FOLLOWS])
def test_a_merged_node_has_the_pin_of_either(place: Place) -> None:
    for first in (0, 1):
        graph = Graph()
        pair = [pinned(graph, place, "name"), graph.node()]
        graph.same(pair[first], pair[1 - first])
        graph.solve()
        assert pair[0].find() is pair[1].find()
        assert color(pair[1]) is place
        assert pair[1].find().name == "name"


def test_relations_survive_merging() -> None:
    graph = Graph()
    device, free, alias, result = pinned(graph, CENTRAL), graph.node(), graph.node(), graph.node()
    meet(graph, device, free)
    graph.flow(alias, result)
    graph.same(alias, free)
    graph.same(result, graph.node())
    graph.solve()
    assert color(alias) is color(result) is CENTRAL


def test_a_long_chain_of_names_is_one_node() -> None:
    graph = Graph()
    nodes = [graph.node() for _ in range(20_000)]
    for left, right in zip(nodes, nodes[1:], strict=False):
        graph.same(right, left)
    graph.pin(nodes[0], CENTRAL, spot())
    graph.solve()
    assert color(nodes[-1]) is CENTRAL
    assert len({id(node.find()) for node in nodes}) == 1


def test_solving_again_forgets_nothing_and_doubles_nothing() -> None:
    graph = Graph()
    device, host, free = pinned(graph, CENTRAL), pinned(graph, HOST), graph.node()
    meet(graph, device, host)
    assert len(clashed(graph)) == 1
    graph.pin(free, CENTRAL, spot())
    meet(graph, free, host)
    assert len(clashed(graph)) == 2
    assert color(device) is color(free) is CENTRAL


# -- meets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [CENTRAL, FOLLOWS])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_free_goes_where_it_meets_the_device(place: Place, turned: bool) -> None:
    graph = Graph()
    device, free = pinned(graph, place), graph.node()
    pair = (free, device) if turned else (device, free)
    _, _, operation = meet(graph, *pair)
    assert not clashed(graph)
    assert color(free) is place
    assert free.find().reason is operation


@pytest.mark.parametrize("place", [HOST, FIXED])
def test_what_is_firmly_elsewhere_pulls_nothing(place: Place) -> None:
    graph = Graph()
    firm, free = pinned(graph, place), graph.node()
    meet(graph, firm, free)
    assert not clashed(graph)
    assert color(free) is None


@pytest.mark.parametrize("place", [CENTRAL, FOLLOWS, FIXED])
@pytest.mark.parametrize("turned", [False, True])
def test_a_host_value_that_meets_the_device_clashes(place: Place, turned: bool) -> None:
    graph = Graph()
    device, host = pinned(graph, place), pinned(graph, HOST)
    pair = (host, device) if turned else (device, host)
    spots = meet(graph, *pair)
    (clash,) = clashed(graph)
    assert clash.node is host
    assert clash.other is device
    assert clash.spot is spots[0 if turned else 1]
    assert not clash.to_host


def test_two_named_devices_clash_unless_they_are_the_same() -> None:
    for other, count in (("cuda:0", 0), ("cuda:1", 1)):
        graph = Graph()
        meet(graph, pinned(graph, FIXED, "cuda:0"), pinned(graph, FIXED, other))
        assert len(clashed(graph)) == count


def test_the_device_and_a_named_one_clash() -> None:
    graph = Graph()
    meet(graph, pinned(graph, CENTRAL), pinned(graph, FIXED, "cuda:1"))
    assert len(clashed(graph)) == 1


def test_the_device_comes_before_what_follows_an_input() -> None:
    graph = Graph()
    free = graph.node()
    meet(graph, pinned(graph, FOLLOWS), free)
    meet(graph, free, pinned(graph, CENTRAL))
    graph.solve()
    assert color(free) is CENTRAL


def test_what_only_may_be_a_tensor_demands_nothing() -> None:
    graph = Graph()
    guess, free = pinned(graph, FOLLOWS), graph.node()
    guess.is_tensor = False
    meet(graph, guess, free)
    graph.solve()
    assert color(free) is None


def test_a_value_meets_itself_in_peace() -> None:
    graph = Graph()
    host = pinned(graph, HOST)
    meet(graph, host, host)
    assert not clashed(graph)
    assert not host.meets


# -- flows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [HOST, CENTRAL, FIXED, FOLLOWS])
def test_a_result_is_where_its_operand_is(place: Place) -> None:
    graph = Graph()
    source, middle, result = pinned(graph, place), graph.node(), graph.node()
    graph.flow(source, middle)
    graph.flow(middle, result)
    graph.solve()
    assert color(result) is place


def test_a_result_of_host_and_device_is_on_the_device() -> None:
    graph = Graph()
    result = graph.node()
    graph.flow(pinned(graph, HOST), result)
    graph.flow(pinned(graph, CENTRAL), result)
    graph.solve()
    assert color(result) is CENTRAL


def test_a_result_that_the_device_needs_pulls_its_operands() -> None:
    graph = Graph()
    source, result = graph.node(), graph.node()
    graph.flow(source, result)
    meet(graph, result, pinned(graph, CENTRAL))
    graph.solve()
    assert color(source) is CENTRAL


def test_one_branch_on_the_device_does_not_pull_the_other() -> None:
    for agrees, expected in ((False, None), (True, CENTRAL)):
        graph = Graph()
        other, result = graph.node(), graph.node()
        graph.flow(pinned(graph, CENTRAL), result)
        graph.flow(other, result)
        result.agrees = agrees
        graph.solve()
        assert color(other) is expected


def test_a_result_of_the_host_moves_when_an_operand_turns_out_to_be_on_the_device() -> None:
    graph = Graph()
    free, result = graph.node(), graph.node()
    graph.flow(pinned(graph, HOST), result)
    graph.flow(free, result)
    meet(graph, free, pinned(graph, CENTRAL))
    graph.solve()
    assert color(result) is CENTRAL


# -- index and number --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["index", "number"])
def test_only_a_host_tensor_indexed_from_the_device_clashes(kind: str) -> None:
    for base_place, index_place, count in ((HOST, CENTRAL, 1), (CENTRAL, HOST, 0)):
        graph = Graph()
        base, index = pinned(graph, base_place), pinned(graph, index_place)
        index_spot = spot("i")
        graph.index(base, spot("base"), index, index_spot, spot(), kind=kind)
        found = clashed(graph)
        assert len(found) == count
        for clash in found:
            assert clash.to_host
            assert clash.node is index
            assert clash.spot is index_spot


def test_what_the_device_indexes_goes_there_and_not_the_other_way() -> None:
    graph = Graph()
    base, index = graph.node(), graph.node()
    graph.index(base, spot(), pinned(graph, CENTRAL), spot(), spot())
    graph.index(pinned(graph, CENTRAL), spot(), index, spot(), spot())
    graph.solve()
    assert color(base) is CENTRAL
    assert color(index) is None


# -- batches, stores, hosts --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "expected"), [(CENTRAL, CENTRAL), (FIXED, FIXED), (HOST, None), (None, None)]
)
def test_a_batch_is_on_the_device_only_with_its_data(
    place: Place | None, expected: Place | None
) -> None:
    graph = Graph()
    batch = graph.node()
    graph.batch(pinned(graph, place), batch)
    graph.solve()
    assert color(batch) is expected


@pytest.mark.parametrize("place", [CENTRAL, FOLLOWS])
def test_what_is_filled_from_the_device_goes_there(place: Place) -> None:
    graph = Graph()
    buffer = graph.node()
    graph.store(pinned(graph, place), buffer)
    assert not clashed(graph)
    assert color(buffer) is place


@pytest.mark.parametrize("place", [CENTRAL, FOLLOWS])
def test_what_is_filled_from_the_device_stays_with_what_it_meets(place: Place) -> None:
    graph = Graph()
    buffer, user = graph.node(), graph.node()
    graph.store(pinned(graph, place), buffer)
    meet(graph, buffer, user)
    assert not clashed(graph)
    assert color(buffer) is color(user) is None


def test_what_is_read_as_an_array_is_not_moved_by_what_fills_it() -> None:
    graph = Graph()
    buffer = graph.node()
    buffer.read_there = True
    graph.store(pinned(graph, CENTRAL), buffer)
    assert not clashed(graph)
    assert color(buffer) is None


def test_what_is_filled_from_two_places_stays_where_it_is() -> None:
    graph = Graph()
    buffer, host = graph.node(), pinned(graph, HOST)
    graph.store(pinned(graph, CENTRAL), buffer)
    graph.store(pinned(graph, HOST), buffer)
    graph.store(pinned(graph, CENTRAL), host)
    assert not clashed(graph)
    assert color(buffer) is None
    assert color(host) is HOST


def test_what_the_host_reads_stays_there() -> None:
    graph = Graph()
    data, free = graph.node(), graph.node()
    data.host_required_at = spot("numpy")
    meet(graph, data, free)
    graph.solve()
    assert color(data) is HOST
    assert color(free) is None


# -- cost --------------------------------------------------------------------------------------


def _solved(size: int) -> float:
    """Return the seconds that a chain of `size` operations and one hub that meets all take."""
    graph = Graph()
    hub = pinned(graph, CENTRAL)
    last = graph.node()
    for _ in range(size):
        node = graph.node()
        graph.flow(last, node)
        meet(graph, hub, node)
        graph.index(node, spot(), last, spot(), spot())
        last = node
    start = process_time()
    graph.solve()
    seconds = process_time() - start
    assert color(last) is CENTRAL
    return seconds


def test_the_cost_is_linear_in_the_graph() -> None:
    small = min(_solved(1_000) for _ in range(3))
    large = min(_solved(8_000) for _ in range(3))
    assert large < 32 * small  # 8 times as much; quadratic would be 64 times
