"""Calls that are nested deeper than one stack of Python's holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_Result = TypeVar("_Result")

#: Nested calls on one stack; `interpret._FRAMES` has room for them.
_CALLS = 100
#: Bytes that a stack may take, which Python 3.10 uses for its frames.
_STACK = 64 << 20


def nested(run: Interpreter, work: Callable[[], _Result]) -> _Result:
    """Do what evaluates a call: each hundredth within others on a new stack.

    A recursion limit holds for each thread by itself, so that there is no deepest call.
    """
    run.nested += 1
    try:
        return work() if run.nested % _CALLS else _on_new_stack(work)
    finally:
        run.nested -= 1


def _on_new_stack(work: Callable[[], _Result]) -> _Result:
    """Do something in a thread, which the present one waits for."""
    found: list[_Result] = []
    raised: list[BaseException] = []

    def begin() -> None:
        try:
            found.append(work())
        except BaseException as error:
            raised.append(error)

    usual = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    if raised:
        raise raised[0]
    return found[0]
