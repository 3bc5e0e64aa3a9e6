"""contextlib: what its managers give where they are entered, and which of them swallow errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls, exits
from samedevice.inference.models import Call, methods, model
from samedevice.inference.objects import Instance
from samedevice.inference.values import NONE, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("contextlib.suppress")
def suppress(run: Interpreter, call: Call) -> Value:
    """What swallows errors of its body: control continues after it."""
    return Instance("suppressing")


@model("contextlib.nullcontext", "contextlib.closing", "contextlib.aclosing")
def entered(run: Interpreter, call: Call) -> Value:
    """A manager that gives the object that it was made of."""
    made = Instance("entered")
    given = call.args[0] if call.args else call.kwargs.get("enter_result")
    made.attrs["value"] = given[0] if given is not None else NONE
    return made


@methods("entered")
def entered_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Enter and leave."""
    return owner.attrs["value"] if name in ("__enter__", "__aenter__") else NONE


@model("contextlib.ExitStack", "contextlib.AsyncExitStack")
def stack(run: Interpreter, call: Call) -> Value:
    """Several managers that are left together."""
    return Instance("exitstack")


@methods("exitstack")
def stack_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Enter another manager, or note a function to be called at the end."""
    match name:
        case "__enter__" | "pop_all":
            return owner
        case "enter_context" | "enter_async_context" if call.args:
            asynchronous = name == "enter_async_context"
            return exits.enter(run, *call.args[0], call.scope, asynchronous=asynchronous)
        case "callback" | "push_async_callback" if call.args:
            calls.apply(run, call.args[0][0], call.args[1:], call.kwargs, call.spot, call.scope)
        case "push" if call.args:
            return call.args[0][0]
    return NONE
