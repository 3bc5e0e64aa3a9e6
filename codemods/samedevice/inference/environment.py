"""What names, attributes and members hold on each path of a program: fork, leave and join.

An environment is the names of the code that runs, and the *cells* of the objects that it changes:
attributes of instances, entries of mappings, the members of a list, names of other scopes. Names
are copied where a path forks; cells are written in place and kept in a trail, so that a path can be
left (its cells are read and taken back) before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from samedevice.inference.nodes import Cause, PlaceVar
from samedevice.inference.objects import Attributes, Environment, Instance, Scope
from samedevice.inference.values import Dict, Seq, Tensor, Value

#: What holds cells: attributes or entries by name, names of a scope, a list, a mapping's others,
#: and the place of a module.
Store = dict[Any, Value] | Scope | Seq | Dict | Instance
#: The join of two values, one of which may be missing on its path.
Join = Callable[[Value | None, Value], Value]
#: The place of what is in one of two places, depending on the path.
JoinPlaces = Callable[[PlaceVar, PlaceVar], PlaceVar]

_Key = tuple[int, Any]
#: The places of modules that one of two paths moves, with the join of both.
_Moved = dict[tuple[PlaceVar, PlaceVar], PlaceVar]
#: Of what is written in these, all is one cell.
_TOGETHER = (Attributes, dict)


@dataclass
class _Cell:
    """One place that was written, and what it holds (None for nothing).

    Attributes and entries are one cell together, which holds a copy of them: constructors write
    many, of objects that the other paths do not know.
    """

    target: Store
    key: Any
    value: Any
    before: Any = None  # what it held where the path began

    def entries(self) -> Iterator[tuple[Any, Any]]:
        """Yield the attributes or entries that the path wrote, and what they hold."""
        if self.target.__class__ in _TOGETHER:
            for name, value in self.value.items():
                if self.before is None or self.before.get(name) is not value:
                    yield name, value


@dataclass(eq=False, slots=True)
class Path:
    """A part of a program that others run beside: what happens there may not happen.

    `arm`: of an `if` or a `match`; loops and what is tried are taken to run.
    """

    outer: Path | None
    arm: bool = False

    def holds(self, inner: Path | None) -> bool:
        """Tell whether another path is this one, or a part of it."""
        while inner is not None and inner is not self:
            inner = inner.outer
        return inner is self

    def is_beside(self, other: Path | None) -> bool:
        """Tell whether this path is in an arm of which another one, around it, knows nothing."""
        path: Path | None = self
        while path is not None and not path.holds(other):
            if path.arm:
                return True
            path = path.outer
        return False


@dataclass
class State:
    """What one path made of names and cells, since the fork at which it began."""

    names: Environment
    cells: dict[_Key, _Cell]


@dataclass(frozen=True)
class Fork:
    """The names and the position in the trail at which paths part."""

    before: Environment
    mark: int


@dataclass
class Loop:
    """A loop that is being evaluated: what left it, or its round, before the end of its body."""

    mark: int
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass
class Exits:
    """What a function's early returns left, and the paths that were open where it was called."""

    mark: int
    forks: int
    states: list[State] = field(default_factory=list)


class Trail:
    """Everything that is written to cells since the outermost fork that is open."""

    def __init__(self, join: Join, join_places: JoinPlaces) -> None:
        self._join = join
        self._join_places = join_places
        self._log: list[_Cell] = []
        self._noted: dict[_Key, int] = {}  # where in the log a cell was noted last
        self._marked = 0  # the latest position that somebody may go back to
        self.forks = 0

    def note(self, target: Store, key: Any = None) -> None:
        """Say that a cell is about to be written; with `key` None, all of a list or the others."""
        if not self.forks:
            return
        if target.__class__ in _TOGETHER:
            key = None
        name = id(target), key
        if self._noted.get(name, -1) < self._marked:  # else what it held is known
            self._noted[name] = len(self._log)
            self._log.append(_Cell(target, key, _read(target, key)))

    def put(self, target: dict[Any, Value], key: Any, value: Value) -> None:
        """Write an attribute or an entry."""
        self.note(target, key)
        target[key] = value

    def place(self, module: Instance, node: PlaceVar) -> None:
        """Say where a module is from now on, on this path."""
        self.note(module)
        module.node = node

    def mark(self) -> int:
        """Return the present position."""
        self._marked = len(self._log)
        return self._marked

    def fork(self, scope: Scope) -> Fork:
        """Begin a path; `close` has to follow."""
        self.forks += 1
        return Fork(scope.names.copy(), self.mark())

    def capture(self, scope: Scope, mark: int) -> State:
        """Return what the path has made since `mark`, which goes on."""
        cells = {
            name: _Cell(cell.target, cell.key, _read(cell.target, cell.key), cell.value)
            for name, cell in self._since(mark).items()
        }
        return State(scope.names.copy(), cells)

    def written(self, mark: int) -> list[tuple[Store, Any, Any]]:
        """Return the cells that were written since `mark`, and what they hold now."""
        found: list[tuple[Store, Any, Any]] = []
        for cell in self._since(mark).values():
            target = cell.target
            if target.__class__ in _TOGETHER:
                assert isinstance(target, dict)
                keys = dict.fromkeys((*cell.value, *target))
                written = [key for key in keys if target.get(key) is not cell.value.get(key)]
                found += ((target, key, target.get(key)) for key in written)
            else:
                found.append((target, cell.key, _read(target, cell.key)))
        return found

    def _since(self, mark: int) -> dict[_Key, _Cell]:
        """Return the cells that were written since `mark`, with what they held then."""
        cells: dict[_Key, _Cell] = {}
        for cell in self._log[mark:]:
            cells.setdefault((id(cell.target), cell.key), cell)
        return cells

    def leave(self, scope: Scope, fork: Fork) -> State:
        """Return what the path has made, and go back to where it began."""
        state = self.capture(scope, fork.mark) if len(self._log) > fork.mark else None
        if state is None:
            state = State(scope.names, {})
        self.undo(fork.mark)
        scope.names = fork.before.copy()
        return state

    def undo(self, mark: int) -> None:
        """Take back what was written since `mark`."""
        while len(self._log) > mark:
            cell = self._log.pop()
            self._noted.pop((id(cell.target), cell.key), None)
            _write(cell.target, cell.key, cell.value)
        self._marked = min(self._marked, mark)

    def close(self) -> None:
        """End the paths of a fork: all of them were left."""
        self.forks -= 1
        if not self.forks:
            self._log.clear()
            self._noted.clear()
            self._marked = 0

    def resume(self, scope: Scope, states: Iterable[State]) -> None:
        """Continue after the fork with what holds on some of these paths; there is at least one."""
        first, *others = states
        names = first.names
        for state in others:
            names = self.join_names(names, state.names)
        scope.names = names
        self.merge((first, *others))

    def merge(self, states: Iterable[State]) -> None:
        """Write cells as some of these paths left them."""
        states = tuple(states)
        moved: _Moved = {}
        targets = {key: cell.target for state in states for key, cell in state.cells.items()}
        # The places of modules are joined first: their parameters are where they are.
        for key in sorted(targets, key=lambda key: not isinstance(targets[key], Instance)):
            target, name = targets[key], key[1]
            values: list[Any] = []
            for state in states:
                cell = state.cells.get(key)
                values.append(cell.value if cell is not None else None)
            before = _read(target, name) if None in values else None  # as it was before the fork
            value, *rest = [before if each is None else each for each in values]
            for each in rest:
                value = self._either(target, value, each, moved)
            self.note(target, name)
            _write(target, name, value)

    def join_names(self, left: Environment, right: Environment) -> Environment:
        """Join the names at the end of two paths; what one of them left unbound names no device."""
        joined = left.copy()
        for name, value in right.items():
            other = left.get(name)
            if other is not value:
                joined[name] = value if other is None else self._join(other, value)
        for name in [name for name in joined.devices if name not in left or name not in right]:
            del joined.devices[name]
        return joined

    def _either(self, target: Store, left: Any, right: Any, moved: _Moved) -> Any:
        if left is None or right is None or left is right:
            return right if left is None else left
        if target.__class__ in _TOGETHER:
            joined = left.copy()
            for name, value in right.items():
                held = left.get(name)
                if held is not value:
                    joined[name] = _of_moved(held, value, moved) or self._join(held, value)
            return joined
        if isinstance(target, Seq):
            both = self._join(_as_list(target, left), _as_list(target, right))
            assert isinstance(both, Seq)
            return both.items, both.element, both.added
        if isinstance(target, Instance):
            return self._of_module(left, right, moved)
        return self._join(left, right)

    def _of_module(self, left: PlaceVar, right: PlaceVar, moved: _Moved) -> PlaceVar:
        """Return where a module is that two paths leave in these places.

        Where one takes it to the CPU it is as on the other: such code most often takes it back.
        Where only one moves it, it is in one of two places.
        """
        one, other = left.find(), right.find()
        if _farness(one) != _farness(other):
            return right if _farness(one) < _farness(other) else left
        if one is other or bool(one.pin) == bool(other.pin):
            return right if other.joins else left
        made = moved.get((one, other))
        if made is None:
            made = moved[one, other] = self._join_places(left, right)
        return made


def _of_moved(left: Value | None, right: Value, moved: _Moved) -> Value | None:
    """Return the parameter of a module that is elsewhere on one path: it is where that is."""
    if left is None:
        return right
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        one, other = left.node.find(), right.node.find()
        if _farness(one) != _farness(other):
            return right if _farness(one) < _farness(other) else left
        if (one, other) in moved:
            made = left.copy()
            made.node = moved[one, other]
            return made
    return None


def _farness(node: PlaceVar) -> int:
    """Return how far from the CPU a module is by its moves: taken there, not moved yet, or moved.

    One that is built on a path is known to no other.
    """
    return {Cause.TO_CPU: 0, Cause.UNMOVED: 1}.get(node.find().cause, 2)


def _as_list(target: Seq, held: Any) -> Seq:
    made = Seq(target.kind, spot=target.spot)
    made.items, made.element, made.added = held
    return made


def _read(target: Store, key: Any) -> Any:
    if isinstance(target, Seq):
        items = list(target.items) if target.items is not None else None
        return items, target.element, target.added
    if isinstance(target, Dict):
        return target.element
    if isinstance(target, Instance):
        return target.node
    if target.__class__ in _TOGETHER:
        return target.copy()
    names = target.names if isinstance(target, Scope) else target
    return names.get(key)


def _write(target: Store, key: Any, value: Any) -> None:
    if isinstance(target, Seq):
        target.items, target.element, target.added = value
    elif isinstance(target, Dict):
        target.element = value
    elif isinstance(target, Instance):
        target.node = value
    elif isinstance(target, Scope):
        if value is None:
            target.names.drop(key)
        else:
            target.names[key] = value
    elif target.__class__ in _TOGETHER:
        target.clear()
        target.update(value)
    elif value is not None:
        target[key] = value
    elif key in target:
        del target[key]
