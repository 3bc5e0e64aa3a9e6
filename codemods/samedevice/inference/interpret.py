"""Evaluate a project on abstract values: the order of evaluation, and what an observer may watch.

Every file is run as the program that it is, top to bottom, imports first; a call is followed into
the project's own functions with the values it passes, so one helper may serve host and device.
What nothing calls is evaluated last, with symbolic parameters.

What each kind of expression and statement does is in the modules beside this one: functions over
the interpreter, registered by the kind of node (`dispatch.py`).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

from samedevice.inference import (
    arithmetic,
    assignment,
    attributes,
    branches,
    calls,
    classes,
    conditions,
    demands,
    demonstrations,
    exits,
    expressions,
    functions,
    instances,
    iteration,
    loops,
    models,
    moving,
    nameable,
    operators,
    statements,
    subscripts,
    uncalled,
    unit_tests,
    witness,
)
from samedevice.inference.context import Context
from samedevice.inference.dispatch import EVALUATORS, EXECUTORS
from samedevice.inference.environment import State
from samedevice.inference.focus import Definitions, Target
from samedevice.inference.lines import Lines
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.sites import Site
from samedevice.inference.values import (
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    FunctionNode,
    Tensor,
    Value,
)
from samedevice.reading import syntax

#: What can be wrong about devices has one of these words in it. Each begins with a letter that it
#: has for certain: then `re` looks for one of these first, in a third of the time.
_TELLING = re.compile(
    r"cuda|device|numpy|deepcopy|\.cpu\(|\.to\(|np(?<!\wnp)\.|plt(?<!\wplt)\.|pack_padded|Generator|"
    r"data\[|\.next\(|retain_variables|"
    + "|".join(
        word + r"\("
        for word in (
            "zeros",
            "ones",
            "empty",
            "full",
            "eye",
            "tensor",
            "Tensor",
            "arange",
            "linspace",
            "logspace",
            r"rand\w*",
            "normal",
            "range",
            r"load\w*",
            "indices",
            "window",
            r"from_\w+",
            r"as_\w+",
            "polar",
            "complex",
            "frombuffer",
        )  # fmt: skip
    )
)
#: What evaluates expressions, statements and calls: each registers itself when it is imported.
REGISTERING = (
    arithmetic, assignment, branches, calls, classes, conditions, demands, exits, expressions,
    iteration, loops, models, operators, statements, subscripts,
)  # fmt: skip
#: Frames of Python that an evaluation may take: some 20 for each call of the program's.
_FRAMES = 4000


_Event = TypeVar("_Event", bound=Site)


class Interpreter(Context):
    """One evaluation of a project, or of those of its files that are in `program`.

    Fills `graph` and `sites`. With a `focus`, only its units are evaluated, and what they call.
    """

    # -- the project ------------------------------------------------------------------------

    def run(self) -> None:
        """Evaluate every file, then every function that nothing called."""
        frames = sys.getrecursionlimit()
        sys.setrecursionlimit(max(frames, _FRAMES))
        try:
            self._run()
        finally:
            sys.setrecursionlimit(frames)

    def _run(self) -> None:
        project, program = self.project, self.program
        files = project.torch_files if program is None else program & project.torch_files
        if self.focus is not None:
            files &= {path for path, _ in self.focus.units}
        anywhere = self.focus is not None and self.focus.rest.default_device
        for path in project.ordered(files):
            if path not in self.files:  # a default holds for the process that is told it
                self.default_device = False
                self.file(path)
                anywhere = anywhere or self.default_device
        self.default_device = anywhere
        for owner in self.awaiting:
            moving.arrive(self, owner)
        self.symbolic += 1
        self.graph.open = True
        index = 0
        while index < len(self.classes):
            klass = self.classes[index]
            index += 1
            self.tell_share(index)
            if self.begin(klass.scope.path, klass.node):
                instances.uncalled_class(self, klass)
        index = done = 0
        while index < len(self.functions):
            func = self.functions[index]
            index += 1
            if self.waits(func):
                done += 1
                self.tell_share(len(self.classes) + done)
                if self.begin(func.scope.path, func.node):
                    self.step(0)
                    functions.call_symbolic(self, func)
        self.symbolic -= 1
        for owner in self.awaiting:
            moving.arrive(self, owner)
        self.enter(("", ""))

    def tell_share(self, done: int) -> None:
        """Report progress in files, from the share of definitions that are evaluated.

        Methods count with their classes, and the rules take a tenth of the time.
        """
        if not self._to_do:
            self._to_do = 1 + len(self.classes) + sum(map(self.waits, self.functions))
        share = len(self.files) * 9 * done // (10 * self._to_do)
        if share > self._told:
            self.step(share - self._told)
            self._told = share

    def release(self) -> None:
        """Take the evaluation apart to free its memory: its parts refer to each other."""
        for scopes in (self.files.values(), *self.all_scopes.values()):
            for scope in scopes:
                scope.names.clear()
                scope.tests.clear()
                scope.keys.clear()
                del scope.globals
        for klass in self.classes:
            klass.names.clear()
            klass.symbolic = None
        for made in self.modules:
            made.attrs.clear()
            made.parent = made.copied_from = None
            made.parts.clear()
            made.copies.clear()
        for site in self.sites:
            site.release()
        self.graph.release()
        vars(self).clear()

    def begin(self, path: str, node: ast.AST) -> bool:
        """Begin to evaluate what nothing calls, unless the focus is on something else."""
        unit = path, self.definition(path, node)
        if self.focus is not None and unit not in self.focus.units:
            return False
        self.enter(unit)
        return True

    def enter(self, unit: Target) -> None:
        """Continue with another unit."""
        made = len(self.graph.nodes) + self.statements
        self.work[self.unit] = self.work.get(self.unit, 0) + made - self._counted
        if self.focus is not None:  # as much was evaluated before it in the whole
            statements, calls = self.focus.rest.begun.get(unit, (0, 0))
            self.statements = max(self.statements, statements)
            self.evaluations = max(self.evaluations, calls)
            made = len(self.graph.nodes) + self.statements
        self._counted, self.unit = made, unit
        self.begun.setdefault(unit, (self.statements, self.evaluations))

    def is_beside(self, func: Func) -> bool:
        """Tell whether a function is none of those that the focus is on."""
        assert self.focus is not None
        return self.unit_of(func) not in self.focus.changed

    def unit_of(self, func: Func) -> Target:
        """Return the unit that a function is in."""
        return func.scope.path, self.definition(func.scope.path, func.node)

    def definition(self, path: str, node: ast.AST) -> str:
        """Return the name of the definition at the top level of a file that a node is in, or ""."""
        known = self._definitions.get(path)
        if known is None:
            known = self._definitions[path] = Definitions.of(self.project.tree(path))
        return known.at(getattr(node, "lineno", 0))

    def callers(self) -> dict[Target, frozenset[Target]]:
        """Return for each definition, of those whose code was evaluated, the units that did it."""
        found: dict[Target, set[Target]] = {}
        for node, units in self.reached.items():
            if node not in self.scopes:
                continue  # only a template of it was evaluated
            path = self.scopes[node].path
            found.setdefault((path, self.definition(path, node)), set()).update(units)
        return {unit: frozenset(units) for unit, units in found.items()}

    def waits(self, func: Func) -> bool:
        """Tell whether a function is to be evaluated though nothing calls it."""
        if self.focus is not None and self.unit_of(func) not in self.focus.units:
            return False
        return func.node not in self.evaluated and func.cls is None and self.worth_evaluating(func)

    def worth_evaluating(self, func: Func) -> bool:
        """Tell whether a function that nothing calls has anything in it to judge."""
        if func.scope.func is not None:
            return True  # a closure may be handed to a library, with what it closes over
        read = {node.id for node in syntax.walk(func.node) if isinstance(node, ast.Name)}
        if any(self._is_held(func.scope, name) for name in read):
            return True
        text = self.project.sources[func.scope.path].lines(func.node)
        return syntax.says(_TELLING, text) or uncalled.reads_placed(func)

    @staticmethod
    def _is_held(scope: Scope, name: str) -> bool:
        """Tell whether a file holds a tensor, a module, or what makes tensors, under a name."""
        value = scope.names.get(name)
        held = isinstance(value, Instance) and value.family in ("module", "tokenizer", "transform")
        return held or isinstance(value, Tensor)

    def file(self, path: str) -> Scope:
        """Return the names of a file, evaluated once."""
        scope = self.files.get(path)
        if scope is not None:
            if path in self.defaults:
                self.tell_default()
            return scope
        tree = self.project.tree(path)
        scope = Scope(path, tree if tree is not None else ast.Module([], []), None)
        self.files[path] = scope
        self.step(0)
        if tree is None:
            return scope
        scope.names["__name__"] = Const("__main__")
        scope.names["__file__"] = SCALAR
        state = self.stack, self.in_worker, self.in_constructor, self.guarded, self.shown
        self.stack, self.in_worker, self.in_constructor, self.guarded = [], 0, 0, 0
        decided, self.deciders = self.deciders, frozenset()
        self.shown = demonstrations.is_toy(self.project, path)
        importer = self.unit
        self.enter((path, ""))
        self.running.append(path)
        first = len(self.sites)
        with unit_tests.file(self, path):
            self.block(tree.body, scope)
        if self.shown:
            demonstrations.take_back(self.sites[first:])
        self.running.pop()
        self.enter(importer)
        self.stack, self.in_worker, self.in_constructor, self.guarded, self.shown = state
        self.deciders = decided
        return scope

    def tell_default(self) -> None:
        """Note that new tensors are on a default device from now on, in this process."""
        self.default_device = True
        self.defaults.update(self.running)

    def scope_of(self, spot: Location) -> Scope | None:
        """Return the names that an expression sees, as its last evaluation left them."""
        if self._placed != len(self.scopes):
            self._placed, self._lines = len(self.scopes), {}
            by_path: dict[str, list[FunctionNode]] = {}
            for node, scope in self.scopes.items():
                by_path.setdefault(scope.path, []).append(node)
            self._lines = {path: Lines(nodes) for path, nodes in by_path.items()}
        lines = self._lines.get(spot.path)
        inner = lines.innermost(spot.node) if lines is not None else None
        return self.scopes[inner] if inner is not None else self.files.get(spot.path)

    # -- evaluating ----------------------------------------------------------------------------

    def eval(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression."""
        evaluate = EVALUATORS.get(type(node))
        value = evaluate(self, node, scope) if evaluate is not None else UNKNOWN
        if value is UNKNOWN and self.project.seen is not None:
            return witness.value(self, node, scope)
        return value

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Evaluate statements in order until one of them ends the flow."""
        guarded = self.guarded
        ended = False
        for statement in body:
            if self.execute(statement, scope):
                ended = True
                break
        self.guarded = guarded
        return ended

    def execute(self, statement: ast.stmt, scope: Scope) -> bool:
        """Evaluate one statement of a block; tell whether it ends the flow."""
        known = EXECUTORS.get(type(statement))
        return known is not None and known(self, statement, scope)

    def function(self) -> ast.AST | None:
        """Return the function that is being evaluated."""
        return self.stack[-1] if self.stack else None

    def parent_statement(self, spot: Location) -> ast.stmt | None:
        """Return the statement that is being evaluated, if `spot` is all of it."""
        statement = self.statement
        if isinstance(statement, ast.Expr) and statement.value is spot.node:
            return statement
        return None

    # -- sites ------------------------------------------------------------------------------

    def record(self, event: _Event) -> _Event:
        """Record what happens to a value, and under which circumstances."""
        event.in_constructor, event.in_worker = self.in_constructor > 0, self.in_worker > 0
        event.callers_unknown, event.under_device_test = self.symbolic > 0, self.guarded > 0
        event.deciders = self.deciders
        event.path, event.shown, event.aside = self.path, self.shown, self.graph.aside
        event.order = len(self.sites)
        self.sites.append(event)
        return event

    def snapshot(self, site: Site, scope: Scope) -> None:
        """Remember by which expressions the code at a site could name a device."""
        nameable.snapshot(self, site, scope)

    # -- what an observer may watch ---------------------------------------------------------

    def operate(
        self,
        operands: list[tuple[Tensor, Location]],
        spot: Location,
        elementwise: bool,
        in_place: bool = False,
    ) -> Tensor:
        """Return the result of an operation, whose operands meet."""
        return arithmetic.operate(self, operands, spot, elementwise, in_place)

    def derived(self, owner: Tensor, spot: Location) -> Tensor:
        """Return what is computed from a tensor alone."""
        return attributes.derived(self, owner, spot)

    def join(self, left: Value | None, right: Value) -> Value:
        """Return a value that may be either."""
        return self.lattice.join(left, right)

    def as_written(self, value: Value, taken: Value) -> Value:
        """Return what a switch chooses, whatever it says: an observer sees what it says now."""
        return value

    def iterate(self, value: Value, spot: Location, scope: Scope) -> Value:
        """Return an element that stands for all that iterating gives."""
        return iteration.iterate(self, value, spot, scope)

    def loop(
        self,
        target: ast.expr | None,
        elements: list[Value],
        body: Callable[[], bool],
        scope: Scope,
        node: ast.stmt,
        again: Callable[[], list[Value]] | None = None,
        exact: bool = False,
    ) -> list[State]:
        """Evaluate the rounds of a loop; return what holds where it was left by `break`."""
        return loops.loop(self, target, elements, body, scope, node, again, exact)

    def assign(self, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt) -> None:
        """Bind a target of an assignment."""
        assignment.assign(self, target, value, scope, statement)

    def bind_arguments(
        self,
        func: Func,
        args: list[Arg],
        kwargs: dict[str, Arg],
        scope: Scope,
    ) -> None:
        """Bind a function's parameters to the arguments of a call."""
        functions.bind_arguments(self, func, args, kwargs, scope)
