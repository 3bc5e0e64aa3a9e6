"""What code at a place has in reach: tensors to follow, the module it is part of, devices."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference.events import Operand
from samedevice.inference.nodes import ON_DEVICE, Location, Place, PlaceVar
from samedevice.inference.objects import Class, External, Func, Instance, Scope
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import CliOption, Const, Device, Doubt, Shown, Tensor, Value
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: What may take a mapping or a tuple apart.
_TAKEN_APART = (".items", ".keys", "[0]", "[1]")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: Bases of libraries that have no device, by the last part of their names.
_PLAIN_BASES = frozenset(("ABC", "Dataset", "Function", "Generic", "Module", "object"))


class InReach:
    """The names at a place, and what they stand for."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.interpreter = solution.interpreter
        self._held: dict[ast.AST, set[str]] = {}
        self._sequences: dict[ast.AST, set[str]] = {}
        self._set_in: dict[ast.AST, tuple[dict[str, int], dict[str, int]]] = {}
        self._bound: dict[ast.AST, dict[str, int]] = {}
        self._first_calls: dict[ast.AST, dict[ast.AST, int]] = {}

    def in_module(self, scope: Scope) -> bool:
        """Tell whether code belongs to a module's or an autograd function's methods."""
        level: Scope | None = scope
        while level is not None:
            if level.func is not None and level.func.cls is not None:
                return level.func.cls.family in ("module", "function")
            level = level.outer
        return False

    def follow(self, group: SiteGroup) -> str | None:
        """Return the expression of a device that every evaluation of this place can follow."""
        known, _ = self.followable(group)
        return f"{known[0]}.device" if known else None

    def followable(self, group: SiteGroup) -> tuple[list[str], list[str]]:
        """Return the tensors that every evaluation of a place can follow, the nearest first.

        And those of them which it meets, if there are several.
        """
        common: list[str] | None = None
        certain: set[str] = set()
        looked_at = [
            s for s in group.sites if len(group.sites) == 1 or self.solution.on_device(s.node)
        ]
        for site in looked_at:
            names: list[str] = []
            for name, node in site.tensors:
                root = node.find()
                # A CPU tensor that it meets may be moved where it is passed, so one such caller
                # does not rule this out.
                met = site.node is not None and self._adjacent(site.node, root)
                if root.is_tensor and (root.place in ON_DEVICE or root.place is Place.HOST and met):
                    names.append(name)
                    if root.place in ON_DEVICE:
                        certain.add(name)
            names += site.unknown  # what other callers pass decides
            common = names if common is None else [n for n in common if n in names]
        usable = [
            name
            for name in common or ()
            if name in certain
            and not self._other_type(name, group)
            and self.member(name, group.first.scope)
        ]
        absent = self._absent(group.first.scope)
        usable = [name for name in usable if name not in absent]
        near: set[str] = set()
        if len(usable) > 1:
            near = {
                name
                for site in looked_at
                for name, node in site.tensors
                if site.node is not None and name in usable and self._adjacent(site.node, node)
            }
            spoken = {n.id for n in syntax.walk(group.spot.node) if isinstance(n, ast.Name)}
            spare = optional(group.first.scope)
            usable.sort(key=lambda name: (name in spare, name not in spoken, name not in near))
        known = [self.member(name, group.first.scope) for name in usable]
        return known, [name for name, root in zip(known, usable, strict=True) if root in near]

    def _other_type(self, name: str, group: SiteGroup) -> bool:
        """Tell whether some evaluation of a place has a name for what is no tensor."""
        return any(
            name in site.scope.names
            and name not in site.unknown
            and all(name != tensor for tensor, _ in site.tensors)
            for site in group.sites
        )

    def member(self, name: str, scope: Scope) -> str:
        """Return how code calls what a parameter is, or its first member, if that is a tensor."""
        kinds = self._shown(name, scope)
        if kinds == {Shown.LIST}:
            return f"{name}[0]" if name not in _tested(scope.node) else ""
        return "" if kinds - {Shown.NOTHING} or self.holds_tensors(name, scope) else name

    def _shown(self, name: str, scope: Scope) -> set[Shown]:
        """Return what a function, or one around it, shows a parameter to be."""
        level: Scope | None = scope
        while level is not None and not (
            level.func is not None and name in syntax.parameters(level.func.node)
        ):
            level = level.outer
        scopes = self.interpreter.all_scopes.get(level.node, ()) if level is not None else ()
        held = (one.names.get(name) for one in scopes)
        return {value.shown for value in held if isinstance(value, Tensor)}

    def holds_tensors(self, name: str, scope: Scope) -> bool:
        """Tell whether a function uses a parameter as a mapping, or takes it apart as a tuple.

        Or it asks it for what no tensor has. What nobody is known to hand in may be any sequence,
        if its members are all that is used.
        """
        level: Scope | None = scope
        while level is not None:
            if level.func is not None and name in syntax.parameters(level.func.node):
                node = level.func.node
                if name in _asked_as_objects(node):
                    return True
                if node not in self._held:
                    text = self.project.sources[level.path].lines(node)
                    told = any(word in text for word in _TAKEN_APART)
                    self._held[node] = _held(node) if told else set()
                if level.call is not None and level.call.node is node:
                    if node not in self._sequences:
                        self._sequences[node] = _sequences(node)
                    return name in self._held[node] | self._sequences[node]
                return name in self._held[node]
            level = level.outer
        return False

    def _adjacent(self, node: PlaceVar, other: PlaceVar) -> bool:
        root, other = node.find(), other.find()
        return any(
            (m.right if m.left.find() is root else m.left).find() is other for m in root.meets
        )

    def is_tested(self, scope: Scope) -> bool:
        """Tell whether a test for the CPU computes with what a function gets or gives.

        A device of the whole program would part it from the test's own values.
        """
        tests = self.interpreter.tests
        return scope.func is not None and tests.shares(scope.func.node)

    def site_at(self, spot: Location) -> Operand | None:
        """Return a site for an expression, with what the code there could name a device by."""
        scope = self.interpreter.scope_of(spot)
        if scope is None:
            return None
        site = Operand(spot, None, scope)
        self.interpreter.snapshot(site, scope)
        bound = self._bound_in(scope)
        line = getattr(self.solution.statement_of(spot) or spot.node, "lineno", 0)
        site.devices = [
            known
            for known in site.devices
            if bound.get(known[0].split(".")[0], -1) < line and self._is_set(known, scope, line)
        ]
        site.callers_unknown = False
        return site

    def _is_set(self, known: tuple[str, Value, bool], scope: Scope, line: int) -> bool:
        """Tell whether an attribute of `self` is there when a line runs, as the constructor has it.

        What the constructor calls before it sets the attribute does not have it, either.
        """
        owner, _, attr = known[0].partition(".")
        planned = isinstance(known[1], Device) and known[1].planned is not None  # by a fix
        func = scope.func
        if attr and (owner != "self" or "." in attr):
            if not self._came_before(known[1], scope, line):
                return False
        if owner != "self" or func is None or func.cls is None:
            return True
        init = func.cls.lookup("__init__")
        if not isinstance(init, Func) or isinstance(func.node, ast.Lambda):
            return True
        if init.node not in self._set_in:
            self._set_in[init.node] = _set_lines(init.node)
        lines, calls = self._set_in[init.node]
        attr = attr.partition(".")[0]
        first = lines.get(attr)
        building = func.node is init.node or func.node.name in calls
        if first is None:  # a subclass sets it when this constructor has run, or a base has before
            return not building or planned or _has(func.cls, attr)
        return first < (line if func.node is init.node else calls.get(func.node.name, first + 1))

    def _came_before(self, value: Value, scope: Scope, line: int) -> bool:
        """Tell whether an object has a device when a line runs that some function gives it.

        What is called at that line, or below it, gives it too late. So does what a caller, of both
        perhaps, calls behind this function, or does there itself.
        """
        spot = None
        if isinstance(value, Device):
            spot = value.planned.spot if value.planned is not None else value.spot
        setting = self.solution.programs.function_of(spot) if spot is not None else None
        if setting is None or spot is None:
            return True
        given = getattr(spot.node, "lineno", 0)
        if setting is scope.node:
            return given < line
        above, setters = self._calls_to(scope.node), self._calls_to(setting)
        if scope.node in setters:
            return setters[scope.node] < line
        if setting in above:
            return given < above[setting]
        both = [(setters[node], above[node]) for node in above if node in setters]
        return not both or all(a <= b for a, b in both) and any(a < b for a, b in both)

    def _calls_to(self, function: ast.AST) -> dict[ast.AST, int]:
        """Return the functions and files that call another, directly or not: each its first line
        that does."""
        if function not in self._first_calls:
            found = self._first_calls[function] = {}
            queue = [function]
            for each in queue:
                for called in self.interpreter.all_scopes.get(each, ()):
                    around = self.interpreter.scope_of(called.call) if called.call else None
                    if around is None or called.call is None:
                        continue
                    line = getattr(called.call.node, "lineno", 0)
                    found[around.node] = min(line, found.get(around.node, line))
                    if around.func is not None and around.node not in queue:
                        queue.append(around.node)
        return self._first_calls[function]

    def _bound_in(self, scope: Scope) -> dict[str, int]:
        """Return in which line a function or file first binds each of its names."""
        if scope.node not in self._bound:
            self._bound[scope.node] = _first_bound(scope.node)
        return self._bound[scope.node]

    def builds(self, scope: Scope) -> bool:
        """Tell whether code runs only while its module is built."""
        if scope.func is None:
            return False
        if getattr(scope.func.node, "name", "") == "__init__":
            return True
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        return self.in_module(scope) and all(one.building for one in scopes)

    def followed(self, scope: Scope, *, everywhere: bool = False) -> Iterator[str]:
        """The tensor parameters of a function that some caller hands in from the device.

        `everywhere`: every caller does.
        """
        enough = all if everywhere else any
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        found: dict[str, list[PlaceVar]] = {}
        for one in scopes:
            site = Operand(Location(scope.path, scope.node), None, one)
            self.interpreter.snapshot(site, one)
            for name, node in site.tensors:
                found.setdefault(name, []).append(node.find())
        spare, absent = optional(scope), self._absent(scope)
        names = dict.fromkeys(name for one in scopes for name in one.names if name in found)
        for name in sorted((n for n in names if n not in absent), key=spare.__contains__):
            known = found.get(name, ())
            if known and enough(root.place in ON_DEVICE and root.is_tensor for root in known):
                # A module that some caller hands in has no device, nor what may be no tensor.
                if not any(_is_none(one.names.get(name)) for one in scopes):
                    if known_as := self.member(name, scope):
                        yield known_as

    def _absent(self, scope: Scope) -> set[str]:
        """Return the parameters of a function that are None for some caller, or may be."""
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        return may_be_none(scope).union(*(one.given_none for one in scopes))

    def is_made_of(self, names: Collection[str], other: str, scope: Scope) -> bool:
        """Tell whether one of some names is where another one is, whoever calls: computed from it.

        To follow that one would move nothing.
        """
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        for name in names:
            pairs = [(one.names.get(name), one.names.get(other)) for one in scopes]
            nodes = [
                (a.node.find(), b.node.find())
                for a, b in pairs
                if isinstance(a, Tensor) and isinstance(b, Tensor)
            ]
            if nodes and all(mine is its for mine, its in nodes):
                return True
        return False

    def module_of(self, scope: Scope) -> Instance | None:
        """Return the module that some code is a method of."""
        level: Scope | None = scope
        while level is not None:
            owner = level.self_value
            if (
                isinstance(owner, Instance)
                and owner.family == "module"
                and "self" in level.names
                and level.func is not None
            ):
                return owner
            level = level.outer
        return None

    def left_on_host(self, scope: Scope) -> bool:
        """Tell whether code runs only in modules that the program builds and moves nowhere.

        Nothing needs them on the device, but what nobody is known to hand them.
        """
        scopes = self.interpreter.all_scopes.get(scope.node, [scope])
        modules = [self.module_of(one) for one in scopes]
        return all(
            module is not None
            and self.is_unmoved(module)
            and self.solution.place(module.node) is not Place.CENTRAL
            for module in modules
        )

    @staticmethod
    def is_unmoved(module: Instance) -> bool:
        """Tell whether the program builds a module and moves it nowhere as a whole."""
        wholes = module.wholes()
        return wholes[-1].is_whole() and not any(whole.moves for whole in wholes)

    def is_central(self, value: Value) -> bool:
        """Tell whether a value names the central device, or where an input is."""
        if isinstance(value, Device):
            return self.solution.place(value.node) in ON_DEVICE
        if isinstance(value, CliOption):
            return value.device is not None and self.solution.place(value.device.node) in ON_DEVICE
        if isinstance(value, Const) and value.spot is not None:
            used = self.interpreter.consumed.get(value.spot.node)
            return used is not None and self.solution.place(used.node) in ON_DEVICE
        return False


def _is_none(value: Value | None) -> bool:
    """Tell whether what a caller hands in may have no device."""
    return isinstance(value, Instance) or isinstance(value, Tensor) and value.doubt is Doubt.OTHER


def optional(scope: Scope) -> set[str]:
    """Return the parameters of a function that may be left out."""
    return set(syntax.defaults(scope.func.node.args)) if scope.func is not None else set()


def may_be_none(scope: Scope) -> set[str]:
    """Return the parameters of a function that are None where a call leaves them out.

    And those of which it, or another method of its class, asks whether they are.
    """
    if scope.func is None:
        return set()
    known = syntax.defaults(scope.func.node.args)
    cls = scope.func.cls
    return set(syntax.asked_for_none(cls.node if cls is not None else scope.func.node)) | {
        name
        for name, default in known.items()
        if isinstance(default, ast.Constant) and default.value is None
    }


@syntax.per_node
def _asked_as_objects(function: ast.AST) -> frozenset[str]:
    """Return the names that a function asks for what no tensor has: `tt.ranks()`."""
    return frozenset(
        node.value.id
        for node in syntax.walk(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and not node.attr.startswith("_")
        and torchfacts.tensor_method(node.attr) is None
        and torchfacts.tensor_attribute(node.attr) is None
    )


@syntax.per_node
def _tested(code: ast.AST) -> frozenset[str]:
    """Return the names that some code asks about: whether a list is empty, say."""
    return frozenset(
        part.id
        for node in syntax.walk(code)
        if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert))
        for part in ast.walk(node.test)
        if isinstance(part, ast.Name)
    )


def _held(function: ast.AST) -> set[str]:
    """Return the names that a function uses as mappings, or only one member at a time."""
    mappings: set[str] = set()
    members: dict[str, set[int]] = {}
    uses: Counter[str] = Counter()
    for node in syntax.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="items" | "keys"):
                mappings.add(name)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=index)):
                if type(index) is int:
                    members.setdefault(name, set()).add(index)
                    uses[name] -= 1
            case ast.Name(id=name, ctx=ast.Load()):
                uses[name] += 1
    return mappings | {n for n, taken in members.items() if len(taken) > 1 and not uses[n]}


def _sequences(function: ast.AST) -> set[str]:
    """Return the names of which a function uses the members and the length alone."""
    uses: Counter[str] = Counter()
    taken: set[str] = set()
    for node in syntax.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                if not isinstance(index, (ast.Tuple, ast.Slice)):
                    taken.add(name)
                    uses[name] -= 1
            case ast.Call(func=ast.Name(id="len" | "enumerate" | "zip"), args=args):
                for each in args:
                    if isinstance(each, ast.Name):
                        taken.add(each.id)
                        uses[each.id] -= 1
            case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
                taken.add(name)
                uses[name] -= 1
            case ast.Name(id=name):
                uses[name] += 1
    return {name for name in taken if not uses[name]}


def _has(klass: Class, attr: str) -> bool:
    """Tell whether a class or one of its bases has, or sets, an attribute; any library's may."""
    return any(
        attr in each.names
        or any(not (isinstance(base, Class) or _is_plain(base)) for base in each.bases)
        or any(
            isinstance(node, ast.Attribute)
            and node.attr == attr
            and isinstance(node.ctx, ast.Store)
            for node in syntax.walk(each.node)
        )
        for each in klass.mro()
    )


def _is_plain(base: Value) -> bool:
    """Tell whether a base class has no device of its own."""
    return isinstance(base, External) and base.name.rpartition(".")[2] in _PLAIN_BASES


def _set_lines(init: ast.AST) -> tuple[dict[str, int], dict[str, int]]:
    """Return the lines in which a constructor first sets attributes, and calls methods, of self."""
    lines: dict[str, int] = {}
    calls: dict[str, int] = {}
    for node in syntax.walk(init):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Store()):
                lines[attr] = min(node.lineno, lines.get(attr, node.lineno))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
                calls[attr] = min(node.lineno, calls.get(attr, node.lineno))
    return lines, calls


def _first_bound(tree: ast.AST) -> dict[str, int]:
    """Return the line in which a function or file first binds each name, but its parameters.

    Functions inside have names of their own.
    """
    first: dict[str, int] = {}
    parameters: set[str] = set()
    queue = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
        elif isinstance(node, ast.arg):
            parameters.add(node.arg)
        elif node is tree or not isinstance(node, _FUNCTIONS):
            queue += ast.iter_child_nodes(node)
    return {name: line for name, line in first.items() if name not in parameters}
