"""Evaluate what splits the flow of control: branches, loops, handlers, patterns and exits.

Every path has its environment (`environment.py`). Where paths meet, what they hold is joined; what
leaves a loop by `break`, a round by `continue` or a function by `return` is kept until then. The
body of a loop is evaluated until what it carries does not change in kind; where its tensors are
closes by itself, since what a round finds flows into what the next one begins with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from samedevice import syntax
from samedevice.places import demands, models
from samedevice.places.environment import Loop, State
from samedevice.places.graph import Spot
from samedevice.places.narrowing import Narrowing
from samedevice.places.values import (
    NONE,
    SCALAR,
    STARTED,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Either,
    Flag,
    Iter,
    Klass,
    Obj,
    Scope,
    Seq,
    Tensor,
    Value,
)

#: Members of a literal sequence that a loop runs through one by one; more are joined first.
_UNROLLED = 6
#: Evaluations of a loop's body, until what it carries has the kinds that it had before.
_ROUNDS = 3
#: Methods that change a container without reading it.
_FILLING = frozenset(("append", "appendleft", "add", "extend", "insert", "update", "clear"))


class Flow(Narrowing):
    """Statements that control goes on from by several ways."""

    # -- exits ------------------------------------------------------------------------------

    def exec_Return(self, node: ast.Return, scope: Scope) -> bool:
        if node.value is not None:
            self.note_stored(node.value)
        value = self.eval(node.value, scope) if node.value is not None else NONE
        if self._returns:
            self._returns[-1].append(value)
        if self.exits and self.trail.forks > self.exits[-1].forks:
            self.exits[-1].states.append(self.trail.capture(scope, self.exits[-1].mark))
        return True

    def exec_Raise(self, node: ast.Raise, scope: Scope) -> bool:
        if node.exc is not None:
            error = self.eval(node.exc, scope)
            if self.raising:
                self.raising[-1].append(error)
        if self.caught:
            mark, states = self.caught[-1]
            states.append(self.trail.capture(scope, mark))
        return True

    def exec_Break(self, node: ast.Break, scope: Scope) -> bool:
        if self.loops:
            self.loops[-1].breaks.append(self.trail.capture(scope, self.loops[-1].mark))
        return True

    def exec_Continue(self, node: ast.Continue, scope: Scope) -> bool:
        if self.loops:
            self.loops[-1].continues.append(self.trail.capture(scope, self.loops[-1].mark))
        return True

    # -- branches ---------------------------------------------------------------------------

    def bound_there_only(self, before: set[str], other: list[ast.stmt], scope: Scope) -> None:
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
                )
                marked.partial = True
                scope.names[name] = marked

    def exec_If(self, node: ast.If, scope: Scope) -> bool:
        test = self.eval(node.test, scope)
        known = None if self.is_switch(node.test, test, scope) else self.truth(test)
        if known is None and not isinstance(test, Flag) and self.chosen_unknown(node, scope):
            self.guarded += 1
            self.block(node.body, scope)
            self.guarded -= 1
            return False
        if isinstance(test, Flag):
            return self.device_branch(node, test, scope)
        if known is not None:
            self.narrow(node.test, scope, known)
            return self.block(node.body if known else node.orelse, scope)
        return self.paths(
            scope,
            [
                lambda: self._arm(node.test, True, node.body, scope),
                lambda: self._arm(node.test, False, node.orelse, scope),
            ],
        )

    def _arm(self, test: ast.expr, positive: bool, body: list[ast.stmt], scope: Scope) -> bool:
        self.narrow(test, scope, positive)
        return self.block(body, scope)

    def device_branch(self, node: ast.If, test: Flag, scope: Scope) -> bool:
        """Evaluate a branch that is taken where the accelerator is used, and no other."""
        if test.choice:
            self.offers.append(Spot(scope.path, node))
        taken = node.body if test.positive else node.orelse
        branch = self.site("branch", Spot(scope.path, node), None, scope)
        branch.detail["positive"] = test.positive
        branch.detail["of_value"] = test.of_value
        branch.detail["choice"] = test.choice
        other = node.orelse if test.positive else node.body
        names = set(scope.names)
        self.guarded += 1
        ended = self.block(taken, scope)
        self.guarded -= 1
        self.bound_there_only(names, other, scope)
        if demands.leaves(other) and not test.of_value:
            if not demands.is_demand(node) or demands.says_why(node, scope.node):
                self.guarded += 1  # to the end of this block: nobody comes there without
        return ended

    def paths(self, scope: Scope, bodies: Iterable[Callable[[], bool]]) -> bool:
        """Evaluate one of several bodies; tell whether control goes on behind none of them."""
        fork = self.trail.fork(scope)
        self.conditional += 1
        live: list[State] = []
        for body in bodies:
            ended = body()
            state = self.trail.leave(scope, fork)
            if not ended:
                live.append(state)
        self.conditional -= 1
        if live:
            self.trail.resume(scope, live)
        self.trail.close()
        return not live

    # -- loops ------------------------------------------------------------------------------

    def loop(
        self, target: ast.expr | None, elements: list[Value], body: Callable[[], bool],
        scope: Scope, node: ast.stmt, again: Callable[[], list[Value]] | None = None,
        exact: bool = False,
    ) -> list[State]:  # fmt: skip
        """Evaluate a loop's body for each abstract element; return what left it by `break`.

        What holds behind it is what it began with, or what a round left. `again` gives the
        elements of another evaluation; `exact`: there is one round for each of them.
        """
        fork = self.trail.fork(scope)
        frame = Loop(fork.mark)
        self.loops.append(frame)
        names = self.stored.get(node)
        if names is None:
            names = self.stored[node] = list(syntax.stored_names(node))
        self.conditional += 1  # what happens in one round holds for the next only
        heads = self._heads(names, scope)
        for turn in range(_ROUNDS):
            begun = self.trail.capture(scope, fork.mark)
            ended = False
            for element in elements:
                if target is not None:
                    self.assign(target, element, scope, node)
                ended = body()
                ended = self._end_round(frame, ended, scope)
                if ended:
                    break
            after = self.trail.capture(scope, fork.mark)
            if not ended:
                self._close(heads, scope)
            last = ended or exact or turn + 1 == _ROUNDS
            if last or not self._unsettled(names, begun, after, scope, node):
                break
            self.trail.leave(scope, fork)
            self.trail.resume(scope, [begun, after])
            heads = {name: scope.names[name] for name in names if name in scope.names}
            if again is not None:
                elements = again()
        self.conditional -= 1
        self.loops.pop()
        self.trail.leave(scope, fork)
        behind = [begun] if ended else [after] if exact else [after, begun]
        self.trail.resume(scope, behind)
        self.trail.close()
        return frame.breaks

    def _heads(self, names: list[str], scope: Scope) -> dict[str, Value]:
        """Bind what a loop carries to what was there before or what the last round left."""
        heads: dict[str, Value] = {}
        for name in names:
            value = scope.names.get(name)
            if isinstance(value, (Tensor, Seq)):
                made = self._head(value)
                if made is not value:
                    scope.names[name] = heads[name] = made
            elif type(value) is Const and type(value.value) in (int, float):
                scope.names[name] = STARTED
            elif type(value) is Const and type(value.value) is bool:
                scope.names[name] = SCALAR  # it says whether this is the first round
        return heads

    def _head(self, value: Value) -> Value:
        if isinstance(value, Tensor):
            made = value.copy()
            made.site = None
            made.node = self.graph.joined(value.node)
            made.node.sure = value.node.find().sure
            return made
        if isinstance(value, Seq) and value.kind == "tuple" and value.items:
            return Seq("tuple", [self._head(item) for item in value.items], spot=value.spot)
        return value

    def _close(self, heads: dict[str, Value], scope: Scope) -> None:
        """Let what a round left flow into what the next one begins with."""
        for name, head in heads.items():
            value = scope.names.get(name)
            if value is not None and value is not head:
                self._flow_back(value, head)

    def _flow_back(self, value: Value, head: Value) -> None:
        match value, head:
            case Tensor(), Tensor():
                self.graph.flow(value.node, head.node)
                if head.node.find().sure:  # the body used it as a tensor
                    for source in head.node.flows_from:
                        source.find().sure = True
            case Seq(items=[*items]), Seq(items=[*begun]) if len(items) == len(begun):
                for item, old in zip(items, begun, strict=True):
                    self._flow_back(item, old)

    def _end_round(self, frame: Loop, ended: bool, scope: Scope) -> bool:
        """Join what ends a round; tell whether none goes on to the next."""
        states, frame.continues = frame.continues, []
        if states:
            if not ended:
                states.insert(0, self.trail.capture(scope, frame.mark))
            self.trail.resume(scope, states)
        return ended and not states

    def _unsettled(
        self, names: list[str], begun: State, after: State, scope: Scope, node: ast.stmt
    ) -> bool:
        """Tell whether a round left something of another kind than it began with, and reads it."""
        reads = self._reads(node)
        for name in names:
            old, new = begun.names.get(name), after.names.get(name)
            if old is not None and new is not None and name in reads and _other_kind(old, new):
                return True
        for key, cell in after.cells.items():
            known = begun.cells.get(key)
            old_value = known.value if known is not None else None
            if isinstance(cell.target, (Seq, Dict)) or not isinstance(cell.key, str):
                held = cell.target
                if any(begun.names.get(name) is held for name in reads) or any(
                    attr in reads for attr in self._holding(held, scope)
                ):
                    return True
            elif isinstance(cell.target, dict) and cell.key in reads:
                if old_value is None or _other_kind(old_value, cell.value):
                    return True
        return False

    def _holding(self, held: object, scope: Scope) -> Iterator[str]:
        """Return the attributes under which the code's own instance holds an object."""
        if isinstance(scope.self_value, Obj):
            for attr, value in scope.self_value.attrs.items():
                if value is held:
                    yield attr

    def _reads(self, node: ast.stmt) -> set[str]:
        """Return the names and attributes that a loop reads, not those that it only fills."""
        known = self._read_in.get(node)
        if known is None:
            known = self._read_in[node] = set()
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
        return known

    def exec_For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        source = self.eval(node.iter, scope)
        spot = Spot(scope.path, node.iter)
        elements = self.unrolled(source) or self.numbered(node, scope)
        exact, again = bool(elements), None
        if not elements:
            elements = [self.iterate(source, spot, scope)]
            if isinstance(source, (Seq, Dict)):
                again = lambda: [self.iterate(source, spot, scope)]  # noqa: E731
        breaks = self.loop(
            node.target, elements, lambda: self.block(node.body, scope), scope, node, again, exact
        )
        return self._behind_loop(node.orelse, breaks, scope)

    exec_AsyncFor = exec_For

    def _behind_loop(self, orelse: list[ast.stmt], breaks: list[State], scope: Scope) -> bool:
        """Join what runs to a loop's end, and its `else`, with what left it before."""
        if not breaks:
            self.block(orelse, scope)
            return False
        fork = self.trail.fork(scope)
        ended = self.block(orelse, scope)
        state = self.trail.leave(scope, fork)
        self.trail.resume(scope, breaks if ended else [state, *breaks])
        self.trail.close()
        return False

    def unrolled(self, source: Value) -> list[Value]:
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

    def numbered(self, node: ast.For | ast.AsyncFor, scope: Scope) -> list[Value]:
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

    def exec_While(self, node: ast.While, scope: Scope) -> bool:
        def once() -> bool:
            self.eval(node.test, scope)
            self.narrow(node.test, scope, True)
            return self.block(node.body, scope)

        breaks = self.loop(None, [NONE], once, scope, node)
        if isinstance(node.test, ast.Constant) and node.test.value:
            if breaks:
                self.trail.forks += 1
                self.trail.resume(scope, breaks)
                self.trail.close()
            return False
        self.narrow(node.test, scope, False)
        return self._behind_loop(node.orelse, breaks, scope)

    # -- handlers ---------------------------------------------------------------------------

    def exec_With(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        suppresses = False
        outside = len(self.inside)
        for item in node.items:
            value = self.eval(item.context_expr, scope)
            suppresses = suppresses or self.suppresses(value)
            spot = Spot(scope.path, item.context_expr)
            asynchronous = isinstance(node, ast.AsyncWith)
            entered = self.entered(value, spot, scope, asynchronous=asynchronous)
            if isinstance(value, Device):
                self.inside.append((value, spot))
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, scope, node)
        if suppresses:
            ended = self.interrupted(node.body, scope, lambda: False)
        else:
            ended = self.block(node.body, scope)
        del self.inside[outside:]
        return ended

    exec_AsyncWith = exec_With

    def entered(
        self, manager: Value, spot: Spot, scope: Scope, *, asynchronous: bool = False
    ) -> Value:
        """Return what entering a context manager gives."""
        if isinstance(manager, Obj):
            if manager.cls is not None:
                enter = "__aenter__" if asynchronous else "__enter__"
                return self.method(manager, enter, scope, spot.node)
            known = models.methods_of(manager)
            if known is not None:
                return known(self, manager, "__enter__", models.Call([], {}, spot, scope))
        return manager

    def suppresses(self, manager: Value) -> bool:
        """Tell whether a context manager may swallow an exception of its body."""
        if isinstance(manager, Obj) and manager.cls is not None:
            leave = manager.cls.lookup("__exit__") or manager.cls.lookup("__aexit__")
            return any(
                isinstance(part, ast.Return)
                and part.value is not None
                and not (isinstance(part.value, ast.Constant) and not part.value.value)
                for part in syntax.walk(getattr(leave, "node", ast.Pass()))
            )
        return isinstance(manager, Obj) and manager.family == "suppressing"

    def interrupted(
        self, body: list[ast.stmt], scope: Scope, handled: Callable[[], bool],
        behind: list[ast.stmt] | None = None,
    ) -> bool:  # fmt: skip
        """Evaluate a body that may end behind any of its statements, and what handles that then.

        `behind` are the statements that follow where nothing interrupts it.
        """
        fork = self.trail.fork(scope)
        self.conditional += 1
        states: list[State] = [self.trail.capture(scope, fork.mark)]
        self.caught.append((fork.mark, states))
        ended = False
        for statement in body:
            ended = self.block([statement], scope)
            if ended:
                break
            states.append(self.trail.capture(scope, fork.mark))
        self.caught.pop()
        if not ended and behind:
            ended = self.block(behind, scope)
        whole = self.trail.leave(scope, fork)
        self.trail.resume(scope, states)
        handled_ends = handled()
        other = self.trail.leave(scope, fork)
        self.conditional -= 1
        live = [*([] if ended else [whole]), *([] if handled_ends else [other])]
        if live:
            self.trail.resume(scope, live)
        self.trail.close()
        return not live

    def exec_Try(self, node: ast.Try, scope: Scope) -> bool:
        if not node.handlers:
            ended = self.block([*node.body, *node.orelse], scope)
        else:
            raised: list[Value] = []
            self.raising.append(raised)
            probing = _is_probe(node)
            self.guarded += probing

            def handled() -> bool:
                self.raising.pop()
                self.guarded -= probing
                return self._handlers(node, raised, scope)

            ended = self.interrupted(node.body, scope, handled, node.orelse)
        return self.block(node.finalbody, scope) or ended

    exec_TryStar = exec_Try

    def _handlers(self, node: ast.Try, raised: list[Value], scope: Scope) -> bool:
        return self.paths(
            scope,
            [lambda h=handler: self._handler(h, raised, scope) for handler in node.handlers],  # type: ignore[misc]
        )

    def _handler(self, handler: ast.ExceptHandler, raised: list[Value], scope: Scope) -> bool:
        if handler.name:
            asked = self.eval(handler.type, scope) if handler.type is not None else UNKNOWN
            error: Value | None = None
            for value in raised:
                if isinstance(value, Obj) and value.cls is not None:
                    if not isinstance(asked, Klass) or asked in value.cls.mro():
                        error = self.join(error, value)
            scope.names[handler.name] = error if error is not None else UNKNOWN
        return self.block(handler.body, scope)

    # -- patterns ---------------------------------------------------------------------------

    def exec_Match(self, node: ast.Match, scope: Scope) -> bool:
        subject = self.eval(node.subject, scope)
        spot = Spot(scope.path, node.subject)
        bodies: list[Callable[[], bool]] = [
            lambda c=case: self._case(c, subject, spot, scope)  # type: ignore[misc]
            for case in node.cases
        ]
        last = node.cases[-1]
        if last.guard is not None or not _is_irrefutable(last.pattern):
            bodies.append(lambda: False)
        return self.paths(scope, bodies)

    def _case(self, case: ast.match_case, subject: Value, spot: Spot, scope: Scope) -> bool:
        self.bind_pattern(case.pattern, subject, spot, scope)
        if case.guard is not None:
            self.eval(case.guard, scope)
            self.narrow(case.guard, scope, True)
        return self.block(case.body, scope)

    def bind_pattern(self, pattern: ast.pattern, value: Value, spot: Spot, scope: Scope) -> None:
        """Bind the names of a pattern to the parts of the value that it matches."""
        match pattern:
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self.bind_pattern(inner, value, spot, scope)
                if name is not None:
                    self.bind(name, value, scope)
            case ast.MatchOr(patterns=patterns):
                for inner in patterns:
                    self.bind_pattern(inner, value, spot, scope)
            case ast.MatchStar(name=name) if name is not None:
                self.bind(name, value, scope)
            case ast.MatchSequence(patterns=patterns):
                for inner, part in zip(patterns, self._parts(patterns, value, scope), strict=True):
                    self.bind_pattern(inner, part, spot, scope)
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                for key, inner in zip(keys, patterns, strict=True):
                    part = self.subscript(value, self.eval(key, scope), spot, scope)
                    self.bind_pattern(inner, part, spot, scope)
                if rest is not None:
                    self.bind(rest, value, scope)
            case ast.MatchClass(cls=named, patterns=patterns, kwd_attrs=attrs):
                klass = self.eval(named, scope)
                fields = self.fields_of(klass) if isinstance(klass, Klass) else []
                inners = [*patterns, *pattern.kwd_patterns]
                for attr, inner in zip([*fields[: len(patterns)], *attrs], inners, strict=False):
                    part = self.attribute(value, attr, spot, scope)
                    self.bind_pattern(inner, part, spot, scope)

    def _parts(self, patterns: list[ast.pattern], value: Value, scope: Scope) -> list[Value]:
        """Return the parts of a value that a sequence of patterns matches."""
        targets: list[ast.expr] = [
            ast.Starred(ast.Name("_", ast.Store()), ast.Store())
            if isinstance(pattern, ast.MatchStar)
            else ast.Name("_", ast.Store())
            for pattern in patterns
        ]
        return self.unpack(value, targets, scope)


def _is_irrefutable(pattern: ast.pattern) -> bool:
    """Tell whether a pattern matches whatever there is."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=inner) if inner is not None:
            return _is_irrefutable(inner)
        case ast.MatchOr(patterns=patterns):
            return any(map(_is_irrefutable, patterns))
    return False


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
    return isinstance(new, (Seq, Dict, Obj, Either, Iter)) and type(old) is not type(new)


def _is_probe(node: ast.Try) -> bool:
    """Tell whether something is tried that is done on the CPU instead where it fails."""
    return any(
        isinstance(part, ast.Constant) and part.value == "cpu"
        for handler in node.handlers
        for part in syntax.walk_all(handler.body)
    )
