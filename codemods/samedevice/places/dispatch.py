"""Which function evaluates which kind of node of the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from samedevice.places.values import Scope, Value

if TYPE_CHECKING:
    from samedevice.places.interpret import Interpreter

#: What gives an expression's value.
Evaluator = Callable[["Interpreter", Any, Scope], Value]
#: What a statement does; it tells whether control never continues after it.
Executor = Callable[["Interpreter", Any, Scope], bool]

EVALUATORS: dict[type[ast.AST], Evaluator] = {}
EXECUTORS: dict[type[ast.AST], Executor] = {}

_Evaluator = TypeVar("_Evaluator", bound=Evaluator)
_Executor = TypeVar("_Executor", bound=Executor)


def evaluates(*kinds: type[ast.AST]) -> Callable[[_Evaluator], _Evaluator]:
    """Register the function that evaluates these kinds of expressions."""

    def register(function: _Evaluator) -> _Evaluator:
        EVALUATORS.update(dict.fromkeys(kinds, function))
        return function

    return register


def executes(*kinds: type[ast.AST]) -> Callable[[_Executor], _Executor]:
    """Register the function that evaluates these kinds of statements."""

    def register(function: _Executor) -> _Executor:
        EXECUTORS.update(dict.fromkeys(kinds, function))
        return function

    return register


def later(name: str) -> tuple[type[ast.AST], ...]:
    """Return a kind of node that not every supported Python has: one, or none."""
    kind = getattr(ast, name, None)
    return (kind,) if kind is not None else ()
