"""Statements of which one path is taken: `if` and `match`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from samedevice.inference import (
    assignment,
    attributes,
    choices,
    conditions,
    demands,
    demonstrations,
    instances,
    narrowing,
    settled,
    subscripts,
    ways,
)
from samedevice.inference.dispatch import executes
from samedevice.inference.environment import Exits, Fork, Path, State
from samedevice.inference.events import BranchTaken
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Class, Func, Scope
from samedevice.inference.values import (
    Array,
    Const,
    Device,
    DeviceTest,
    Dict,
    Doubt,
    FunctionNode,
    Scalar,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: What a name may be in the branch of other callers, and is no tensor then.
_NO_TENSORS = (Array, Dict, Scalar, Seq)


def bound_there_only(before: set[str], other: list[ast.stmt], scope: Scope) -> None:
    """Mark the names of devices that one branch binds and the other does not."""
    last = other[-1] if other else None
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return
    bound = {n.id for part in other for n in syntax.walk(part) if isinstance(n, ast.Name)}
    for name, value in scope.names.items():
        if isinstance(value, Device) and name not in before and name not in bound:
            marked = Device(
                value.node,
                value.spot,
                text=value.text,
                resolved=value.resolved,
                rank=value.rank,
                number=value.number,
            )
            marked.partial = True
            scope.names[name] = marked


@executes(ast.If)
def _if_statement(run: Interpreter, node: ast.If, scope: Scope) -> bool:
    test = conditions.asking(run.eval(node.test, scope))
    if not isinstance(test, DeviceTest):
        settled.note(run, node, scope)
    known = None if conditions.is_switch(node.test, test, scope) else conditions.truth(test)
    if (
        known is None
        and not isinstance(test, DeviceTest)
        and choices.chosen_unknown(run, node, scope)
    ):
        run.guarded += 1
        run.block(node.body, scope)
        run.guarded -= 1
        return False
    how = (
        isinstance(test, DeviceTest)
        and test.choice
        and ways.says_how(run.project.tree(scope.path), node)
    )
    if isinstance(test, DeviceTest) and not how:
        return device_branch(run, node, test, scope)
    if known is not None:
        other = node.orelse if known else node.body
        if conditions.is_given(node.test, test, scope):
            return _given(run, node, known, scope)
        if _by_default(node.test, scope) and choices.moves(other):
            fork = run.trail.fork(scope)
            _aside(run, other, scope, fork)
            run.trail.close()
        narrowing.narrow(run, node.test, scope, known)
        before, first = run.shown, len(run.sites)
        if scope.func is None:
            run.shown = before or demonstrations.is_shown(run.project, scope.path, node)
        defined = _definitions(node, scope)
        ended = run.block(node.body if known else node.orelse, scope)
        for name, value in defined.items():  # who imports the file has what it defines
            if scope.names.get(name) is not value:
                run.trail.put(scope.names, name, value)
        if run.shown and not before:
            demonstrations.take_back(run.sites[first:])
        run.shown = before
        return ended
    says = conditions.truth(test)
    return paths(
        run,
        scope,
        [
            lambda: _arm(run, node.test, True, node.body, scope),
            lambda: _arm(run, node.test, False, node.orelse, scope),
        ],
        None if says is None else int(not says),
    )


def _definitions(node: ast.If, scope: Scope) -> dict[str, Value]:
    """Return the functions and classes of a file that its `if __name__ == "__main__":` may hide
    under names of its own."""
    if scope.func is not None or not demonstrations.is_main(node):
        return {}
    return {name: v for name, v in scope.names.items() if isinstance(v, (Class, Func))}


def _by_default(test: ast.expr, scope: Scope) -> bool:
    """Tell whether a test compares what a parameter is for those who leave it out with a text."""
    match test:
        case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=str())]):
            held = scope.names.get(name)
            given = syntax.defaults(scope.func.node.args).get(name) if scope.func else None
            return isinstance(held, Const) and held.spot is not None and held.spot.node is given
    return False


def _given(run: Interpreter, node: ast.If, known: bool, scope: Scope) -> bool:
    """Evaluate both branches of a test that a call decides by what it gives.

    Its names and results are those of the branch that it takes, as tensors that are none for other
    callers where the other one leaves none. What that one leaves in objects goes on beside it:
    other callers may want it. Where the call says where its own objects are (`cuda=False`), it does
    not.
    """
    fork = run.trail.fork(scope)
    other = _aside(run, node.orelse if known else node.body, scope, fork)
    narrowing.narrow(run, node.test, scope, known)
    ended = run.block(node.body if known else node.orelse, scope)
    taken = run.trail.leave(scope, fork)
    if not ended:
        if other is not None:
            _doubt(taken, other, scope)
        scope.names = taken.names
        if other is None or speaks_of_devices(node.test):
            run.trail.merge((taken,))
        else:
            run.trail.merge((taken, other))
    run.trail.close()
    return ended


def _doubt(taken: State, other: State, scope: Scope) -> None:
    """Mark the tensors of a branch that are something else where other callers take the other.

    This caller gets the tensor: it knows what it has asked for.
    """
    for name, value in taken.names.items():
        if isinstance(value, Tensor) and isinstance(other.names.get(name), _NO_TENSORS):
            doubted = taken.names[name] = value.doubted(Doubt.OTHER)
            scope.decided[doubted] = value


def _aside(run: Interpreter, body: list[ast.stmt], scope: Scope, fork: Fork) -> State | None:
    """Evaluate what other callers may run and these do not, None if it does not go on behind it.

    Nothing that it returns or raises goes on.
    """
    exits = run.loops, run.caught
    run.loops, run.caught = [], []
    run.returns.append([])
    run.yields.append([])
    run.exits.append(Exits(fork.mark, run.trail.forks))
    outer = run.path
    run.path = Path(outer, arm=True)
    ended = run.block(body, scope)
    run.path = outer
    for stack in (run.returns, run.yields, run.exits):
        stack.pop()
    run.loops, run.caught = exits
    state = run.trail.leave(scope, fork)
    return None if ended else state


def _arm(
    run: Interpreter, test: ast.expr, positive: bool, body: list[ast.stmt], scope: Scope
) -> bool:
    narrowing.narrow(run, test, scope, positive)
    return run.block(body, scope)


def device_branch(run: Interpreter, node: ast.If, test: DeviceTest, scope: Scope) -> bool:
    """Evaluate only the branch that is taken where the accelerator is used."""
    if test.choice:
        run.offers.append(Location(scope.path, node))
    taken = node.body if test.positive else node.orelse
    run.record(
        BranchTaken(
            Location(scope.path, node),
            None,
            scope,
            positive=test.positive,
            asks=test.asks or test.of_value,
            choice=test.choice,
            of_value=test.of_value,
        )  # fmt: skip
    )
    other = node.orelse if test.positive else node.body
    names = set(scope.names)
    run.guarded += 1
    decided, run.deciders = run.deciders, run.deciders | test.deciders
    ended = run.block(taken, scope)
    run.guarded, run.deciders = run.guarded - 1, decided
    bound_there_only(names, other, scope)
    if test.asks and not test.of_value and scope.func is not None:
        answer = demands.answer(other)
        if answer is not None:
            run.answers_without.setdefault(scope.func.node, answer)
    if demands.leaves(other) and not test.of_value:
        if not demands.is_demand(node) or demands.says_why(node, scope.node):
            run.guarded += 1  # to the end of this block, which is only reached with an accelerator
    return ended


def as_test(run: Interpreter, node: FunctionNode, results: list[Value], joined: Value) -> Value:
    """Return what a function gives; a test, if only an accelerator lets it answer the contrary."""
    without = run.answers_without.get(node)
    if without is None:
        return joined
    answers = [result.value for result in results if isinstance(result, Const)]
    known = len(answers) == len(results) and all(type(answer) is bool for answer in answers)
    return DeviceTest(not without) if known and (not without) in answers else joined


def paths(
    run: Interpreter, scope: Scope, bodies: Iterable[Callable[[], bool]], taken: int | None = None
) -> bool:
    """Evaluate bodies of which one is run; tell whether control continues after none of them.

    `taken` is the one that is run as the code is written, if a switch says so.
    """
    fork = run.trail.fork(scope)
    live: list[State] = []
    written: State | None = None
    outer = run.path
    for number, body in enumerate(bodies):
        run.path = Path(outer, arm=True)
        ended = body()
        run.path = outer
        state = run.trail.leave(scope, fork)
        if not ended:
            live.append(state)
            written = state if number == taken else written
    if live:
        run.trail.resume(scope, live)
    if written is not None and len(live) > 1:
        for name, held in written.names.items():
            if scope.names[name] is not held:
                scope.names[name] = run.as_written(scope.names[name], held)
    run.trail.close()
    return not live


@executes(ast.Match)
def _match_statement(run: Interpreter, node: ast.Match, scope: Scope) -> bool:
    subject = run.eval(node.subject, scope)
    spot = Location(scope.path, node.subject)
    bodies: list[Callable[[], bool]] = [
        lambda c=case: _case(run, c, subject, spot, scope)  # type: ignore[misc]
        for case in node.cases
    ]
    last = node.cases[-1]
    if last.guard is not None or not _is_irrefutable(last.pattern):
        bodies.append(lambda: False)
    return paths(run, scope, bodies)


def _case(
    run: Interpreter, case: ast.match_case, subject: Value, spot: Location, scope: Scope
) -> bool:
    bind_pattern(run, case.pattern, subject, spot, scope)
    if case.guard is not None:
        run.eval(case.guard, scope)
        narrowing.narrow(run, case.guard, scope, True)
    return run.block(case.body, scope)


def bind_pattern(
    run: Interpreter, pattern: ast.pattern, value: Value, spot: Location, scope: Scope
) -> None:
    """Bind the names of a pattern to the parts of the value that it matches."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                bind_pattern(run, inner, value, spot, scope)
            if name is not None:
                assignment.bind(run, name, value, scope)
        case ast.MatchOr(patterns=patterns):
            for inner in patterns:
                bind_pattern(run, inner, value, spot, scope)
        case ast.MatchStar(name=name) if name is not None:
            assignment.bind(run, name, value, scope)
        case ast.MatchSequence(patterns=patterns):
            for inner, part in zip(patterns, _parts(run, patterns, value, scope), strict=True):
                bind_pattern(run, inner, part, spot, scope)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            for key, inner in zip(keys, patterns, strict=True):
                part = subscripts.subscript(run, value, run.eval(key, scope), spot, scope)
                bind_pattern(run, inner, part, spot, scope)
            if rest is not None:
                assignment.bind(run, rest, value, scope)
        case ast.MatchClass(cls=named, patterns=patterns, kwd_attrs=attrs):
            klass = run.eval(named, scope)
            fields = instances.fields_of(klass) if isinstance(klass, Class) else []
            inners = [*patterns, *pattern.kwd_patterns]
            for attr, inner in zip([*fields[: len(patterns)], *attrs], inners, strict=False):
                part = attributes.attribute(run, value, attr, spot, scope)
                bind_pattern(run, inner, part, spot, scope)


def _parts(
    run: Interpreter, patterns: list[ast.pattern], value: Value, scope: Scope
) -> list[Value]:
    """Return the parts of a value that a sequence of patterns matches."""
    targets: list[ast.expr] = [
        ast.Starred(ast.Name("_", ast.Store()), ast.Store())
        if isinstance(pattern, ast.MatchStar)
        else ast.Name("_", ast.Store())
        for pattern in patterns
    ]
    return assignment.unpack(run, value, targets, scope)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    """Tell whether a pattern matches every value."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _is_irrefutable(inner)
        case ast.MatchOr(patterns=patterns):
            return any(map(_is_irrefutable, patterns))
    return False
