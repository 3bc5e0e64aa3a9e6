"""What leaves a block before its end (`return`, `break`, `raise`, ...), and what catches it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from samedevice.inference import branches, calls, models, probes, statements
from samedevice.inference.dispatch import executes, later
from samedevice.inference.environment import Path, State
from samedevice.inference.nodes import Aside, Location
from samedevice.inference.objects import Class, Instance, Scope
from samedevice.inference.values import NONE, UNKNOWN, Const, Device, DeviceTest, Iter, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@executes(ast.Return)
def _return_statement(run: Interpreter, node: ast.Return, scope: Scope) -> bool:
    if node.value is not None:
        statements.note_stored(run, node.value)
    value = run.eval(node.value, scope) if node.value is not None else NONE
    if run.returns:
        run.returns[-1].append(scope.decided.get(value, value))
    if run.exits and run.trail.forks > run.exits[-1].forks:
        run.exits[-1].states.append(run.trail.capture(scope, run.exits[-1].mark))
    return True


@executes(ast.Raise)
def _raise_statement(run: Interpreter, node: ast.Raise, scope: Scope) -> bool:
    if node.exc is not None:
        error = run.eval(node.exc, scope)
        if run.raising:
            run.raising[-1].append(error)
    if run.caught:
        mark, states = run.caught[-1]
        states.append(run.trail.capture(scope, mark))
    return True


@executes(ast.Break)
def _break_statement(run: Interpreter, node: ast.Break, scope: Scope) -> bool:
    if run.loops:
        run.loops[-1].breaks.append(run.trail.capture(scope, run.loops[-1].mark))
    return True


@executes(ast.Continue)
def _continue_statement(run: Interpreter, node: ast.Continue, scope: Scope) -> bool:
    if run.loops:
        run.loops[-1].continues.append(run.trail.capture(scope, run.loops[-1].mark))
    return True


@executes(ast.With, ast.AsyncWith)
def _with_statement(run: Interpreter, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
    suppresses = False
    outside = len(run.inside)
    for item in node.items:
        value = run.eval(item.context_expr, scope)
        suppresses = suppresses or may_suppress(value)
        spot = Location(scope.path, item.context_expr)
        asynchronous = isinstance(node, ast.AsyncWith)
        entered = enter(run, value, spot, scope, asynchronous=asynchronous)
        if item.optional_vars is not None:
            run.assign(item.optional_vars, entered, scope, node)
    first = len(run.sites)
    if len(run.inside) > outside and any(map(_yields, node.body)):
        scope.entered += tuple(run.inside[outside:])
    if suppresses:
        ended = interrupted(run, node.body, scope, lambda: False)
    else:
        ended = run.block(node.body, scope)
    if probes.expects_refusal(node):
        run.refused.update(site.spot.node for site in run.sites[first:])
    del run.inside[outside:]
    return ended


def enter(
    run: Interpreter, manager: Value, spot: Location, scope: Scope, *, asynchronous: bool = False
) -> Value:
    """Return what entering a context manager gives.

    A device that is entered is where tensors are made from then on, also one that a generator has
    entered where it yields: `contextlib.contextmanager` makes a manager of it.
    """
    if isinstance(manager, Device):
        run.inside.append((manager, spot))
    if isinstance(manager, Iter):
        run.inside += manager.inside
        return manager.element
    if isinstance(manager, Instance):
        if manager.cls is not None:
            enter = "__aenter__" if asynchronous else "__enter__"
            return calls.method(run, manager, enter, scope, spot.node)
        known = models.methods_of(manager)
        if known is not None:
            return known(run, manager, "__enter__", models.Call([], {}, spot, scope))
    return manager


def _yields(statement: ast.stmt) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in syntax.walk(statement))


def may_suppress(manager: Value) -> bool:
    """Tell whether a context manager may swallow an exception of its body."""
    if isinstance(manager, Instance) and manager.cls is not None:
        leave = manager.cls.lookup("__exit__") or manager.cls.lookup("__aexit__")
        return any(
            isinstance(part, ast.Return)
            and part.value is not None
            and not (isinstance(part.value, ast.Constant) and not part.value.value)
            for part in syntax.walk(getattr(leave, "node", ast.Pass()))
        )
    return isinstance(manager, Instance) and manager.family == "suppressing"


def interrupted(
    run: Interpreter, body: list[ast.stmt], scope: Scope, handled: Callable[[], bool],
    behind: list[ast.stmt] | None = None,
) -> bool:  # fmt: skip
    """Evaluate a body that may end after any of its statements, and what handles that.

    `behind` are the statements that follow where nothing interrupts it.
    """
    fork = run.trail.fork(scope)
    outer = run.path
    run.path = Path(outer)
    states: list[State] = [run.trail.capture(scope, fork.mark)]
    run.caught.append((fork.mark, states))
    ended, guarded = False, run.guarded
    for statement in body:
        ended = run.execute(statement, scope)
        if ended:
            break
        states.append(run.trail.capture(scope, fork.mark))
    run.caught.pop()
    if not ended and behind:
        ended = run.block(behind, scope)
    run.guarded = guarded
    whole = run.trail.leave(scope, fork)
    run.trail.resume(scope, states)
    handled_ends = handled()
    other = run.trail.leave(scope, fork)
    run.path = outer
    live = [*([] if ended else [whole]), *([] if handled_ends else [other])]
    if live:
        run.trail.resume(scope, live)
    run.trail.close()
    return not live


@executes(ast.Try, *later("TryStar"))
def _try_statement(run: Interpreter, node: ast.Try, scope: Scope) -> bool:
    if not node.handlers:
        ended = run.block([*node.body, *node.orelse], scope)
    else:
        raised: list[Value] = []
        run.raising.append(raised)
        answer, flags = probes.answer(node), _flags(run, node, scope)
        probing, left = probes.is_fallback(node) or answer is not None or bool(flags), False
        around = run.graph.aside
        if probes.shows_error(node):
            run.graph.aside = Aside(shows_error=True)
        run.guarded += probing

        def handled() -> bool:
            nonlocal left
            run.raising.pop()
            run.guarded -= probing
            run.graph.aside = around
            left = _handlers(run, node, raised, scope)
            return left

        ended = interrupted(run, node.body, scope, handled, node.orelse)
        if answer is not None and scope.func is not None:
            run.answers_without.setdefault(scope.func.node, answer)
        for target, works in flags:
            run.assign(target, DeviceTest(works), scope, node)
        run.guarded += probing and left  # to the end of this block: it went well
    return run.block(node.finalbody, scope) or ended


def _handlers(run: Interpreter, node: ast.Try, raised: list[Value], scope: Scope) -> bool:
    return branches.paths(
        run,
        scope,
        [lambda h=handler: _handler(run, h, raised, scope) for handler in node.handlers],  # type: ignore[misc]
    )


def _handler(
    run: Interpreter, handler: ast.ExceptHandler, raised: list[Value], scope: Scope
) -> bool:
    if handler.name:
        asked = run.eval(handler.type, scope) if handler.type is not None else UNKNOWN
        error: Value | None = None
        for value in raised:
            if isinstance(value, Instance) and value.cls is not None:
                if not isinstance(asked, Class) or asked in value.cls.mro():
                    error = run.join(error, value)
        scope.names[handler.name] = error if error is not None else UNKNOWN
    return run.block(handler.body, scope)


def _flags(run: Interpreter, node: ast.Try, scope: Scope) -> list[tuple[ast.expr, bool]]:
    """Return what says after a `try` whether CUDA works, each with what it is if it does."""
    found = []
    for flag in probes.flags(node):
        before = None if flag.is_set else run.eval(flag.target, scope)
        if flag.is_set or isinstance(before, Const) and before.value is flag.works:
            found.append((flag.target, flag.works))
    return found
