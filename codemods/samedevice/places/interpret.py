"""Evaluate a project on abstract values: statements, scopes and the order of evaluation.

Every file is run as the program that it is, top to bottom, imports first; a call is followed into
the project's own functions with the values it passes, so one helper may serve host and device.
What nobody calls is evaluated last, with parameters that stand for themselves.
"""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache, reduce

from samedevice import syntax
from samedevice.places import classes, operators
from samedevice.places.environment import Exits, Loop, State, Trail
from samedevice.places.expressions import parameters
from samedevice.places.focus import Definitions, Focus, Unit
from samedevice.places.graph import Graph, Node, Place, Spot
from samedevice.places.lattice import Lattice, counted
from samedevice.places.statements import Statements
from samedevice.places.values import (
    ARRAY,
    SCALAR,
    Const,
    Device,
    Dict,
    Either,
    Ext,
    Func,
    FunctionNode,
    Iter,
    Klass,
    Names,
    Namespace,
    Obj,
    Option,
    Scope,
    Seq,
    Site,
    Tensor,
    Value,
    parameter_of,
)
from samedevice.project import Project

#: What can be wrong about devices has one of these words in it. Each begins with a letter that it
#: has for certain: then `re` looks for one of these first, in a third of the time.
_TELLING = re.compile(
    r"cuda|device|numpy|deepcopy|\.cpu\(|\.to\(|np(?<!\wnp)\.|plt(?<!\wplt)\.|pack_padded|Generator|"
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

#: Frames of Python that an evaluation may take: some 20 for each call of the program's.
_FRAMES = 4000


class _Lines:
    """The functions of a file by their lines."""

    def __init__(self, nodes: list[FunctionNode]) -> None:
        # Of those that begin in one line, the one that was evaluated first comes last.
        self._nodes = sorted(reversed(nodes), key=lambda node: node.lineno)
        self._starts = [node.lineno for node in self._nodes]
        self._around: list[int] = []  # the one before each that may hold what it does not
        for index, node in enumerate(self._nodes):
            around = index - 1
            while around >= 0 and (self._nodes[around].end_lineno or 0) < node.lineno:
                around = self._around[around]
            self._around.append(around)

    def innermost(self, line: int) -> FunctionNode | None:
        """Return the last function to begin that has the line in it."""
        index = bisect_right(self._starts, line) - 1
        while index >= 0 and (self._nodes[index].end_lineno or 0) < line:
            index = self._around[index]
        return self._nodes[index] if index >= 0 else None


@cache
def _methods(prefix: str) -> dict[type[ast.AST], str]:
    """Return the interpreter's methods for the types of nodes."""
    kinds = [kind for kind in vars(ast).values() if isinstance(kind, type)]
    names = {kind: prefix + kind.__name__ for kind in kinds if issubclass(kind, ast.AST)}
    return {kind: name for kind, name in names.items() if hasattr(Interpreter, name)}


class Interpreter(Statements):
    """One evaluation of a project, or of those of its files that are in `program`.

    Fills `graph` and `sites`. With a `focus`, only its units are evaluated, and what they call.
    """

    def __init__(
        self,
        project: Project,
        program: frozenset[str] | None = None,
        focus: Focus | None = None,
    ) -> None:
        super().__init__()
        self.project = project
        self.program = program
        self.focus = focus
        self.work: dict[Unit, int] = {}  # the nodes that each unit made
        self._counted = 0
        self._definitions: dict[str, Definitions] = {}
        self.step: Callable[[int], None] = lambda files: None
        self.graph = Graph()
        self.lattice = Lattice(self.graph)
        self.trail = Trail(lambda left, right: self.join(left, right))
        self.loops: list[Loop] = []
        self.raising = []
        self.inside = []
        self.caught: list[tuple[int, list[State]]] = []
        self.exits: list[Exits] = []
        self._read_in: dict[ast.stmt, set[str]] = {}
        self.sites: list[Site] = []
        self.files: dict[str, Scope] = {}
        self.modules: list[Obj] = []
        self.classes: list[Klass] = []
        self.functions: list[Func] = []
        self.evaluated: set[ast.AST] = set()
        self.contexts: dict[ast.AST, int] = {}
        self.stack: list[ast.AST] = []
        self.hosted = 0
        self.constructing = 0
        # What a module holds in something that is no part of it: it does not move along.
        self.held: list[Node] = []
        self.guarded = 0
        self.symbolic = 0
        self.consumed: dict[ast.AST, Device] = {}
        self.forks: list[Spot] = []  # processes that compute with a module
        self.foreign: list[Spot] = []  # calls that hand a module to a library not known here
        # Constants that stand for an argument: the call that left it out, and the parameter.
        self.left_out: dict[Const, tuple[Spot, str]] = {}
        self.meant: set[ast.AST] = set()  # expressions of devices that are used as such
        self.cpu_devices: list[Device] = []
        self.named_literals: set[ast.AST] = set()
        self.stored_literals: set[ast.AST] = set()
        self._noted: set[ast.AST] = set()
        self.default_device = False
        self.defaults: set[str] = set()  # files that tell a default device, or import those
        self.running: list[str] = []
        # Classes, and those of their attributes that are set to a library's class later on.
        self.set_later: set[tuple[ast.AST, str]] = set()
        self._given = {}
        self.saved: dict[str, Value] = {}  # by how the file is named
        # Whether a class has a device among its names.
        self.class_devices = focus is not None and focus.rest.class_devices
        self.stored: dict[ast.stmt, list[str]] = {}
        self.conditional = 0
        self.statement: ast.stmt | None = None
        self.host_work: set[ast.AST] = set()
        self.offers: list[Spot] = []
        self.awaiting: list[Obj] = []
        self.wandering: list[Spot] = []
        self._words: dict[str, set[str]] = {}
        self._indexes: dict[frozenset[str], set[str]] = {}
        self.workers = False
        self.scopes: dict[FunctionNode, Scope] = {}
        self.all_scopes: dict[ast.AST, list[Scope]] = {}
        self.arguments: dict[ast.AST, list[tuple[Node, Spot, ast.AST | None]]] = {}
        # Heavy arithmetic, and the file whose code had it done.
        self.seeds: list[tuple[Node, Spot, Scope, str]] = []
        self._placed = 0
        self._told = self._to_do = 0
        self._lines: dict[str, _Lines] = {}
        self._returns: list[list[Value]] = []
        self._yields: list[list[Value]] = []
        self._exec: dict[type[ast.AST], Callable[[ast.AST, Scope], bool]] = {
            kind: getattr(self, name) for kind, name in _methods("exec_").items()
        }
        self._eval = {kind: getattr(self, name) for kind, name in _methods("eval_").items()}

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
            self.arrive(owner)
        self.symbolic += 1
        index = 0
        while index < len(self.classes):
            klass = self.classes[index]
            index += 1
            self.tell_share(index)
            if self.begin(klass.scope.path, klass.node):
                self.uncalled_class(klass)
        index = done = 0
        while index < len(self.functions):
            func = self.functions[index]
            index += 1
            if self.waits(func):
                done += 1
                self.tell_share(len(self.classes) + done)
                if self.begin(func.scope.path, func.node):
                    self.step(0)
                    self.call_symbolic(func)
        self.symbolic -= 1
        for owner in self.awaiting:
            self.arrive(owner)
        self.enter(("", ""))

    def tell_share(self, done: int) -> None:
        """Tell how many files more are done, by the share of definitions that are.

        Methods are done with their classes, and the rules will take a tenth of the whole.
        """
        if not self._to_do:
            self._to_do = 1 + len(self.classes) + sum(map(self.waits, self.functions))
        share = len(self.files) * 9 * done // (10 * self._to_do)
        if share > self._told:
            self.step(share - self._told)
            self._told = share

    def release(self) -> None:
        """Take the evaluation apart: its parts refer to each other, and are of no use then."""
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
        for site in self.sites:
            site.detail.clear()
        self.graph.release()
        vars(self).clear()

    def begin(self, path: str, node: ast.AST) -> bool:
        """Begin to evaluate what nothing calls, unless the focus is on something else."""
        unit = path, self.definition(path, node)
        if self.focus is not None and unit not in self.focus.units:
            return False
        self.enter(unit)
        return True

    def enter(self, unit: Unit) -> None:
        """Go over to another unit."""
        made = len(self.graph.nodes)
        self.work[self.unit] = self.work.get(self.unit, 0) + made - self._counted
        self._counted, self.unit = made, unit

    def definition(self, path: str, node: ast.AST) -> str:
        """Return the name of the definition at the top level of a file that a node is in, or ""."""
        known = self._definitions.get(path)
        if known is None:
            known = self._definitions[path] = Definitions.of(self.project.tree(path))
        return known.at(getattr(node, "lineno", 0))

    def callers(self) -> dict[Unit, frozenset[Unit]]:
        """Return for each definition, of those whose code was evaluated, the units that did it."""
        found: dict[Unit, set[Unit]] = {}
        for node, units in self.reached.items():
            if node not in self.scopes:
                continue  # only a template of it was evaluated
            path = self.scopes[node].path
            found.setdefault((path, self.definition(path, node)), set()).update(units)
        return {unit: frozenset(units) for unit, units in found.items()}

    def waits(self, func: Func) -> bool:
        """Tell whether a function is to be evaluated though nothing calls it."""
        return func.node not in self.evaluated and func.cls is None and self.telling(func)

    def telling(self, func: Func) -> bool:
        """Tell whether a function that nobody calls has anything in it to judge."""
        if func.scope.func is not None:
            return True  # a closure may be handed to a library, with what it closes over
        return _TELLING.search(self.project.sources[func.scope.path].lines(func.node)) is not None

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
        state = self.stack, self.hosted, self.constructing, self.guarded
        self.stack, self.hosted, self.constructing, self.guarded = [], 0, 0, 0
        importer = self.unit
        self.enter((path, ""))
        self.running.append(path)
        self.block(tree.body, scope)
        self.running.pop()
        self.enter(importer)
        self.stack, self.hosted, self.constructing, self.guarded = state
        return scope

    def tell_default(self) -> None:
        """Note that new tensors are on a default device from now on, in this process."""
        self.default_device = True
        self.defaults.update(self.running)

    def scope_of(self, spot: Spot) -> Scope | None:
        """Return the names that an expression sees, as its last evaluation left them."""
        if self._placed != len(self.scopes):
            self._placed, self._lines = len(self.scopes), {}
            by_path: dict[str, list[FunctionNode]] = {}
            for node, scope in self.scopes.items():
                by_path.setdefault(scope.path, []).append(node)
            self._lines = {path: _Lines(nodes) for path, nodes in by_path.items()}
        lines = self._lines.get(spot.path)
        inner = lines.innermost(getattr(spot.node, "lineno", 0)) if lines is not None else None
        return self.scopes[inner] if inner is not None else self.files.get(spot.path)

    # -- binding ----------------------------------------------------------------------------

    def bind(self, name: str, value: Value, scope: Scope) -> None:
        """Bind a name in its scope."""
        if scope.writes and name in scope.writes:
            outer = scope.outer
            while outer is not None and outer.outer is not None and name not in outer.names:
                outer = outer.outer
            outer = outer or scope.globals
            self.trail.note(outer, name)
            outer.names[name] = value
        else:
            scope.names[name] = value
            scope.tests.pop(name, None)

    def assign(self, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt) -> None:
        """Bind a target of any form."""
        match target:
            case ast.Name(id=name):
                value = self.reloaded(name, value, scope)
                self.note_binding(name, value, scope, statement)
                self.bind(name, value, scope)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for part, member in zip(targets, self.unpack(value, targets, scope), strict=True):
                    self.assign(part, member, scope, statement)
            case ast.Starred(value=inner):
                self.assign(inner, value, scope, statement)
            case ast.Attribute(value=owner, attr=attr):
                self.set_attribute(self.eval(owner, scope), attr, value, scope, statement)
            case ast.Subscript(value=owner, slice=index):
                self.set_item(owner, index, value, scope, statement)
                self.hides(owner, index, scope, statement)

    def reloaded(self, name: str, value: Value, scope: Scope) -> Value:
        """Return what a name holds: a model again, where a file is loaded in a model's stead.

        What was a number is one again.
        """
        if not isinstance(value, Tensor) or value.site is None or value.site.kind != "load":
            return value
        old = self.eval_Name(ast.Name(name, ast.Load()), scope)
        if counted(old, value):
            return SCALAR
        if not isinstance(old, Obj) or old.family != "module" or old.node is None:
            return value
        value.site.detail["into_module"] = True
        self.graph.same(value.node, old.node)  # it was saved where the model is
        return self.copied(old)

    def note_binding(self, name: str, value: Value, scope: Scope, statement: ast.stmt) -> None:
        """Remember where a batch, or a member of it, first gets a name: it is moved there."""
        if not isinstance(statement, ast.stmt) or not hasattr(statement, "lineno"):
            return  # a comprehension's target: nothing can be written behind it
        if isinstance(value, Tensor):
            site = value.site
            if site is not None and site.kind == "batch" and "bind" not in site.detail:
                site.detail["bind"] = (name, Spot(scope.path, statement))
                site.detail["bound_in"] = scope.node
                self.snapshot(site, scope)
        elif isinstance(value, (Seq, Dict, Obj)):
            if isinstance(value, Obj):
                if value.family or value.cls is None or value.cls.lookup("to") is None:
                    return
                members = list(value.attrs.values())
            else:
                members = list(value.members())
            for member in members:
                if (
                    isinstance(member, Tensor)
                    and member.site is not None
                    and member.site.kind == "batch"
                    and "container" not in member.site.detail
                ):
                    member.site.detail["container"] = (name, Spot(scope.path, statement), value)
                    member.site.detail["held_in"] = scope.node
                    member.site.detail["had_name"] = "bind" in member.site.detail
                    self.snapshot(member.site, scope)

    def unpack(self, value: Value, targets: list[ast.expr], scope: Scope) -> list[Value]:
        """Return one value for each target of an unpacking; `() = x` has none."""
        count = len(targets)
        if not count:
            return []
        if isinstance(value, Either):
            parts = [self.unpack(option, targets, scope) for option in value.options]
            return [self.any_of(column) for column in zip(*parts, strict=True)]
        starred = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        if isinstance(value, Seq) and value.items is not None:
            items = value.items
            if starred is None and len(items) == count:
                return list(items)
            if starred is not None and len(items) >= count - 1:
                tail = count - starred - 1
                middle = items[starred : len(items) - tail]
                end = items[len(items) - tail :] if tail else []
                return [*items[:starred], Seq("list", list(middle)), *end]
        if isinstance(value, Either):
            rows = [self.unpack(option, targets, scope) for option in value.options]
            return [reduce(self.join, column) for column in zip(*rows, strict=True)]
        whole = classes.members(value) if isinstance(value, Obj) else None
        if whole is not None:
            return self.unpack(whole, targets, scope)
        if isinstance(value, Tensor) and value.packed:
            return [self.part(value, i) for i in range(count)]
        if isinstance(value, Tensor):
            return [value] * count
        element = self.iterate(value, Spot(scope.path, targets[0]), scope)
        return [element] * count

    def set_attribute(
        self, owner: Value, attr: str, value: Value, scope: Scope, statement: ast.stmt
    ) -> None:
        """Store a value in an attribute: a module registers modules and parameters."""
        if isinstance(owner, Obj):
            if owner.node is not None and owner.family == "module":
                value = self.module_attribute(owner, attr, value, scope, statement)
            setter = owner.cls.lookup(attr) if owner.cls is not None else None
            if isinstance(setter, Func) and setter.static == "setter":
                self.call_func(
                    Func(setter.node, setter.scope, owner, setter.cls),
                    [(value, Spot(scope.path, statement))],
                    {},
                    Spot(scope.path, statement),
                )
                return
            spot = Spot(scope.path, statement)
            if operators.called(self, setter, "__set__", [owner, value], spot, scope) is not None:  # type: ignore[arg-type]
                return
            if attr == "__dict__" and isinstance(value, Dict) and owner.family != "module":
                for name, member in value.items.items():
                    self.trail.put(owner.attrs, name, member)
                return
            if isinstance(value, Obj) and value.family == "module" and owner.family != "module":
                held = self.site("kept", Spot(scope.path, statement), value.node, scope, attr)
                held.detail["object"] = value
                self.snapshot(held, scope)
            if owner.family == "dataset":
                for tensor, where in self.tensors_in(value, Spot(scope.path, statement)):
                    self.keep_on_host(tensor, where)
            if owner.family == "namespace":
                self.overruled(owner, attr, value)
            old = owner.attrs.get(attr)
            if type(value) is Ext or type(old) is Ext:
                if owner.cls is not None and scope.func is not None:
                    if getattr(scope.func.node, "name", "") != "__init__":
                        self.set_later.add((owner.cls.node, attr))
            kept = value if old is None or len(self.stack) <= 1 else self.replace(old, value)
            self.trail.put(owner.attrs, attr, kept)
        elif isinstance(owner, Func):
            self.trail.put(self.function_attributes.setdefault(owner.node, {}), attr, value)
        elif isinstance(owner, Klass):
            self.trail.put(owner.names, attr, value)
            self.class_devices = self.class_devices or isinstance(value, Device)
        elif isinstance(owner, Namespace):
            self.trail.note(owner.scope, attr)
            owner.scope.names[attr] = value
        elif isinstance(owner, Tensor) and isinstance(value, Tensor) and attr == "data":
            self.graph.flow(value.node, owner.node)
        elif isinstance(owner, Tensor) and isinstance(value, Tensor) and attr == "grad":
            spot = Spot(scope.path, statement)
            given = Spot(scope.path, getattr(statement, "value", statement))
            self.graph.meet(owner.node, spot, value.node, given, spot, self.function())
        elif isinstance(owner, Tensor) and attr == "requires_grad":
            self.trained(owner)

    def replace(self, old: Value, new: Value) -> Value:
        """A store wins over what was there, unless it stores nothing."""
        if isinstance(new, Const) and new.value is None and not isinstance(old, Const):
            return old
        return new

    def module_attribute(
        self, owner: Obj, attr: str, value: Value, scope: Scope, statement: ast.stmt
    ) -> Value:
        """Register what is stored in a module, and note tensors that are not registered."""
        assert owner.node is not None
        spot = Spot(scope.path, statement)
        if isinstance(value, Obj) and value.family == "module" and value.node is not None:
            self.join_in(owner, value)
        elif isinstance(value, Tensor) and (value.parameter or value.owner is not None):
            self.graph.batch(value.node, owner.node)
            owner.stateful = True
            return parameter_of(owner)
        elif isinstance(value, Tensor):
            if value.node.find() is owner.node.find():
                return value
            return self.plain_tensor(owner, attr, value, scope, spot)
        elif isinstance(value, (Seq, Dict)):
            members = list(value.members())
            if any(isinstance(m, Obj) and m.family == "module" for m in members) or (
                not members and self.constructing
            ):
                site = self.site("plain-container", spot, owner.node, scope, attr)
                site.detail.update(value=value, owner=owner, literal=value.spot)
            self.held += [t.node for t in members if isinstance(t, Tensor) and t.owner is None]
        elif isinstance(value, Obj) and value.family == "distribution" and value.node is not None:
            self.held.append(value.node)
        return value

    def join_in(self, owner: Obj, child: Obj) -> None:
        """Register a part; a new part of a module that has moved already has to move by itself."""
        if not owner.moves or self.constructing or child.moves:
            self.register(owner, child)

    def plain_tensor(
        self, owner: Obj, attr: str, value: Tensor, scope: Scope, spot: Spot
    ) -> Tensor:
        """A tensor stored in a module without registering it: it does not move with the module."""
        if owner.cls is not None and _moves_along(owner.cls, attr):
            assert owner.node is not None
            self.graph.batch(value.node, owner.node)
            return Tensor(owner.node, scalar=value.scalar)
        root = value.node.find()
        if not self.constructing or root.pin is Place.FOLLOWS or not root.sure:
            return value
        if value.leaf and value.site is not None:
            self.held.append(value.node)
            return value  # the optimizer has this one: it has to be made where it is needed
        node = self.graph.node(spot)
        node.sure = value.node.find().sure
        site = self.site("plain-tensor", spot, node, scope, attr)
        site.detail.update(owner=owner, value=value)
        if value.leaf:
            site.detail["trained"] = True
        self.graph.batch(value.node, node)
        return Tensor(node, scalar=value.scalar, site=site)

    def register(self, owner: Obj, child: Obj) -> None:
        """Make `child` a part of the module `owner`: they move together."""
        if child is owner or owner.node is None or child.node is None:
            return
        if self.lent(owner, child):
            owner.borrows.append(child)
            child.shared = True
        else:
            child.parent = owner
        if child.node.find().pin is Place.HOST:
            return  # it was told to stay; moving the whole takes it along
        if child.moves and not owner.moves:
            return  # it went ahead: whether its siblings follow is to be seen
        for whole in owner.wholes():
            whole.stateful = whole.stateful or child.stateful
        if child.used and not (self.conditional or owner.used or child.moves):
            # It computed by itself before: where it did so stays as it was.
            self.rebase(child, self.graph.node())
        assert child.node is not None
        self.graph.same(owner.node, child.node)
        owner.parts.append(child)

    def lent(self, owner: Obj, child: Obj) -> bool:
        """Tell whether a part was built by a caller of the function that builds the whole."""
        if owner.site is None or child.site is None or child.site.constructing or owner.moves:
            return False
        if owner.site.constructing:
            return False  # it is a part itself, of what its builder gets
        builder, lender = owner.site.scope, child.site.scope
        if builder.func is None or builder is lender:
            return False
        if lender.func is None or lender.func.node not in self.stack:
            return lender.func is None
        inner = builder.func.node
        return inner not in self.stack or (
            self.stack.index(lender.func.node) < self.stack.index(inner)
        )

    def set_item(
        self, owner_node: ast.expr, index: ast.expr, value: Value, scope: Scope, stmt: ast.stmt
    ) -> None:
        """Store into a container or a tensor (which copies across devices)."""
        owner = self.eval(owner_node, scope)
        key = self.eval(index, scope)
        if isinstance(owner, Obj) and owner.cls is not None:
            if owner.cls.lookup("__setitem__") is None:
                owner = classes.contents(owner) or owner
        if isinstance(owner, Dict):
            if isinstance(key, Const) and isinstance(key.value, (str, int)):
                self.trail.put(owner.items, key.value, value)
                return
            self.trail.note(owner)
            if isinstance(value, Tensor) and self.keyed_by(index, scope) is not None:
                value = Tensor(self.graph.node())  # others keep theirs elsewhere
            owner.element = self.join(owner.element, value)
        elif isinstance(owner, Seq):
            self.trail.note(owner)
            if owner.items is not None and isinstance(key, Const) and isinstance(key.value, int):
                if -len(owner.items) <= key.value < len(owner.items):
                    owner.items[key.value] = value
                    return
            elif owner.items is not None and value is ARRAY:  # any of them may be one now
                owner.items = [self.join(item, value) for item in owner.items]
            owner.element = self.join(owner.element, value)
        elif isinstance(owner, Tensor):
            if isinstance(key, Const) and isinstance(key.value, str):
                if isinstance(value, Tensor) and owner.packed and owner.site is not None:
                    parts = owner.site.detail.setdefault("parts", {})
                    self.trail.put(parts, key.value, value)
                return  # it is a mapping, of which nothing else is known
            self.index_tensor(owner, owner_node, key, index, Spot(scope.path, stmt))
            if isinstance(value, Tensor):
                self.graph.store(value.node, owner.node)
                if owner.packed and owner.site is not None and not isinstance(key, Const):
                    owner.site.detail["others"] = value  # `for key in batch: batch[key] = ...`
        elif owner is ARRAY and not (
            isinstance(owner_node, ast.Name)
            and scope.func is not None
            and owner_node.id in parameters(scope.func.node)  # another caller's may be a tensor
        ):
            spot = Spot(scope.path, getattr(stmt, "value", stmt))
            self.demand_host(value, spot, scope, "numpy")
        elif isinstance(owner, Obj) and owner.family == "module" and isinstance(value, Obj):
            if value.family == "module":
                self.join_in(owner, value)
                if isinstance(key, Const):
                    self.trail.put(owner.attrs, str(key.value), value)
        elif isinstance(owner, Obj) and owner.cls is not None:
            self.method(owner, "__setitem__", scope, index, key, value)

    # -- joining ----------------------------------------------------------------------------

    def join_names(self, left: Names, right: Names) -> Names:
        """Join the names at the end of two paths."""
        joined = left.copy()
        for name, value in right.items():
            other = left.get(name)
            if other is not value:
                joined[name] = value if other is None else self.join(other, value)
        return joined

    def join(self, left: Value | None, right: Value) -> Value:
        """Return a value that may be either."""
        return self.lattice.join(left, right)

    def truth(self, value: Value) -> bool | None:
        """Return what a test is known to be."""
        if isinstance(value, Option):
            return None
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, (Obj, Func, Klass, Device)):
            return True
        return None

    def elements(self, value: Value) -> Iterator[Value]:
        """Return the members of a container, each once."""
        if isinstance(value, (Seq, Dict)):
            yield from value.members()
        elif isinstance(value, Iter):
            yield value.element


def _moves_along(klass: Klass, attr: str) -> bool:
    """Tell whether a module's own `_apply`, which every move calls, takes an attribute along."""
    own = klass.lookup("_apply")
    return isinstance(own, Func) and any(
        isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
        for node in syntax.walk(own.node)
    )
