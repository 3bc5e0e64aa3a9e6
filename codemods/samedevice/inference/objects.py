"""What a project defines and libraries hand out: names, functions, classes and their instances."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.values import (
    Arg,
    CliOption,
    Const,
    Device,
    FunctionNode,
    ProcessIndex,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.sites import Site
    from samedevice.torchfacts import Fact


class Environment(dict[str, Value]):
    """What names are bound to.

    `devices` are those that may name a device, or have an attribute that does: few among many.
    `classes` are the project's classes.
    """

    __slots__ = ("classes", "devices")

    def __init__(self) -> None:
        self.devices: dict[str, Value] = {}
        self.classes: dict[str, Class] = {}

    def __setitem__(self, name: str, value: Value) -> None:
        dict.__setitem__(self, name, value)
        kind = value.__class__
        if kind in NAMING and _names_device(value):
            self.devices[name] = value
        elif self.devices and name in self.devices:
            del self.devices[name]
        if kind is Class:
            assert isinstance(value, Class)
            self.classes[name] = value
        elif self.classes and name in self.classes:
            del self.classes[name]

    def drop(self, name: str) -> None:
        """Forget a name."""
        self.pop(name, None)
        self.devices.pop(name, None)
        self.classes.pop(name, None)

    def clear(self) -> None:
        """Forget all names."""
        super().clear()
        self.devices.clear()
        self.classes.clear()

    def copy(self) -> Environment:
        """Return the same names, to be bound to something else."""
        made = Environment()
        dict.update(made, self)
        made.devices = self.devices.copy()
        made.classes = self.classes.copy()
        return made


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """Names and what they are bound to: a function call, a class body or a file."""

    __slots__ = (
        "answers", "building", "call", "cls", "decided", "entered", "func", "given_none", "globals",
        "keys", "names", "node", "outer", "path", "self_value", "tests", "writes",
    )  # fmt: skip

    def __init__(
        self, path: str, node: ast.AST, outer: Scope | None, globals_: Scope | None = None
    ) -> None:
        self.path = path
        self.node = node
        self.outer = outer
        self.globals: Scope = globals_ if globals_ is not None else self
        self.names = Environment()
        self.func: Func | None = None
        self.cls: Class | None = None
        self.self_value: Value | None = None
        self.call: Location | None = None
        self.building = False  # it runs while a module is built
        #: The parameters that this call hands None, whatever the function makes of them then.
        self.given_none: frozenset[str] = frozenset()
        #: What may be no tensor for other callers only, each with what it is for this one.
        self.decided: dict[Value, Value] = {}
        #: The devices that a generator has entered where it yields.
        self.entered: tuple[Arg, ...] = ()
        self.writes: set[str] | None = None
        # Names that hold a text with a tensor's device in it, and that tensor.
        self.keys: dict[str, ast.expr] = {}
        # Names that hold something unknown, and what it was taken from.
        self.answers: dict[str, ast.expr] = {}
        # Names that hold a test, with what the names in it were bound to then.
        self.tests: dict[str, tuple[ast.expr, dict[str, Value]]] = {}

    def home(self, name: str) -> Scope:
        """Return the scope in which code of this one binds a name: `global` and `nonlocal` say it.

        What that binds is a cell of the trail, where it is not this scope.
        """
        if not self.writes or name not in self.writes:
            return self
        outer = self.outer
        while outer is not None and outer.outer is not None and name not in outer.names:
            outer = outer.outer
        return outer or self.globals

    def function(self) -> Func | None:
        """Return the function whose code this is, in a comprehension of it, too."""
        level = self
        while level.outer is not None and isinstance(level.node, _COMPREHENSIONS):
            level = level.outer
        return level.func

    def object(self) -> Value | None:
        """Return the object whose method has this code, in a comprehension of it, too."""
        level: Scope | None = self
        while level is not None and level.self_value is None:
            level = level.outer
        return level.self_value if level is not None else None

    def lookup(self, name: str) -> Value | None:
        """Return what a name is bound to where this code runs, None where nothing is known."""
        value = self.names.get(name)
        level = self.outer
        while value is None and level is not None:
            if level.cls is None or level.node is not level.cls.node:
                value = level.names.get(name)
            level = level.outer
        return value


class Func(Value):
    """A function or method of the project; `bound` is its `self`."""

    __slots__ = ("bound", "cls", "getter", "node", "scope", "static")

    def __init__(
        self,
        node: FunctionNode,
        scope: Scope,
        bound: Value | None = None,
        cls: Class | None = None,
        static: str = "",
    ) -> None:
        self.node = node
        self.scope = scope
        self.bound = bound
        self.cls = cls
        self.static = static
        self.getter: Func | None = None  # of a property's setter


class Class(Value):
    """A class of the project; `kind` is "tuple" for a named tuple; `meta` is its metaclass."""

    __slots__ = (
        "bases", "context", "family", "fact", "imagined", "kind", "meta", "names", "node", "order",
        "scope",
        "symbolic", "stateful",
    )  # fmt: skip

    def __init__(self, node: ast.ClassDef, scope: Scope, bases: list[Value]) -> None:
        self.node = node
        self.scope = scope
        self.bases = bases
        self.names = Environment()
        self.family = ""
        self.fact: Fact | None = None
        self.symbolic: Instance | None = None
        self.imagined = False  # no code makes its `symbolic` instance
        self.context: Instance | None = None  # what the forward of an autograd function saves
        self.stateful: bool | None = None
        self.kind = ""
        self.meta: Class | None = None
        self.order: list[Class] | None = None

    def mro(self) -> list[Class]:
        """Return this class and the project's classes that it inherits from, as Python orders them.

        Where the bases have no such order, which is an error, they are taken one by one.
        """
        if self.order is None:
            self.order = [self]  # of a class that is its own base, as good as any
            bases = [base for base in self.bases if isinstance(base, Class)]
            above = [base.mro() for base in bases]
            above = above if len(bases) == 1 else [_merged([*above, bases])]
            self.order = [self, *(each for each in above[0] if each is not self)]
        return self.order

    def lookup(self, name: str) -> Value | None:
        """Return what the name means in the class or the project's classes above it."""
        for klass in self.mro():
            if name in klass.names:
                return klass.names[name]
        return None


def _merged(lists: list[list[Class]]) -> list[Class]:
    """Return the classes of several orders in one that keeps each (C3)."""
    left = [list(order) for order in lists if order]
    found: list[Class] = []
    while left:
        tails = {klass for order in left for klass in order[1:]}
        best = next((order[0] for order in left if order[0] not in tails), left[0][0])
        found.append(best)
        left = [rest for order in left if (rest := [k for k in order if k is not best])]
    return found


class Attributes(dict[str, Value]):
    """The attributes of an instance.

    `devices` are those that may name a device, and `holders` also the instances, which may have
    one: few among many. `patterns` were set by a name of which a part is not known.
    """

    __slots__ = ("devices", "holders", "patterns")

    def __init__(self, attrs: Mapping[str, Value] | None = None) -> None:
        self.devices: dict[str, Value] = {}
        self.holders: dict[str, Value] = {}
        self.patterns: dict[str, Value] = {}
        if attrs:
            self.update(attrs)

    def __setitem__(self, name: str, value: Value) -> None:
        dict.__setitem__(self, name, value)
        kind = value.__class__
        if kind in _NAMING_ATTRIBUTES or kind in _TEXTS and _names_device(value):
            self.devices[name] = self.holders[name] = value
        elif self.holders or kind is Instance:
            self.devices.pop(name, None)
            if kind is Instance:
                self.holders[name] = value
            else:
                self.holders.pop(name, None)
        if name.__class__ is str and "*" in name:
            self.patterns[name] = value

    def __delitem__(self, name: str) -> None:
        dict.__delitem__(self, name)
        self.devices.pop(name, None)
        self.holders.pop(name, None)
        self.patterns.pop(name, None)

    def clear(self) -> None:
        """Forget all attributes."""
        super().clear()
        self.devices.clear()
        self.holders.clear()
        self.patterns.clear()

    def setdefault(self, name: str, value: Value) -> Value:
        """Set an attribute that is not set yet; return what it is."""
        if name not in self:
            self[name] = value
        return self[name]

    def update(self, attrs: Mapping[str, Value]) -> None:  # type: ignore[override]
        """Set some attributes."""
        for name, value in attrs.items():
            self[name] = value


class Instance(Value):
    """An instance: of a class of the project (`cls`), or of a library's (`fact`).

    A module has a `node`: the place of its parameters by now. `parent` is the module that
    registered it, `parts` are those that are where it is; `awaited` are places of what it is yet
    to compute, as its hooks see it;
    `borrows` are parts that a caller handed in, who moves them; each of these is `shared`.
    `buffers` are the names of attributes that it registered: they move along, whatever they hold,
    and no other tensor does that is no parameter. `absent`: what holds it holds None on another
    path.
    `spread`: `DataParallel` has it, which moves it where there is one accelerator, and only there.
    `worked_alone`: it was called before it became a part, so no move of the whole is in time.
    `guarded`: it is no module, and is made only where a test found an accelerator.
    """

    __slots__ = (
        "absent", "args", "attrs", "awaited", "borrows", "buffers", "calls", "cls", "copied_from",
        "copies", "fact", "family", "guarded", "kwargs", "moves", "name", "node", "parent", "parts",
        "plain", "shared", "site", "spread", "stateful", "used", "worked_alone",
    )  # fmt: skip

    def __init__(
        self,
        family: str,
        name: str = "",
        cls: Class | None = None,
        fact: Fact | None = None,
        node: PlaceVar | None = None,
    ) -> None:
        self.family = family
        self.name = name
        self.cls = cls
        self.fact = fact
        self.node = node
        self.attrs = Attributes()
        self.parent: Instance | None = None
        self.borrows: list[Instance] = []
        self.shared = False
        self.absent = False
        self.spread = False
        self.worked_alone = False
        self.plain = False
        self.guarded = False
        self.site: Site | None = None
        self.stateful = False
        self.used = False
        self.calls = 0
        self.moves: list[Location] = []
        self.args: list[Value] = []
        self.kwargs: dict[str, Value] = {}
        self.copied_from: Instance | None = None
        self.copies: list[Instance] = []
        self.parts: list[Instance] = []
        self.awaited: list[PlaceVar] = []
        self.buffers: set[str] = set()

    def wrapped(self) -> Instance | None:
        """Return the module that this one only wraps (`DataParallel`): they move together."""
        inner = self.attrs.get("module")
        return inner if isinstance(inner, Instance) and inner is self.parent else None

    def holds(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is where the module is: a parameter or a buffer of it."""
        return self.node is not None and tensor.node.find() is self.node.find()

    def is_whole(self) -> bool:
        """Tell whether a module was built here, and is no part of another one."""
        return self.parent is None and not self.shared and self.site is not None

    def has_moved(self) -> bool:
        """Tell whether code has moved a module, or what it is a part of."""
        return any(whole.moves for whole in self.wholes())

    def held(self) -> list[Instance]:
        """Return the objects in attributes, on whichever path they were put there."""
        return [
            held
            for value in self.attrs.values()
            for held in (value.options if isinstance(value, Union) else [value])
            if isinstance(held, Instance)
        ]

    def moving(self) -> list[Instance]:
        """Return the parts of a module that move when it does, not theirs."""
        return [*self.parts, *(held for held in self.held() if held.family == "module")]

    def tree(self) -> list[Instance]:
        """Return a module and all that moves when it does, in the order in which it is kept."""
        found = [self]
        for whole in found:
            found += [part for part in dict.fromkeys(whole.moving()) if part not in found]
        return found

    def wholes(self) -> list[Instance]:
        """Return this instance, the module that it is a part of, the one that this is of, ..."""
        found = [self]
        while (parent := found[-1].parent) is not None and parent not in found:
            found.append(parent)
        return found


class Union(Value):
    """One of several modules: what is done to it is done to each."""

    __slots__ = ("options",)

    def __init__(self, options: list[Value]) -> None:
        self.options = options


class Partial(Value):
    """A callee with some of its arguments, each with the expression that it is written as."""

    __slots__ = ("args", "callee", "kwargs")

    def __init__(
        self,
        callee: Value,
        args: list[tuple[Value, Location]],
        kwargs: dict[str, tuple[Value, Location]],
    ) -> None:
        self.callee = callee
        self.args = args
        self.kwargs = kwargs


class External(Value):
    """A name of a library, by its dotted path; `receiver` is set for a method."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Method(Value):
    """A method of a tensor, module or container, bound to its receiver."""

    __slots__ = ("name", "receiver", "spot")

    def __init__(self, receiver: Value, name: str, spot: Location) -> None:
        self.receiver = receiver
        self.name = name
        self.spot = spot


class Namespace(Value):
    """A file of the project as an imported module."""

    __slots__ = ("path", "scope")

    def __init__(self, path: str, scope: Scope) -> None:
        self.path = path
        self.scope = scope


class Super(Value):
    """`super()` inside a method."""

    __slots__ = ("cls", "obj")

    def __init__(self, cls: Class, obj: Value) -> None:
        self.cls = cls
        self.obj = obj


#: Values that may name a device, some of them.
#: Values of attributes that name a device, beside text that may.
_NAMING_ATTRIBUTES = frozenset((Device, ProcessIndex))
_TEXTS = frozenset((Const, CliOption))
NAMING = frozenset((Device, ProcessIndex, Const, CliOption, Tensor, Instance))


def _names_device(value: Value) -> bool:
    """Tell whether code may name a device by a value, or by an attribute of it."""
    match value:
        case Const(value=text):
            return text.__class__ is str
        case Tensor():
            return value.names_device
        case Instance():
            if value.family == "module":
                return value.cls is not None or bool(value.attrs)
            return value.family != "parser"
    return True
