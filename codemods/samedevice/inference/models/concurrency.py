"""Pools, futures, queues and asyncio: how values travel between what runs at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from samedevice.inference import calls, expressions
from samedevice.inference.models import Call, builtin_types, methods, model
from samedevice.inference.objects import Instance
from samedevice.inference.values import NONE, SCALAR, UNKNOWN, Arg, Iter, Seq, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: What a pool is called whose functions run in other processes.
_PROCESSES = "processes"


def _future(result: Value) -> Instance:
    made = Instance("future")
    made.attrs["result"] = result
    return made


def _called(run: Interpreter, call: Call, args: list[Arg]) -> Value:
    """Return what a function gives that is the first of these arguments, before its own."""
    if not args:
        return UNKNOWN
    return calls.apply(run, args[0][0], args[1:], call.kwargs, call.spot, call.scope)


def _mapped(run: Interpreter, call: Call) -> Value:
    """Return what a function gives for the members of the iterables after it."""
    if not call.args:
        return UNKNOWN
    members = [(run.iterate(v, where, call.scope), where) for v, where in call.args[1:]]
    return calls.apply(run, call.args[0][0], members, {}, call.spot, call.scope)


@model(
    "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread.ThreadPoolExecutor",
    "multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool",
)  # fmt: skip
def pool(run: Interpreter, call: Call) -> Value:
    """A pool of threads; its functions are evaluated where they are handed in."""
    return Instance("pool")


@model(
    "concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor",
    "multiprocessing.Pool", "multiprocessing.pool.Pool", "torch.multiprocessing.Pool",
)  # fmt: skip
def process_pool(run: Interpreter, call: Call) -> Value:
    """A pool of processes, which are forked unless the program says otherwise."""
    made = Instance("pool", _PROCESSES)
    start = call.kwargs.get("initializer")
    if start is not None:
        given = call.kwargs.get("initargs", (NONE, call.spot))[0]
        members = given.items if isinstance(given, Seq) and given.items is not None else []
        with _elsewhere(run, call):
            _called(run, call, [start, *((value, call.spot) for value in members)])
    return made


@contextmanager
def _elsewhere(run: Interpreter, call: Call) -> Iterator[None]:
    """Evaluate what a call hands to other processes."""
    outer, run.process = run.process, call.spot
    try:
        yield
    finally:
        run.process = outer


@methods("pool")
def pool_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """`submit` gives a future, `map` what the function gives for each member."""
    if owner.name == _PROCESSES and name != "__enter__":
        with _elsewhere(run, call):
            return _handed_in(run, name, call)
    return owner if name == "__enter__" else _handed_in(run, name, call)


def _handed_in(run: Interpreter, name: str, call: Call) -> Value:
    match name:
        case "submit":
            return _future(_called(run, call, call.args))
        case "apply":
            return _applied(run, call)
        case "apply_async":
            return _future(_applied(run, call))
        case "map_async":
            return _future(Seq("list", None, _mapped(run, call)))
        case "map" | "imap" | "imap_unordered":
            return Iter(_mapped(run, call))
        case "starmap" if len(call.args) > 1:
            row = run.iterate(*call.args[1], call.scope)
            given = row.items if isinstance(row, Seq) and row.items is not None else [UNKNOWN]
            args = [(value, call.args[1][1]) for value in given]
            return Seq(
                "list", None, calls.apply(run, call.args[0][0], args, {}, call.spot, call.scope)
            )
    return NONE


def _applied(run: Interpreter, call: Call) -> Value:
    """Return what `apply(function, args, kwds)` gives."""
    if not call.args:
        return UNKNOWN
    given = call.args[1][0] if len(call.args) > 1 else NONE
    members = given.items if isinstance(given, Seq) and given.items is not None else []
    args = [(value, call.args[1][1]) for value in members]
    return calls.apply(run, call.args[0][0], args, {}, call.spot, call.scope)


@methods("future")
def future_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """`result()` is what the function gave; a callback is called with the future."""
    match name:
        case "result" | "get" | "wait":
            return expressions.outcome(owner)
        case "set_result" if call.args:
            run.trail.put(owner.attrs, "result", call.args[0][0])
        case "add_done_callback" if call.args:
            calls.apply(run, call.args[0][0], [(owner, call.spot)], {}, call.spot, call.scope)
        case "done" | "cancelled" | "cancel" | "running" | "ready" | "successful":
            return SCALAR
    return NONE


@model("concurrent.futures.Future", "asyncio.Future")
def future(run: Interpreter, call: Call) -> Value:
    """A future that somebody gives a result later."""
    return Instance("future")


@model("concurrent.futures.as_completed", "asyncio.as_completed")
def as_completed(run: Interpreter, call: Call) -> Value:
    """The futures, in another order."""
    return Iter(run.iterate(*call.args[0], call.scope)) if call.args else UNKNOWN


@model("concurrent.futures.wait", "asyncio.wait")
def waited(run: Interpreter, call: Call) -> Value:
    """The futures that are done, and those that are not."""
    if not call.args:
        return UNKNOWN
    member = run.iterate(*call.args[0], call.scope)
    return Seq("tuple", [Seq("set", None, member), Seq("set", None, member)])


@model(
    "queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue", "asyncio.Queue",
    "asyncio.LifoQueue", "asyncio.PriorityQueue",
)  # fmt: skip
def queue(run: Interpreter, call: Call) -> Value:
    """A queue within one process; what is put in comes out."""
    made = Instance("queue")
    made.attrs["members"] = Seq("list", [], spot=call.spot)
    return made


@methods("queue")
def queue_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """`put` and `get`."""
    members = owner.attrs["members"]
    assert isinstance(members, Seq)
    match name:
        case "put" | "put_nowait":
            item = call.args[0] if call.args else call.kwargs.get("item")
            if item is not None:
                builtin_types.append(run, members, item[0])
            return NONE
        case "get" | "get_nowait":
            return run.iterate(members, call.spot, call.scope)
        case "qsize" | "empty" | "full":
            return SCALAR
    return NONE


@model("asyncio.run", "asyncio.wait_for", "asyncio.shield")
def awaited(run: Interpreter, call: Call) -> Value:
    """What a coroutine gives."""
    return expressions.outcome(call.args[0][0]) if call.args else UNKNOWN


@model("asyncio.create_task", "asyncio.ensure_future", "asyncio.run_coroutine_threadsafe")
def task(run: Interpreter, call: Call) -> Value:
    """A task, whose result is what the coroutine gives."""
    return _future(expressions.outcome(call.args[0][0])) if call.args else UNKNOWN


@model("asyncio.gather")
def gathered(run: Interpreter, call: Call) -> Value:
    """The results of several coroutines, in order."""
    return Seq("list", [expressions.outcome(value) for value, _ in call.args])


@model("asyncio.to_thread")
def to_thread(run: Interpreter, call: Call) -> Value:
    """What a function gives in a thread."""
    return _called(run, call, call.args)


@model("asyncio.get_event_loop", "asyncio.get_running_loop", "asyncio.new_event_loop")
def loop(run: Interpreter, call: Call) -> Value:
    """An event loop."""
    return Instance("eventloop")


@model("asyncio.TaskGroup", "asyncio.Runner")
def group(run: Interpreter, call: Call) -> Value:
    """What runs tasks as an event loop does."""
    return Instance("eventloop")


@methods("eventloop")
def loop_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Run coroutines, make tasks of them, or call functions in threads."""
    match name:
        case "__enter__":
            return owner
        case "run_until_complete" | "run":
            return expressions.outcome(call.args[0][0]) if call.args else UNKNOWN
        case "create_task":
            return _future(expressions.outcome(call.args[0][0])) if call.args else UNKNOWN
        case "create_future":
            return Instance("future")
        case "run_in_executor":
            return _future(_called(run, call, call.args[1:]))
        case "call_soon" | "call_soon_threadsafe":
            _called(run, call, call.args)
        case "call_later" | "call_at":
            _called(run, call, call.args[1:])
    return NONE
