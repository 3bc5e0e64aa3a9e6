"""Every kind of fact, expression and statement has a function that evaluates it."""

from __future__ import annotations

import ast

import pytest

from samedevice.inference import interpret, models
from samedevice.inference.dispatch import EVALUATORS, EXECUTORS
from samedevice.torchfacts import libraries, store


def _is_table(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(e, tuple) and len(e) == 3 for e in value)


def _kinds() -> set[str]:
    kinds = {entry[0] for table in vars(libraries).values() if _is_table(table) for entry in table}
    return kinds | {fact.kind for fact in store.torch_data().facts.values()}


@pytest.mark.parametrize("name", sorted(_kinds()))
def test_a_kind_of_fact_has_a_handler(name: str) -> None:
    assert callable(models.of_kind(name))


def test_kinds_of_nodes_are_evaluated() -> None:
    assert interpret.Interpreter  # whose modules register what they evaluate
    assert {kind.__name__ for kind in set(ast.stmt.__subclasses__()) - set(EXECUTORS)} <= {
        "Pass",
        "TypeAlias",
    }
    assert {kind.__name__ for kind in set(ast.expr.__subclasses__()) - set(EVALUATORS)} <= {
        "FormattedValue",  # a part of an f-string
        "Interpolation",
        "TemplateStr",
    }
