"""Which function evaluates which kind of node of the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from samedevice.inference.objects import Scope
from samedevice.inference.values import Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What gives an expression's value.
Evaluator = Callable[["Interpreter", Any, Scope], Value]
#: What a statement does; it tells whether control never continues after it.
Executor = Callable[["Interpreter", Any, Scope], bool]

EVALUATORS: dict[type[ast.AST], Evaluator] = {}
EXECUTORS: dict[type[ast.AST], Executor] = {}

_Key = TypeVar("_Key")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def under(table: dict[_Key, _Function], *keys: _Key) -> Callable[[_Function], _Function]:
    """Register a function in a table."""

    def register(function: _Function) -> _Function:
        table.update(dict.fromkeys(keys, function))
        return function

    return register


def evaluates(*kinds: type[ast.AST]) -> Callable[[Evaluator], Evaluator]:
    """Register the function that evaluates these kinds of expressions."""
    return under(EVALUATORS, *kinds)


def executes(*kinds: type[ast.AST]) -> Callable[[Executor], Executor]:
    """Register the function that evaluates these kinds of statements."""
    return under(EXECUTORS, *kinds)


def later(name: str) -> tuple[type[ast.AST], ...]:
    """Return a kind of node that not every supported Python has: one, or none."""
    kind = getattr(ast, name, None)
    return (kind,) if kind is not None else ()
