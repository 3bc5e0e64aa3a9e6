"""Where a device's name comes from is one list: no source is asked beside it."""

from __future__ import annotations

import inspect
from types import ModuleType

from samedevice.repair import (
    at_hand,
    handing,
    named,
    own_object,
    placed,
    processes,
    ranking,
    resolvers,
    spoken,
)

_HOMES = (at_hand, handing, named, own_object, placed, processes, resolvers, spoken)


def _sources(module: ModuleType) -> set[object]:
    """Return the public functions of a module that answer what is asked."""
    return {
        function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and function.__annotations__ == {"asked": "Asked", "return": "DeviceExpression | None"}
    }


def test_every_source_has_its_rank() -> None:
    known = [source for home in _HOMES for source in _sources(home)]
    assert len(known) > 10
    assert set(known) == set(ranking.RANKING)
    assert len(ranking.RANKING) == len(set(ranking.RANKING))


def test_the_function_comes_first_and_a_resolver_last() -> None:
    order = [source.__module__.rpartition(".")[2] for source in ranking.RANKING]  # type: ignore[attr-defined]
    assert order[0] == "spoken"
    assert order.index("at_hand") < order.index("named") < order.index("handing")
    assert order[-1] == "resolvers"
