"""An evaluation that keeps what every expression gave, and what each value was made from."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from samedevice.inference import iteration
from samedevice.inference.dispatch import EVALUATORS
from samedevice.inference.environment import State
from samedevice.inference.focus import PartialAnalysis
from samedevice.inference.interpret import Interpreter
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Func, Instance, Scope, Union
from samedevice.inference.values import SCALAR, Const, Device, Dict, Seq, Tensor, Value
from samedevice.reading.project import Project

#: Values of one expression that are told apart, and values that one is said to be made from.
MOST = 8


class Tracer(Interpreter):
    """An evaluation that keeps what every expression gave, and what each value was made from.

    What tests hand in is kept beside what the program does, if `of_tests`.
    """

    def __init__(
        self, project: Project, program: frozenset[str] | None, of_tests: bool = False,
        focus: PartialAnalysis | None = None,
    ) -> None:  # fmt: skip
        super().__init__(project, program, focus)
        self._of_tests = of_tests
        self.seen: dict[ast.AST, list[Value]] = {}
        # Where a module was when an expression gave it, if it has been moved since.
        self.then: dict[tuple[ast.AST, Value], list[PlaceVar]] = {}
        # Modules as an expression gave them when `DataParallel` had perhaps moved them.
        self.adrift: set[tuple[ast.AST, Value]] = set()
        # What a switch gives as the code is written.
        self.written: dict[Device, Value] = {}
        self.births: dict[Value, tuple[Location | None, tuple[Value, ...]]] = {}
        self.file_of: dict[ast.AST, str] = {}
        self._made_of: list[list[Value]] = [[]]
        self._called: set[ast.AST] = set()

    def worth_evaluating(self, func: Func) -> bool:
        """Look into every function: a reader asks about all of them."""
        return True

    def eval(self, node: ast.expr, scope: Scope) -> Value:
        evaluate = EVALUATORS.get(type(node))
        if evaluate is None:
            return super().eval(node, scope)
        parts: list[Value] = []
        self._made_of.append(parts)
        value = evaluate(self, node, scope)
        self._made_of.pop()
        outer = self._made_of[-1]
        if is_placed(value):
            if isinstance(node, ast.Subscript):
                parts = self.seen.get(node.value, [])[-1:] or parts  # an index makes no place
            self.note(node, value)
            self.born(value, Location(scope.path, node), parts)
            parts = [value]
        elif isinstance(node, ast.Attribute) and (value is SCALAR or isinstance(value, Const)):
            parts = []  # a number that an object holds is not where the object is
        if len(outer) < MOST:
            outer.extend(parts)
        return value

    def note(self, node: ast.AST, value: Value) -> None:
        """Keep one value of an expression; what some caller hands in tells more than a symbol."""
        if not self.symbolic:
            self._called.add(node)
        elif node in self._called and not (self._of_tests and self.tests.running is not None):
            return
        for option in value.options if isinstance(value, Union) else (value,):
            if isinstance(option, Instance) or isinstance(option, Tensor) and option.lent:
                nodes = self.then.setdefault((node, option), [])
                if self._has_time(option):
                    nodes += [one for one in _nodes(option) if one not in nodes]
            if isinstance(option, Instance) and not option.moves:
                if any(one.spread for one in option.wholes()):
                    self.adrift.add((node, option))
        known = self.seen.setdefault(node, [])
        if len(known) < MOST and all(value is not other for other in known):
            known.append(value)

    def _has_time(self, value: Value) -> bool:
        """Tell whether it is known when a module is where it is by now.

        Nobody is seen to call what is evaluated with symbols: before or after the others that move
        what its object has. Only what it builds or moves by itself is in order.
        """
        if not self.symbolic or self.in_constructor or not isinstance(value, Instance):
            return True
        made = [value.site.spot] if value.site is not None else []
        spots = [*made, *(spot for whole in value.wholes() for spot in whole.moves[-1:])]
        return not spots or any(
            _holds(function, spot.node)
            for spot in spots
            for function in self.stack
            if function in self.scopes and self.scopes[function].path == spot.path
        )

    def born(self, value: Value, spot: Location | None, parts: Iterable[Value]) -> None:
        """Keep what a value was first made from."""
        if value not in self.births:
            self.births[value] = spot, tuple(part for part in parts if part is not value)[:MOST]

    def operate(
        self, operands: list[tuple[Tensor, Location]], spot: Location, elementwise: bool,
        in_place: bool = False,
    ) -> Tensor:  # fmt: skip
        result = super().operate(operands, spot, elementwise, in_place)
        self.born(result, spot, [tensor for tensor, _ in operands])
        return result

    def derived(self, owner: Tensor, spot: Location) -> Tensor:
        made = super().derived(owner, spot)
        self.born(made, None, [owner])
        return made

    def join(self, left: Value | None, right: Value) -> Value:
        joined = super().join(left, right)
        if left is not None and isinstance(joined, Tensor):
            self.born(joined, None, [left, right])
        return joined

    def as_written(self, value: Value, taken: Value) -> Value:
        if not isinstance(value, Device) or value is taken:
            return value
        if value.spot is None:
            return value
        # A place of its own: others have this device whatever the switch says.
        chosen, root = value.at(self.graph.node(value.spot)), value.node.find()
        if root.pin is not None:
            self.graph.pin(chosen.node, root.pin, value.spot, root.name)
        else:
            self.graph.flow(root, chosen.node)
        chosen.planned, chosen.partial = value.planned, value.partial
        chosen.otherwise, chosen.counted = value.otherwise, value.counted
        self.written[chosen] = taken
        return chosen

    def iterate(self, value: Value, spot: Location, scope: Scope) -> Value:
        element = super().iterate(value, spot, scope)
        if isinstance(value, Tensor) and isinstance(element, Tensor) and element.site is None:
            self.born(element, None, [value])
        return element

    def loop(
        self, target: ast.expr | None, elements: list[Value], body: Callable[[], bool],
        scope: Scope, node: ast.stmt, again: Callable[[], list[Value]] | None = None,
        exact: bool = False,
    ) -> list[State]:  # fmt: skip
        before = scope.names.copy()

        def watched() -> bool:
            for name, value in scope.names.items():
                old = before.get(name)
                if isinstance(value, Tensor) and isinstance(old, Tensor) and value is not old:
                    self.born(value, None, [old])  # what a round finds, it found before the loop
            return body()

        return super().loop(target, elements, watched, scope, node, again, exact)

    def assign(self, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt) -> None:
        super().assign(target, value, scope, statement)
        if isinstance(target, ast.Attribute):
            for owner in self.seen.get(target.value, ())[-1:]:
                stored = owner.attrs.get(target.attr) if isinstance(owner, Instance) else None
                if isinstance(stored, Tensor) and stored is not value:
                    self.born(stored, None, [value])
                value = stored or value
        if is_placed(value) and not isinstance(statement, ast.AugAssign):
            self.note(target, value)

    def bind_arguments(self, func: Func, *given: object) -> None:
        super().bind_arguments(func, *given)  # type: ignore[arg-type]
        scope = given[-1]
        assert isinstance(scope, Scope)
        spec = func.node.args
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            value = scope.names.get(argument.arg)
            if value is not None and value is not func.bound and is_placed(value):
                self.note(argument, value)
                self.born(value, Location(scope.path, argument), ())


def _holds(function: ast.AST, node: ast.AST) -> bool:
    """Tell whether code is within a function of its file."""
    first, last = getattr(function, "lineno", 0), getattr(function, "end_lineno", 0)
    return first <= getattr(node, "lineno", -1) <= last


def _nodes(value: Instance | Tensor) -> list[PlaceVar]:
    """Return where a value is by now: of a module whose parts moved by themselves, where these are.

    What it has of its own counts, too.
    """
    if value.node is None:
        return []
    if not isinstance(value, Instance) or value.family != "module":
        return [value.node]
    here = iteration.kept_up(value) or value.node
    parts = [
        part.node
        for part in value.held()
        if part.family == "module" and part.stateful and part.node is not None
    ]
    own = any(isinstance(held, Tensor) and value.holds(held) for held in value.attrs.values())
    roots = {part.find() for part in parts} - {here.find()}
    if not roots:
        return [here]
    return [*parts, here] if own else parts


def members(value: Value) -> list[Value]:
    """Return what a value may be, or what it holds."""
    if isinstance(value, Union):
        return value.options
    return list(value.members()) if isinstance(value, (Seq, Dict)) else []


def is_placed(value: Value) -> bool:
    """Tell whether a value has a place; a container does if it holds a few tensors only."""
    if isinstance(value, (Tensor, Device)):
        return True
    if isinstance(value, Instance):
        return value.node is not None
    if isinstance(value, Union):
        return all(is_placed(option) for option in value.options)
    if isinstance(value, (Seq, Dict)):
        inner = members(value)
        return 0 < len(inner) <= MOST and all(isinstance(m, Tensor) for m in inner)
    return False
