"""Definite assignment: whether a name is bound, on every path, where it is used.

A data-flow over Python's `ast` with fork (`if`, `match`, conditional expressions), join, and leave
(`return`, `raise`, `break`, `continue`). A name is a set of `State`s; what is not known counts as
unbound. Functions run when something that a file does may call them, and see its names as of then.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntFlag

from samedevice.reading import syntax
from samedevice.reading.syntax import asked_for_none, is_main_test
from samedevice.verify.callers import Callers, Unit


class State(IntFlag):
    """What a name may be at a place; several at once where paths differ."""

    UNBOUND = 1
    NONE = 2
    BOUND = 4


Names = dict[str, State]
"""The states of the tracked names; None in the place of it is code that is not reached."""

_LEAVING = frozenset({"sys.exit", "exit", "quit", "os._exit"})
_SUPPRESSING = frozenset({"suppress", "raises", "assertRaises"})
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__package__"}


def states(
    callers: Callers, names: Collection[str], *, as_main: bool = True,
    brought: Collection[str] = (),
) -> dict[ast.Name, State]:  # fmt: skip
    """Return what each use of one of the names in a file may find.

    `as_main`: the file runs as a program; otherwise it is imported, and what it guards by
    `if __name__ == "__main__":` does not happen. A function that nothing in the file calls is
    taken to be called when all of the file has run. `brought` are the names that its
    `from module import *` bring, as far as that is known.
    """
    return _Module(callers, frozenset(names), as_main, frozenset(brought)).found


def at_end(tree: ast.Module, names: Collection[str]) -> Names:
    """Return the states of names of a file for those who import it."""
    asked = frozenset(names)  # an import of all names may bring any of them
    return _Module(Callers(tree), asked, as_main=False, brought=asked).end


def _join(one: Names | None, other: Names | None) -> Names | None:
    if one is None or other is None:
        return other if one is None else one
    return {name: one[name] | other[name] for name in one}


@dataclass
class _Loop:
    """Where `break` and `continue` lead."""

    broken: Names | None = None
    continued: Names | None = None


@dataclass
class _Raised:
    """The names as they may be when something in a `try` is raised."""

    names: Names | None = None


@dataclass
class _Later:
    """A function inside a function, and what its names may be when it is called."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    entry: Names | None = None


class _Module:
    """The analysis of one file."""

    def __init__(
        self, callers: Callers, names: frozenset[str], as_main: bool, brought: frozenset[str]
    ) -> None:
        self.names = names
        self.brought = brought & names
        self.as_main = as_main
        self.found: dict[ast.Name, State] = {}
        self.callers = callers
        start: Names = {name: State.BOUND if name in _BUILTINS else State.UNBOUND for name in names}
        self._entries: dict[Unit, Names] = {}
        flow = _Flow(self, at_module=True)
        end = flow.body(callers.tree.body, start)
        self.end: Names = end if end is not None else (flow.left or start)
        for unit in self.callers.units:
            if names.isdisjoint(callers.mentioned(unit)):
                continue
            _Flow(self).function(unit.node, self._entries.get(unit, self.end))

    def called(self, units: Iterable[Unit], names: Names) -> None:
        """Note that the file may call functions here, and thereby others."""
        for unit in self.callers.reached(units):
            known = _join(self._entries.get(unit), names)
            assert known is not None
            self._entries[unit] = known


class _Flow:
    """The names' states along the paths of one body and what is inside it."""

    def __init__(self, module: _Module, *, at_module: bool = False) -> None:
        self._module = module
        self._tracked = module.names
        self._at_module = at_module
        self._loops: list[_Loop] = []
        self._raising: list[_Raised] = []
        self._later: dict[str, _Later] = {}
        self.left: Names | None = None  # where it returns

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, outside: Names
    ) -> None:
        """Go through a function that sees the names outside as they are given."""
        local = self._module.callers.bound_in(node)
        names = {n: State.UNBOUND if n in local else state for n, state in outside.items()}
        given = [a.arg for a in syntax.walk(node.args) if isinstance(a, ast.arg) and a.arg in names]
        asked = asked_for_none(node) if given else frozenset()
        for name in given:  # who asks whether there is something may be handed None
            names[name] = State.BOUND | (State.NONE if name in asked else State(0))
        if isinstance(node, ast.Lambda):
            self.value(node.body, names)
            return
        end = self.body(node.body, names)
        end = _join(end, self.left)
        for later in list(self._later.values()):
            entry = later.entry if later.entry is not None else end
            if entry is not None:
                _Flow(self._module).function(later.node, entry)

    # Statements

    def body(self, statements: Sequence[ast.stmt], names: Names | None) -> Names | None:
        """Return the names behind statements."""
        for statement in statements:
            if names is None:
                return None
            self._may_raise(names)
            names = self._statement(statement, names)
        return names

    def _may_raise(self, names: Names) -> None:
        for raised in self._raising:
            raised.names = _join(raised.names, names)

    def _statement(self, node: ast.stmt, names: Names) -> Names | None:
        match node:
            case ast.If():
                yes, no = self._test(node.test, names)
                return _join(self.body(node.body, yes), self.body(node.orelse, no))
            case ast.While():
                return self._while(node, names)
            case ast.For() | ast.AsyncFor():
                return self._for(node, names)
            case ast.Try():
                return self._try(node, names)
            case ast.With() | ast.AsyncWith():
                return self._with(node, names)
            case ast.Match():
                return self._match(node, names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._definition(node, names)
        if type(node).__name__ == "TryStar":  # Python 3.11
            return self._try(node, names)  # type: ignore[arg-type]
        return self._simple(node, names)

    def _simple(self, node: ast.stmt, names: Names) -> Names | None:
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                self._leave(node, names)
                return None
            case ast.Assert(test=test):
                return self._test(test, names)[0]
            case ast.Assign(targets=targets, value=value):
                names = self.value(value, names)
                for target in targets:
                    names = self._store(target, names, self._state_of(value))
                return names
            case ast.AnnAssign(target=target, value=value):
                if value is None:
                    return names
                return self._store(target, self.value(value, names), self._state_of(value))
            case ast.AugAssign(target=target, value=value):
                if isinstance(target, ast.Name):
                    names = self._load(target, names)
                names = self.value(value, names)
                return self._store(target, names)
            case ast.Import() | ast.ImportFrom():
                return self._import(node, names)
            case ast.Delete(targets=targets):
                for target in targets:
                    names = self.value(target, names) if _is_part(target) else names
                    if isinstance(target, ast.Name):
                        names = self._set(target.id, State.UNBOUND, names)
                return names
            case ast.Expr(value=value):
                names = self.value(value, names)
                leaves = isinstance(value, ast.Call) and syntax_name(value.func) in _LEAVING
                return None if leaves else names
        return self._parts(node, names)

    def _leave(self, node: ast.Return | ast.Raise | ast.Break | ast.Continue, names: Names) -> None:
        if isinstance(node, ast.Return):
            self.left = _join(self.left, self.value(node.value, names))
        elif isinstance(node, ast.Raise):
            self._may_raise(self._parts(node, names))
        elif self._loops:
            loop = self._loops[-1]
            if isinstance(node, ast.Break):
                loop.broken = _join(loop.broken, names)
            else:
                loop.continued = _join(loop.continued, names)

    def _state_of(self, value: ast.expr) -> State:
        match value:
            case ast.Constant(value=None):
                return State.NONE
            case ast.IfExp(body=body, orelse=orelse):
                return self._state_of(body) | self._state_of(orelse)
        return State.BOUND

    def _import(self, node: ast.Import | ast.ImportFrom, names: Names) -> Names:
        for alias in node.names:
            if alias.name == "*":
                for bound in self._module.brought:
                    names = self._set(bound, State.BOUND, names)
                continue
            bound = alias.asname or alias.name.partition(".")[0]
            names = self._set(bound, State.BOUND, names)
        return names

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, names: Names
    ) -> Names | None:
        for decorator in node.decorator_list:
            names = self.value(decorator, names)
        if isinstance(node, ast.ClassDef):
            for value in (*node.bases, *(keyword.value for keyword in node.keywords)):
                names = self.value(value, names)
            self._class(node, names)
        else:
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            for value in defaults:
                names = self.value(value, names)
            if not self._at_module:
                self._later[node.name] = _Later(node)
        return self._set(node.name, State.BOUND, names)

    def _class(self, node: ast.ClassDef, names: Names) -> None:
        local = self._module.callers.bound_in(node)
        inside = {n: State.UNBOUND if n in local else state for n, state in names.items()}
        flow = _Flow(self._module, at_module=self._at_module)
        end: Names | None = inside
        for statement in node.body:
            if end is None:
                break
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                end = flow._definition(statement, end)
            else:
                end = flow._statement(statement, end)
        if not self._at_module:
            # methods see what is around the class, when something uses it
            for later in flow._later.values():
                self._later[f"{node.name}.{later.node.name}"] = later

    def _while(self, node: ast.While, names: Names) -> Names | None:
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        loop = _Loop()
        head: Names | None = names
        after: Names | None = None
        while True:
            assert head is not None
            yes, no = self._test(node.test, head)
            self._loops.append(loop)
            end = self.body(node.body, yes)
            self._loops.pop()
            after = None if always else no
            again = _join(head, _join(end, loop.continued))
            if again == head:
                break
            head = again
        return _join(self.body(node.orelse, after), loop.broken)

    def _for(self, node: ast.For | ast.AsyncFor, names: Names) -> Names | None:
        names = self.value(node.iter, names)
        self._uses_values(names)
        loop = _Loop()
        head: Names | None = names
        last: Names | None = None
        while True:
            assert head is not None
            self._loops.append(loop)
            last = self.body(node.body, self._store(node.target, head))
            self._loops.pop()
            last = _join(last, loop.continued)
            again = _join(head, last)
            if again == head:
                break
            head = again
        after = last if _runs(node.iter) else head
        return _join(self.body(node.orelse, after), loop.broken)

    def _try(self, node: ast.Try, names: Names) -> Names | None:
        raised = _Raised(names)
        self._raising.append(raised)
        end = self.body(node.body, names)
        if end is not None:
            raised.names = _join(raised.names, end)
        self._raising.pop()
        cleaned = _Raised(raised.names)
        self._raising.append(cleaned)
        end = self.body(node.orelse, end)
        for handler in node.handlers:
            inside = raised.names
            if handler.type is not None and inside is not None:
                inside = self.value(handler.type, inside)
            if handler.name and inside is not None:
                inside = self._set(handler.name, State.BOUND, inside)
            inside = self.body(handler.body, inside)
            if handler.name and inside is not None:
                inside = self._set(handler.name, State.UNBOUND, inside)
            end = _join(end, inside)
        self._raising.pop()
        if node.finalbody:
            everything = _join(cleaned.names, end)
            self.body(node.finalbody, everything)  # also on the way out
            return self.body(node.finalbody, end)
        return end

    def _with(self, node: ast.With | ast.AsyncWith, names: Names) -> Names | None:
        suppresses = False
        self._uses_values(names)
        for item in node.items:
            names = self.value(item.context_expr, names)
            if isinstance(item.context_expr, ast.Call):
                name = syntax_name(item.context_expr.func)
                suppresses |= name.rpartition(".")[2] in _SUPPRESSING
            if item.optional_vars is not None:
                names = self._store(item.optional_vars, names)
        raised = _Raised(names)
        self._raising.append(raised)
        end = self.body(node.body, names)
        self._raising.pop()
        return _join(end, raised.names) if suppresses else end

    def _match(self, node: ast.Match, names: Names) -> Names | None:
        names = self.value(node.subject, names)
        end: Names | None = None
        left: Names | None = names
        for case in node.cases:
            if left is None:
                break
            inside = left
            for part in syntax.walk(case.pattern):
                bound = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(bound, str):
                    inside = self._set(bound, State.BOUND, inside)
            yes: Names | None = inside
            if case.guard is not None:
                yes, _ = self._test(case.guard, inside)
            end = _join(end, self.body(case.body, yes))
            always = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            if always and case.guard is None:
                left = None
        return _join(end, left)

    # Expressions

    def value(self, node: ast.expr | None, names: Names) -> Names:
        """Return the names behind an expression."""
        match node:
            case None | ast.Constant():
                return names
            case ast.Name():
                return self._load(node, names)
            case ast.NamedExpr(target=target, value=value):
                names = self.value(value, names)
                return self._store(target, names, self._state_of(value))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, no = self._test(test, names)
                ends = (
                    self.value(part, side) if side is not None else None
                    for part, side in ((body, yes), (orelse, no))
                )
                return _join(*ends) or names
            case ast.BoolOp():
                return _join(*self._test(node, names)) or names
            case ast.Lambda():
                for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    names = self.value(default, names)
                _Flow(self._module).function(node, names)
                return names
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, names)
            case ast.Attribute(value=value):
                names = self.value(value, names)
                if self._at_module:
                    self._module.called(self._module.callers.by_attribute(node), names)
                return names
            case ast.Call(func=func):
                names = self._parts(node, names)
                if self._at_module and self._module.callers.is_value(func):
                    self._uses_values(names)
                return self._settled_by(func, names)
        return self._parts(node, names)

    def _parts(self, node: ast.AST, names: Names) -> Names:
        for child in syntax.children(node):
            if isinstance(child, ast.expr):
                names = self.value(child, names)
            elif not isinstance(child, ast.stmt):
                names = self._parts(child, names)
        return names

    def _uses_values(self, names: Names) -> None:
        """Note that methods of values that are not followed may be called here."""
        if self._at_module:
            self._module.called(self._module.callers.implicit, names)

    def _settled_by(self, func: ast.expr, names: Names) -> Names:
        """Return the names behind a call of a function that sets global ones."""
        if isinstance(func, ast.Name):
            for name in self._module.callers.sets(func.id) & self._tracked:
                names = self._set(name, State.BOUND, names)
        return names

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, names: Names
    ) -> Names:
        names = self.value(node.generators[0].iter, names)
        own = {
            part.id
            for generator in node.generators
            for part in syntax.walk(generator.target)
            if isinstance(part, ast.Name)
        }
        inside = {name: State.UNBOUND if name in own else names[name] for name in names}
        for number, generator in enumerate(node.generators):
            if number:
                inside = self.value(generator.iter, inside)
            inside = self._store(generator.target, inside)
            for test in generator.ifs:
                inside = self._test(test, inside)[0] or inside
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            inside = self.value(part, inside)
        outside = {n: names[n] if n in own else inside[n] for n in names}
        return _join(names, outside) or names  # it may run for nothing

    def _test(self, node: ast.expr, names: Names) -> tuple[Names | None, Names | None]:
        """Return the names where a test is true and where it is false."""
        match node:
            case ast.Constant(value=constant):
                return (names, None) if constant else (None, names)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yes, no = self._test(operand, names)
                return no, yes
            case ast.BoolOp(op=op, values=values):
                left: Names | None = names
                out: Names | None = None
                for value in values:
                    if left is None:
                        break
                    yes, no = self._test(value, left)
                    left, gone = (yes, no) if isinstance(op, ast.And) else (no, yes)
                    out = _join(out, gone)
                return (left, out) if isinstance(op, ast.And) else (out, left)
            case ast.Name(id=name):
                names = self._load(node, names)
                return self._without(name, State.NONE, names), names
            case ast.Compare(
                left=ast.Name(id=name) as left_side,
                ops=[op],
                comparators=[ast.Constant(value=None)],
            ):
                names = self._load(left_side, names)
                something = self._without(name, State.NONE, names)
                nothing = self._without(name, State.BOUND, names)
                if isinstance(op, (ast.Is, ast.Eq)):
                    return nothing, something
                if isinstance(op, (ast.IsNot, ast.NotEq)):
                    return something, nothing
        if is_main_test(node):
            return (names, None) if self._module.as_main else (None, names)
        names = self.value(node, names)
        return names, names

    # Names

    def _load(self, node: ast.Name, names: Names) -> Names:
        name = node.id
        if self._at_module:
            self._module.called(self._module.callers.by_name(name), names)
        later = self._later.get(name)
        if later is not None:
            later.entry = _join(later.entry, names)
        for full, inner in self._later.items():
            if full.startswith(f"{name}."):
                inner.entry = _join(inner.entry, names)
        if name not in self._tracked:
            return names
        state = names[name]
        self._module.found[node] = self._module.found.get(node, State(0)) | state
        known = state & ~State.UNBOUND  # or it would have been raised here
        return names if known == state else {**names, name: known or State.BOUND}

    def _set(self, name: str, state: State, names: Names) -> Names:
        if name not in self._tracked or names[name] == state:
            return names
        return {**names, name: state}

    def _without(self, name: str, state: State, names: Names) -> Names | None:
        if name not in self._tracked:
            return names
        left = names[name] & ~state
        return {**names, name: left} if left else None

    def _store(self, target: ast.expr, names: Names, state: State = State.BOUND) -> Names:
        match target:
            case ast.Name(id=name):
                return self._set(name, state, names)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for part in elts:
                    names = self._store(part, names)
                return names
            case ast.Starred(value=value):
                return self._store(value, names)
        return self._parts(target, names)


def _runs(iterated: ast.expr) -> bool:
    """Tell whether a loop over this certainly runs."""
    match iterated:
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            return any(not isinstance(part, ast.Starred) for part in elts)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(number))]):
            return number > 0
        case ast.Constant(value=str(text)):
            return bool(text)
    return False


def _is_part(target: ast.expr) -> bool:
    return not isinstance(target, ast.Name)


def syntax_name(node: ast.expr) -> str:
    """Return a dotted name as it is written, "" for anything else."""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
