"""Processes and threads, and the number that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import calls, contents, devices
from samedevice.inference.events import Built
from samedevice.inference.models import Call, model
from samedevice.inference.models.options import negative
from samedevice.inference.objects import Func, Instance
from samedevice.inference.values import (
    DEVICE,
    NONE,
    SCALAR,
    CliOption,
    Const,
    ProcessIndex,
    Seq,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("os.environ.setdefault")
def default_of_variable(run: Interpreter, call: Call) -> Value:
    """A variable of the environment, which the program sets if nobody else has."""
    found = variable(run, call)
    if isinstance(found, CliOption) and isinstance(call.args[0][0], Const):
        run.trail.put(run.variables, call.args[0][0].value, found)
    return found


@model("os.getenv", "os.environ.get")
def variable(run: Interpreter, call: Call) -> Value:
    """A variable of the environment: the number of the process, perhaps."""
    default = call.args[1] if len(call.args) > 1 else call.kwargs.get("default")
    key = call.args[0][0] if call.args else NONE
    if isinstance(key, Const) and key.value in devices.RANKS:
        return ProcessIndex(absent=negative(default))
    if isinstance(key, Const) and key.value in run.variables:
        return run.variables[key.value]
    given = default[0] if default is not None else NONE
    if type(given) is Const and isinstance(given.value, str) and DEVICE.fullmatch(given.value):
        return CliOption(given.value, given.spot)  # who says nothing gets that
    return SCALAR


@model("torch.distributed.get_rank", "torch.distributed.get_node_local_rank")
def rank(run: Interpreter, call: Call) -> Value:
    """The number of this process."""
    return ProcessIndex()


@model("torch.multiprocessing.Process", "multiprocessing.Process")
def process(run: Interpreter, call: Call) -> Value:
    """A process runs its target; note one that is handed a module or builds one.

    The method of an object has what the object holds.
    """
    before = len(run.sites)
    started = thread(run, call)
    given = [call.kwargs[name][0] for name in ("args", "kwargs") if name in call.kwargs]
    target = call.kwargs["target"][0] if "target" in call.kwargs else NONE
    if isinstance(target, Func) and isinstance(target.bound, Instance):
        given += [target.bound, *target.bound.attrs.values()]
    if any(map(contents.modules_in, given)) or any(
        isinstance(site, Built) for site in run.sites[before:]
    ):
        run.forks.append(call.spot)
    return started


@model("threading.Thread")
def thread(run: Interpreter, call: Call) -> Value:
    """A thread runs its target with the arguments it is given."""
    target, given = call.kwargs.get("target"), call.kwargs.get("args")
    if target is not None:
        values = given[0] if given is not None else Seq("tuple", [])
        passed = list(values.items or []) if isinstance(values, Seq) else []
        calls.apply(run, target[0], [(v, call.spot) for v in passed], {}, call.spot, call.scope)
    return Instance("process")


@model("torch.multiprocessing.spawn")
def spawned(run: Interpreter, call: Call) -> Value:
    """Each spawned process runs the function with its rank before the arguments."""
    given = call.kwargs.get("args") or (call.args[1] if len(call.args) > 1 else None)
    if call.args:
        values = given[0] if given is not None else Seq("tuple", [])
        passed = list(values.items or []) if isinstance(values, Seq) else []
        calls.apply(
            run,
            call.args[0][0],
            [(v, call.spot) for v in (ProcessIndex(), *passed)],
            {},
            call.spot,
            call.scope,
        )
    return NONE
