"""Loops: a body is evaluated until what it carries no longer changes in kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from samedevice.inference import assignment, narrowing
from samedevice.inference.dispatch import executes
from samedevice.inference.environment import Loop, Path, State
from samedevice.inference.models import tensor_methods
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance, Scope, Union
from samedevice.inference.values import (
    HOW_MANY,
    NONE,
    SCALAR,
    STARTED,
    Const,
    Device,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Members of a literal sequence that a loop runs through one by one; more are joined first.
_UNROLLED = 6
#: Evaluations of a loop's body, until what it carries has the kinds that it had before.
_ROUNDS = 3
#: Methods that change a container without reading it.
_FILLING = frozenset(("append", "appendleft", "add", "extend", "insert", "update", "clear"))


def loop(
    run: Interpreter, target: ast.expr | None, elements: list[Value], body: Callable[[], bool],
    scope: Scope, node: ast.stmt, again: Callable[[], list[Value]] | None = None,
    exact: bool = False,
) -> list[State]:  # fmt: skip
    """Evaluate a loop's body for each abstract element; return what left it by `break`.

    Behind the loop, a name holds what it held before or what a round left. `again` gives the
    elements of another evaluation; `exact`: there is one round for each of them.
    """
    fork = run.trail.fork(scope)
    frame = Loop(fork.mark)
    run.loops.append(frame)
    names = run.stored.get(node)
    if names is None:
        names = run.stored[node] = list(syntax.stored_names(node))
    outer = run.path
    run.path = Path(outer)  # what happens in one round holds for the next only
    heads = _heads(run, names, scope)
    for turn in range(_ROUNDS):
        begun = run.trail.capture(scope, fork.mark)
        ended = False
        for element in elements:
            run.path = Path(outer)
            if target is not None:
                run.assign(target, element, scope, node)
            ended = body()
            ended = _end_round(run, frame, ended, scope)
            if ended:
                break
        after = run.trail.capture(scope, fork.mark)
        if not ended:
            _close(run, heads, scope)
        last = ended or exact or turn + 1 == _ROUNDS
        if last or not _unsettled(run, names, begun, after, scope, node):
            break
        run.trail.leave(scope, fork)
        run.trail.resume(scope, [begun, after])
        held = {name: scope.home(name).names.get(name) for name in names}
        heads = {name: value for name, value in held.items() if value is not None}
        if again is not None:
            elements = again()
    run.path = outer
    run.loops.pop()
    run.trail.leave(scope, fork)
    behind = [begun] if ended else [after] if exact else [after, begun]
    run.trail.resume(scope, behind)
    run.trail.close()
    return frame.breaks


def _heads(run: Interpreter, names: list[str], scope: Scope) -> dict[str, Value]:
    """Bind what a loop carries to what was there before or what the last round left."""
    heads: dict[str, Value] = {}
    for name in names:
        value = scope.home(name).names.get(name)
        if isinstance(value, (Tensor, Seq)):
            made = _head(run, value)
            if made is not value:
                heads[name] = made
                assignment.bind(run, name, made, scope)
        elif type(value) is Const and type(value.value) in (int, float):
            assignment.bind(run, name, STARTED, scope)
        elif type(value) is Const and type(value.value) is bool:
            # It says whether this is the first round.
            assignment.bind(run, name, SCALAR, scope)
    return heads


def _head(run: Interpreter, value: Value) -> Value:
    if isinstance(value, Tensor):
        made = value.copy()
        made.site = None
        made.node = run.graph.joined(value.node)
        made.node.is_tensor = value.node.find().is_tensor
        return made
    if isinstance(value, Seq) and value.kind == "tuple" and value.items:
        return Seq("tuple", [_head(run, item) for item in value.items], spot=value.spot)
    return value


def _close(run: Interpreter, heads: dict[str, Value], scope: Scope) -> None:
    """Let what a round left flow into what the next one begins with."""
    for name, head in heads.items():
        value = scope.home(name).names.get(name)
        if value is not None and value is not head:
            _flow_back(run, value, head)


def _flow_back(run: Interpreter, value: Value, head: Value) -> None:
    match value, head:
        case Tensor(), Tensor():
            run.graph.flow(value.node, head.node)
            if head.node.find().is_tensor:  # the body used it as a tensor
                for source in head.node.flows_from:
                    source.find().is_tensor = True
        case Seq(items=[*items]), Seq(items=[*begun]) if len(items) == len(begun):
            for item, old in zip(items, begun, strict=True):
                _flow_back(run, item, old)


def _end_round(run: Interpreter, frame: Loop, ended: bool, scope: Scope) -> bool:
    """Join what ends a round; tell whether none goes on to the next."""
    states, frame.continues = frame.continues, []
    if states:
        if not ended:
            states.insert(0, run.trail.capture(scope, frame.mark))
        run.trail.resume(scope, states)
    return ended and not states


def _unsettled(
    run: Interpreter, names: list[str], begun: State, after: State, scope: Scope, node: ast.stmt
) -> bool:
    """Tell whether a round left something of another kind than it began with, and reads it."""
    reads = _reads(run, node)
    for name in names:
        old, new = _changed(begun, after, name, scope)
        if old is not None and new is not None and name in reads and _other_kind(old, new):
            return True
    for key, cell in after.cells.items():
        if isinstance(cell.target, (Seq, Dict)):
            held = cell.target
            if any(
                held is (begun.names.get(name) or _around(scope, name)) for name in reads
            ) or any(attr in reads for attr in _holding(held, scope)):
                return True
        known = begun.cells.get(key)
        for name, value in cell.entries():
            before = known.value.get(name) if known is not None else None
            read = name in reads
            if not read and repr(name) in reads:
                read = _is_held(cell.target, begun, after, scope)
            if (read or _joined_late(name, value)) and (
                before is None or _other_kind(before, value)
            ):
                return True
    return False


def _changed(
    begun: State, after: State, name: str, scope: Scope
) -> tuple[Value | None, Value | None]:
    """Return what a name held before a round, and what it holds behind it."""
    home = scope.home(name)
    if home is scope:
        return begun.names.get(name), after.names.get(name)
    old, new = (state.cells.get((id(home), name)) for state in (begun, after))
    if new is None:
        return None, None
    return (old.value if old is not None else new.before), new.value


def _joined_late(name: object, value: object) -> bool:
    """Tell whether an entry is a module that joined a list of modules when that had moved."""
    late = isinstance(value, Instance) and value.family == "module" and value.parent is None
    return late and isinstance(name, str) and name.isdigit()


def _is_held(entries: object, begun: State, after: State, scope: Scope) -> bool:
    """Tell whether a mapping is there when a round begins: an element of the loop is another."""
    held: list[Value | None] = [*begun.names.values()]
    if isinstance(scope.self_value, Instance):
        held += scope.self_value.attrs.values()
    if scope.globals is not scope:
        for name, value in scope.globals.names.items():
            old, new = _changed(begun, after, name, scope) if scope.writes else (None, None)
            held.append(value if new is None else old)
    return any(isinstance(one, Dict) and one.items is entries for one in held)


def _around(scope: Scope, name: str) -> Value | None:
    """Return what a name holds in the scopes around one: a round may change what is in that."""
    return scope.outer.lookup(name) if scope.outer is not None else None


def _holding(held: object, scope: Scope) -> Iterator[str]:
    """Return the attributes under which the code's own instance holds an object."""
    if isinstance(scope.self_value, Instance):
        for attr, value in scope.self_value.attrs.items():
            if value is held:
                yield attr


def _reads(run: Interpreter, node: ast.stmt) -> set[str]:
    """Return the names and attributes that a loop reads, not those that it only fills.

    Of literal keys it has their code, which is no name.
    """
    known = run.read_in.get(node)
    if known is None:
        known = run.read_in[node] = set()
        parts = syntax.walk_all(getattr(node, "body", []))
        filled = {
            part.func.value
            for part in parts
            if isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in _FILLING
        }
        filled |= {
            part.value
            for part in parts
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
        }
        for part in (*parts, *syntax.walk(getattr(node, "test", None) or ast.Pass())):
            if part in filled:
                continue
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                known.add(part.id)
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
                known.add(part.attr)
            elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
                if isinstance(part.slice.value, str) and isinstance(part.ctx, ast.Load):
                    known.add(repr(part.slice.value))
    return known


@executes(ast.For, ast.AsyncFor)
def _for_loop(run: Interpreter, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
    source = run.eval(node.iter, scope)
    spot = Location(scope.path, node.iter)
    elements = unrolled(source) or numbered(node, scope)
    exact, again = bool(elements), None
    if not elements:
        elements = [run.iterate(source, spot, scope)]
        if isinstance(source, (Seq, Dict)):
            again = lambda: [run.iterate(source, spot, scope)]  # noqa: E731
    counts = len(elements) == 1 and elements[0] is HOW_MANY
    run.guarded += counts
    breaks = run.loop(
        node.target, elements, lambda: run.block(node.body, scope), scope, node, again, exact
    )
    run.guarded -= counts
    tensor_methods.dropped_in_loop(run, node, scope)
    return _behind_loop(run, node.orelse, breaks, scope)


def _behind_loop(
    run: Interpreter, orelse: list[ast.stmt], breaks: list[State], scope: Scope
) -> bool:
    """Join what runs to a loop's end, and its `else`, with what left it before."""
    if not breaks:
        run.block(orelse, scope)
        return False
    fork = run.trail.fork(scope)
    ended = run.block(orelse, scope)
    state = run.trail.leave(scope, fork)
    run.trail.resume(scope, breaks if ended else [state, *breaks])
    run.trail.close()
    return False


def unrolled(source: Value) -> list[Value]:
    """Return the members of a short literal container that a loop runs over, one by one."""
    if isinstance(source, Seq) and source.items and len(source.items) <= _UNROLLED:
        return list(source.items)
    if isinstance(source, Dict) and source.items and source.element is None:
        if len(source.items) <= _UNROLLED:
            return [Const(key) for key in source.items]
    if isinstance(source, Iter) and isinstance(source.source, Dict):
        items = source.source.items
        if items and source.source.element is None and len(items) <= _UNROLLED:
            if source.element is SCALAR:
                return [Const(key) for key in items]
            pairs = isinstance(source.element, Seq)
            return [Seq("tuple", [Const(k), v]) if pairs else v for k, v in items.items()]
    return []


def numbered(node: ast.For | ast.AsyncFor, scope: Scope) -> list[Value]:
    """Return the numbers of a short list's members, where a loop over them replaces each."""
    match node.iter:
        case (
            ast.Call(
                func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"), args=[held])]
            )
            | ast.Call(func=ast.Name(id="enumerate"), args=[held])
        ) if isinstance(held, ast.Name):
            known = scope.names.get(held.id)
        case _:
            return []
    if not isinstance(known, Seq) or not known.items or len(known.items) > _UNROLLED:
        return []
    if not any(
        isinstance(part, ast.Subscript)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id == held.id
        for part in syntax.walk_all(node.body)
    ):
        return []
    if node.iter.args[0] is held:
        pairs = enumerate(list(known.items))
        return [Seq("tuple", [Const(index), member]) for index, member in pairs]
    return [Const(index) for index in range(len(known.items))]


@executes(ast.While)
def _while_loop(run: Interpreter, node: ast.While, scope: Scope) -> bool:
    def once() -> bool:
        run.eval(node.test, scope)
        narrowing.narrow(run, node.test, scope, True)
        return run.block(node.body, scope)

    breaks = run.loop(None, [NONE], once, scope, node)
    if isinstance(node.test, ast.Constant) and node.test.value:
        if breaks:
            run.trail.forks += 1
            run.trail.resume(scope, breaks)
            run.trail.close()
        return False
    narrowing.narrow(run, node.test, scope, False)
    return _behind_loop(run, node.orelse, breaks, scope)


def _other_kind(old: Value, new: Value, depth: int = 3) -> bool:
    """Tell whether a value cannot stand for another one, wherever their tensors are."""
    if old is new or not depth:
        return False
    if isinstance(old, Tensor) or isinstance(new, Scope):
        return False
    if isinstance(new, (Tensor, Device)) and type(old) is not type(new):
        return True
    if isinstance(old, Seq) and isinstance(new, Seq):
        if old.items is None or new.items is None or len(old.items) != len(new.items):
            return any(isinstance(m, (Tensor, Seq, Dict)) for m in new.members())
        return any(_other_kind(a, b, depth - 1) for a, b in zip(old.items, new.items, strict=True))
    if isinstance(old, Dict) and isinstance(new, Dict):
        return any(
            key not in old.items or _other_kind(old.items[key], value, depth - 1)
            for key, value in new.items.items()
        )
    return isinstance(new, (Seq, Dict, Instance, Union, Iter)) and type(old) is not type(new)
