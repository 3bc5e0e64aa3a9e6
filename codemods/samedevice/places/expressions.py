"""Evaluate expressions on abstract values."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from samedevice import syntax, torchfacts
from samedevice.places import classes, operators
from samedevice.places.environment import Exits, Loop, State, Trail
from samedevice.places.graph import Graph, Node, Place, Spot
from samedevice.places.values import (
    ARRAY,
    DEEP,
    DEVICE,
    NAMING,
    NONE,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Doubt,
    Either,
    Ext,
    Flag,
    Func,
    FunctionNode,
    Iter,
    Klass,
    Method,
    Names,
    Namespace,
    Obj,
    Option,
    Rank,
    Scalar,
    Scope,
    Seq,
    Site,
    Super,
    Tensor,
    Value,
    parameter_of,
)

if TYPE_CHECKING:
    from samedevice.project import Project

#: One argument of a call: its value and where it is written.
Arg = tuple[Value, Spot]

#: Methods by which modules give what they are made of, one by one.
PARTS = frozenset(
    ["parameters", "buffers", "modules", "children", "named_parameters", "named_buffers",
     "named_modules", "named_children"]
)  # fmt: skip
#: Methods of modules that are containers, as lists and mappings have them.
_OF_CONTAINERS = frozenset(("append", "extend", "insert", "update", "values", "items", "keys"))
#: Where torchvision's datasets keep all their images and labels.
_DATASET_TENSORS = frozenset(
    ["data", "targets", "train_data", "test_data", "train_labels", "test_labels"]
)
#: The number of GPUs asks whether there are any.
_COUNTED = re.compile(r"(\w+\.)*device_count\(\) (> 0|>= 1|!= 0)")
#: A device's name before its index is put in.
INDEXED = re.compile(r"(cuda|xpu|mps|npu|hpu|mlu|musa):(%d|%s|%i|\{0?(?::d)?\})?")
#: Where launchers (torchrun, SLURM, Open MPI, Intel MPI) tell a process its number.
RANKS = frozenset(
    ["LOCAL_RANK", "RANK", "SLURM_LOCALID", "SLURM_PROCID", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "PMI_RANK"]
)  # fmt: skip
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


class Expressions:
    """Values of expressions. `Calls` and `Interpreter` add the rest."""

    project: Project
    graph: Graph
    sites: list[Site]
    files: dict[str, Scope]
    modules: list[Obj]
    classes: list[Klass]
    functions: list[Func]
    evaluated: set[ast.AST]
    contexts: dict[ast.AST, int]
    stack: list[ast.AST]
    hosted: int
    constructing: int
    guarded: int
    symbolic: int
    consumed: dict[ast.AST, Device]
    left_out: dict[Const, tuple[Spot, str]]
    forks: list[Spot]
    foreign: list[Spot]
    meant: set[ast.AST]
    cpu_devices: list[Device]
    named_literals: set[ast.AST]
    stored_literals: set[ast.AST]
    default_device: bool
    saved: dict[str, Value]
    class_devices: bool
    conditional: int
    statement: ast.stmt | None
    offers: list[Spot]
    awaiting: list[Obj]
    wandering: list[Spot]
    workers: bool
    all_scopes: dict[ast.AST, list[Scope]]
    scopes: dict[FunctionNode, Scope]
    arguments: dict[ast.AST, list[tuple[Node, Spot, ast.AST | None]]]
    seeds: list[tuple[Node, Spot, Scope, str]]
    unit: tuple[str, str]
    host_work: set[ast.AST]
    trail: Trail
    function_attributes: dict[FunctionNode, dict[str, Value]]
    sending: dict[ast.AST, Value]  # to the generators whose bodies run because of it
    inside: list[Arg]  # the devices that `with torch.device(...)` makes the default here
    raising: list[list[Value]]  # of each `try` whose body runs: what it raised
    exits: list[Exits]
    loops: list[Loop]
    caught: list[tuple[int, list[State]]]  # of each `try`: where it began, what it was left with
    _exec: dict[type[ast.AST], Callable[[Any, Scope], bool]]
    _noted: set[ast.AST]
    stored: dict[ast.stmt, list[str]]
    _read_in: dict[ast.stmt, set[str]]
    _eval: dict[type[ast.AST], Callable[[Any, Scope], Value]]
    _given: dict[ast.AST, tuple[str, ...]]
    _returns: list[list[Value]]
    _yields: list[list[Value]]

    if TYPE_CHECKING:

        def is_index(self, code: str, option: Option, path: str) -> bool: ...

        def file(self, path: str) -> Scope: ...
        def tell_default(self) -> None: ...
        def assign(
            self, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt
        ) -> None: ...
        def bind(self, name: str, value: Value, scope: Scope) -> None: ...
        def narrow(self, test: ast.expr, scope: Scope, positive: bool) -> None: ...
        def join(self, left: Value | None, right: Value) -> Value: ...
        def truth(self, value: Value) -> bool | None: ...
        def block(self, body: Iterable[ast.stmt], scope: Scope) -> bool: ...
        def unpack(self, value: Value, targets: list[ast.expr], scope: Scope) -> list[Value]: ...
        def note_stored(self, node: ast.expr) -> None: ...
        def fields_of(self, klass: Klass) -> list[str]: ...
        def register(self, owner: Obj, child: Obj) -> None: ...
        def library_attribute(self, owner: Obj, attr: str) -> Value | None: ...
        def host_tensor(self, spot: Spot, scope: Scope, name: str) -> Tensor: ...
        def call(self, node: ast.Call, scope: Scope) -> Value: ...
        def method(
            self, owner: Obj, name: str, scope: Scope, where: ast.AST, *args: Value
        ) -> Value: ...
        def call_func(
            self, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Spot
        ) -> Value: ...

    # -- helpers ----------------------------------------------------------------------------

    def eval(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression."""
        method = self._eval.get(type(node))
        return method(node, scope) if method is not None else UNKNOWN

    def dotted(self, node: ast.AST) -> str:
        """Return `a.b.c` as written, or an empty string."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(node.id)
        return ".".join(reversed(parts))

    def parent_statement(self, spot: Spot) -> ast.stmt | None:
        """Return the statement that is being evaluated, if `spot` is all of it."""
        statement = self.statement
        if isinstance(statement, ast.Expr) and statement.value is spot.node:
            return statement
        return None

    def function(self) -> ast.AST | None:
        """Return the function that is being evaluated."""
        return self.stack[-1] if self.stack else None

    def site(self, kind: str, spot: Spot, node: Node | None, scope: Scope, name: str = "") -> Site:
        """Record an expression that decides or demands a place."""
        made = Site(
            kind, spot, node, scope, name,
            constructing=self.constructing > 0, hosted=self.hosted > 0, order=len(self.sites),
        )  # fmt: skip
        made.detail["symbolic"] = self.symbolic > 0
        made.detail["guarded"] = self.guarded > 0
        self.sites.append(made)
        return made

    def snapshot(self, site: Site, scope: Scope) -> None:
        """Remember by which expressions the code at a site could name a device."""
        site.devices, site.tensors, site.unknown = [], [], []
        level: Scope | None = scope
        inner: list[Names] = []
        while level is not None:
            if not (level.cls is not None and level.node is level.cls.node):
                self._names_of(level, site, inner)
                inner.append(level.names)
            level = level.outer

    def _names_of(self, level: Scope, site: Site, inner: list[Names]) -> None:
        outermost = level.outer is None
        names: Iterable[tuple[str, Value]] = level.names.devices.items()
        if self.class_devices:
            names = (*names, *level.names.classes.items())
        for name, value in names:
            if inner and any(name in hiding for hiding in inner):
                continue
            if isinstance(value, (Klass, Obj)):
                own = value is level.self_value
                for attr, member in _attributes(value):
                    if isinstance(member, (Device, Rank, Const)):
                        if not isinstance(member, Const) or isinstance(member.value, str):
                            site.devices.append((f"{name}.{attr}", member, outermost))
                    elif own and isinstance(member, Obj):
                        known = member.attrs.get("device")  # `self.model.device`
                        if isinstance(known, Device):
                            site.devices.append((f"{name}.{attr}.device", known, outermost))
            elif isinstance(value, Tensor):
                site.devices.append((name, Device(value.node), outermost))
            elif not (isinstance(value, Device) and value.partial):
                site.devices.append((name, value, outermost))
        if level.func is None:
            return
        given = self._given.get(level.func.node)
        if given is None:
            given = self._given[level.func.node] = parameters(level.func.node)
        for name in given:
            argument = level.names.get(name)
            if isinstance(argument, Tensor) and argument.doubt is Doubt.OTHER:
                continue  # it may have no device
            if isinstance(argument, Tensor) and not argument.names_device:
                if not any(name in hiding for hiding in inner):
                    site.tensors.append((name, argument.node))
            elif argument is UNKNOWN:
                site.unknown.append(name)
            elif isinstance(argument, Seq):
                first = next(iter(argument.members()), None)
                if isinstance(first, Tensor) and not any(name in hiding for hiding in inner):
                    site.tensors.append((f"{name}[0]", first.node))

    # -- atoms ------------------------------------------------------------------------------

    def eval_Constant(self, node: ast.Constant, scope: Scope) -> Value:
        return Const(node.value, Spot(scope.path, node))

    def eval_JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = [
            self.eval(part.value, scope)
            for part in node.values
            if isinstance(part, ast.FormattedValue)
        ]
        index = parts[-1] if parts else SCALAR
        first = node.values[0] if node.values else None
        if len(parts) == 2 and isinstance(parts[0], Device) and isinstance(index, Rank):
            device = self.of_rank(index, Spot(scope.path, node))  # f"{accelerator}:{rank}"
            return Device(device.node, device.spot, text=True, resolved=True, rank=index)
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            if len(node.values) == 2 and INDEXED.fullmatch(first.value):
                return self.indexed(node, index, scope)
        return SCALAR

    def indexed(self, node: ast.expr, index: Value, scope: Scope, *, text: bool = True) -> Device:
        """Return the device that an expression with an index names (`f"cuda:{gpu}"`)."""
        spot = Spot(scope.path, node)
        found = Device(self.graph.node(spot), spot, text=text)
        self.graph.pin(found.node, Place.CENTRAL, spot)
        if isinstance(index, Rank):
            found.rank = index
            self.of_rank(index, spot)
        site = self.site("indexed", spot, found.node, scope)
        site.detail.update(device=found, index=index)
        self.snapshot(site, scope)
        return found

    def index_literal(self, device: Device) -> bool:
        """Tell whether a device is written as a number, an index."""
        node = device.spot.node if device.spot is not None else None
        return isinstance(node, ast.Constant) and type(node.value) is int

    def of_rank(self, rank: Rank, spot: Spot) -> Device:
        """Return the device that the number of a process means."""
        if rank.device is None:
            rank.device = Device(self.graph.node(spot), spot, resolved=True)
            rank.device.rank = rank
            self.graph.pin(rank.device.node, Place.CENTRAL, spot)
        return rank.device

    def eval_Name(self, node: ast.Name, scope: Scope) -> Value:
        value = scope.names.get(node.id)
        if value is not None:
            return value
        level = scope.outer
        while level is not None:
            value = level.names.get(node.id)
            if value is not None and (level.cls is None or level.node is not level.cls.node):
                return value
            level = level.outer
        if node.id in _BUILTINS:
            return Ext("builtins." + node.id)
        return UNKNOWN

    def eval_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.eval(node.value, scope)
        name, inner = node.target.id, scope
        while isinstance(scope.node, COMPREHENSIONS) and scope.outer is not None:
            scope = scope.outer  # a comprehension's targets are its own, this is not one of them
        old = scope.names.get(name) if scope is not inner else None
        self.bind(name, value if old is None else self.join(old, value), scope)
        return value

    def eval_Starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.eval(node.value, scope)

    def eval_Await(self, node: ast.Await, scope: Scope) -> Value:
        return outcome(self.eval(node.value, scope))

    def eval_Yield(self, node: ast.Yield, scope: Scope) -> Value:
        value = self.eval(node.value, scope) if node.value is not None else NONE
        if self._yields:
            self._yields[-1].append(value)
        running = self.function()
        return self.sending.get(running, UNKNOWN) if running is not None else UNKNOWN

    def eval_YieldFrom(self, node: ast.YieldFrom, scope: Scope) -> Value:
        value = self.eval(node.value, scope)
        if self._yields:
            self._yields[-1].append(self.iterate(value, Spot(scope.path, node.value), scope))
        if isinstance(value, Iter) and value.result is not None:
            return value.result
        return UNKNOWN

    def eval_Lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Func(node, scope)

    # -- containers -------------------------------------------------------------------------

    def _sequence(self, kind: str, elts: list[ast.expr], node: ast.expr, scope: Scope) -> Seq:
        items: list[Value] | None = []
        element: Value | None = None
        for elt in elts:
            value = self.eval(elt, scope)
            if isinstance(elt, ast.Starred):
                if isinstance(value, Seq) and value.items is not None and items is not None:
                    items.extend(value.items)
                else:
                    items, element = None, self.iterate(value, Spot(scope.path, elt), scope)
            elif items is not None:
                items.append(value)
            else:
                element = self.join(element, value)
        return Seq(kind, items, element, Spot(scope.path, node))

    def eval_Tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        return self._sequence("tuple", node.elts, node, scope)

    def eval_List(self, node: ast.List, scope: Scope) -> Value:
        return self._sequence("list", node.elts, node, scope)

    def eval_Set(self, node: ast.Set, scope: Scope) -> Value:
        return self._sequence("set", node.elts, node, scope)

    def eval_Dict(self, node: ast.Dict, scope: Scope) -> Value:
        found = Dict(spot=Spot(scope.path, node))
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.eval(item, scope)
            if key is None:
                if isinstance(value, Dict):
                    found.items.update(value.items)
                    found.element = value.element if found.element is None else found.element
                continue
            name = self.eval(key, scope)
            if isinstance(name, Const) and isinstance(name.value, (str, int, float, bool)):
                found.items[name.value] = value
            else:
                found.keys = name
                found.element = self.join(found.element, value)
        return found

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> Scope:
        inner = Scope(scope.path, node, scope, scope.globals)
        inner.self_value = scope.self_value
        for generator in node.generators:
            source = self.eval(generator.iter, inner)
            element = self.iterate(source, Spot(scope.path, generator.iter), inner)
            self.assign(generator.target, element, inner, ast.Pass())
            for test in generator.ifs:
                self.eval(test, inner)
        return inner

    def eval_ListComp(self, node: ast.ListComp, scope: Scope) -> Value:
        return Seq(
            "list", None, self.eval(node.elt, self._comprehension(node, scope)),
            Spot(scope.path, node),
        )  # fmt: skip

    def eval_SetComp(self, node: ast.SetComp, scope: Scope) -> Value:
        return Seq("set", None, self.eval(node.elt, self._comprehension(node, scope)))

    def eval_GeneratorExp(self, node: ast.GeneratorExp, scope: Scope) -> Value:
        inner = self._comprehension(node, scope)
        return Iter(self.eval(node.elt, inner))

    def eval_DictComp(self, node: ast.DictComp, scope: Scope) -> Value:
        inner = self._comprehension(node, scope)
        found = Dict(spot=Spot(scope.path, node))
        found.keys = self.eval(node.key, inner)
        found.element = self.eval(node.value, inner)
        return found

    def _entry(self, owner: Tensor, key: str, spot: Spot) -> Tensor:
        """Return an entry of what was taken for a tensor: it is some mapping of what is unknown."""
        if owner.packed or owner.site is not None and owner.site.kind in ("batch", "load"):
            return self.part(owner, key)
        node = self.graph.node(spot)
        node.sure = False
        made = Tensor(node)
        made.packed = True
        return made

    def part(self, value: Tensor, key: Any) -> Tensor:
        """Return a member of a tensor structure that is not known: it has a place of its own."""
        site = value.site
        if site is None or site.node is None:
            return value
        parts = site.detail.setdefault("parts", {})
        if key not in parts and "others" in site.detail:
            others = site.detail["others"]
            assert isinstance(others, Tensor)
            return others
        if key not in parts:
            node = self.graph.node(site.spot)
            node.sure = False
            made = Site(site.kind, site.spot, node, site.scope, site.name, hosted=site.hosted)
            made.detail.update(symbolic=self.symbolic > 0, guarded=False, whole=site)
            made.detail["perhaps"] = site.detail.get("perhaps")
            self.sites.append(made)
            for source in value.node.batch_from:
                self.graph.batch(source, node)
            whole = value.node.find()
            if whole.pin is Place.HOST:
                self.graph.pin(node, Place.HOST, whole.pin_spot, whole.name)
            found = Tensor(node, site=made)
            found.packed = True
            parts[key] = found
        found = parts[key]
        assert isinstance(found, Tensor)
        return found

    def iterate(self, value: Value, spot: Spot, scope: Scope) -> Value:
        """Return what iterating over a value yields."""
        match value:
            case Seq():
                joined: Value | None = None
                for member in value.members():
                    joined = self.join(joined, member)
                return joined if joined is not None else NOTHING
            case Iter():
                return value.element
            case Either(options=options):
                return self.any_of(self.iterate(option, spot, scope) for option in options)
            case Dict():
                return value.keys
            case Tensor():
                if value.packed or not value.node.find().sure:
                    return self.unknown_batch(value, spot, scope)
                return Tensor(value.node)
            case Obj(family="loader"):
                return self.batch_of(value, spot, scope)
            case Obj(family="dataset"):
                return self.item_of(value, spot, scope)
            case Obj(family="hostobject"):
                return value
            case Obj(family="module"):
                held = [part for part in value.attrs.values() if isinstance(part, Obj)]
                # One stands for all, but for what was added after the whole had been moved.
                late = [part for part in held[1:] if value.moves and part.parent is None]
                parts = [*held[:1], *(part for part in late if part not in value.borrows)]
                return self.any_of(parts) if parts else self.any_module(value, spot)
            case Obj(cls=cls) if cls is not None and cls.kind == classes.TUPLE:
                return self.iterate(classes.members(value) or UNKNOWN, spot, scope)
            case Obj(cls=cls) if cls is not None and cls.lookup("__iter__") is not None:
                found = self.method(value, "__iter__", scope, spot.node)
                if isinstance(found, (Iter, Seq)):
                    return self.iterate(found, spot, scope)
                return self.method(value, "__next__", scope, spot.node)
            case Obj(cls=cls) if cls is not None and cls.lookup("__getitem__") is not None:
                return self.method(value, "__getitem__", scope, spot.node, SCALAR)
            case Obj(cls=cls) if cls is not None and cls.kind in classes.CONTAINERS:
                return self.iterate(classes.contents(value) or UNKNOWN, spot, scope)
            case Klass(kind=classes.ENUM):
                return self.any_of(v for v in value.names.values() if not isinstance(v, Func))
            case Const(value=text) if isinstance(text, str):
                return SCALAR
        return value if value in (ARRAY, NOTHING) else UNKNOWN

    def any_of(self, values: Iterable[Value]) -> Value:
        """Return what is one of some values."""
        joined: Value | None = None
        for value in values:
            joined = self.join(joined, value)
        return joined if joined is not None else NOTHING

    def any_module(self, owner: Obj, spot: Spot) -> Obj:
        """Return some child of a container of modules."""
        child = Obj("module", "", node=owner.node)
        child.parent = owner
        child.stateful = owner.stateful
        return child

    def unknown_batch(self, value: Tensor, spot: Spot, scope: Scope) -> Value:
        """Return an element of something that is iterated but not known: perhaps a batch."""
        node = self.graph.node(spot)
        node.sure = False
        site = self.site("batch", spot, node, scope)
        site.detail["perhaps"] = True
        site.detail["part"] = value.node.find().pin is None  # of what some caller hands in
        made = Tensor(node, site=site)
        made.packed = True
        self.graph.batch(value.node, node)
        return made

    def batch_of(self, loader: Obj, spot: Spot, scope: Scope) -> Value:
        """Return what a loader yields, each tensor of it with its own place."""
        structure = loader.attrs.get("batch", UNKNOWN)
        return self.fresh(structure, spot, scope, "batch")

    def item_of(self, dataset: Obj, spot: Spot, scope: Scope) -> Value:
        """Return an item of a dataset, each tensor of it with its own place."""
        if dataset.cls is not None and dataset.cls.lookup("__getitem__") is not None:
            self.hosted += 1
            item = self.method(dataset, "__getitem__", scope, spot.node, SCALAR)
            self.hosted -= 1
        elif dataset.cls is not None and dataset.cls.lookup("__iter__") is not None:
            self.hosted += 1
            found = self.method(dataset, "__iter__", scope, spot.node)
            item = found.element if isinstance(found, Iter) else UNKNOWN
            self.hosted -= 1
        else:
            item = dataset.attrs.get("item", UNKNOWN)
        return self.fresh(item, spot, scope, "batch")

    def fresh(self, value: Value, spot: Spot, scope: Scope, kind: str, depth: int = DEEP) -> Value:
        """Copy a structure, giving each tensor in it a new node and a site of the given kind.

        What is deeper in it than `depth` is not followed: it may hold itself.
        """
        if not depth:
            return UNKNOWN
        if isinstance(value, Tensor):
            node = self.graph.node(spot)
            node.sure = value.node.find().sure
            self.graph.batch(value.node, node)
            made = Tensor(node, site=self.site(kind, spot, node, scope))
            made.packed, made.collated = value.packed, value.collated
            if made.site is not None:
                made.site.detail["pinned"] = value.pinned
            return made
        if isinstance(value, Obj) and value.family == "" and value.attrs:
            copied = Obj(value.family, value.name, value.cls, value.fact)
            copied.attrs = {
                k: self.fresh(v, spot, scope, kind, depth - 1) for k, v in value.attrs.items()
            }
            return copied
        if isinstance(value, Seq):
            items = (
                [self.fresh(v, spot, scope, kind, depth - 1) for v in value.items]
                if value.items is not None
                else None
            )
            element = (
                self.fresh(value.element, spot, scope, kind, depth - 1)
                if value.element is not None
                else None
            )
            return Seq(value.kind, items, element)
        if isinstance(value, Dict):
            made_dict = Dict(
                {k: self.fresh(v, spot, scope, kind, depth - 1) for k, v in value.items.items()}
            )
            if value.element is not None:
                made_dict.element = self.fresh(value.element, spot, scope, kind, depth - 1)
            return made_dict
        return value

    # -- operators --------------------------------------------------------------------------

    def eval_BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        match node:
            case (
                ast.BoolOp(op=ast.Or(), values=[ast.BoolOp(op=ast.And(), values=[test, moved]), _])
                | ast.BoolOp(op=ast.And(), values=[test, moved])
            ):
                chosen = self._and_or(node, test, moved, scope)
                if chosen is not None:
                    return chosen
        values = [self.eval(part, scope) for part in node.values]
        flags = [v for v in values if isinstance(v, Flag)]
        if len({flag.positive for flag in flags}) > 1:
            return SCALAR  # there is an accelerator, but it is not to be used
        if flags and isinstance(node.op, ast.And):
            choice = len(flags) < len(values) or any(flag.choice for flag in flags)
            return Flag(flags[0].positive, asks=any(flag.asks for flag in flags), choice=choice)
        if flags and all(isinstance(v, Flag) or self.truth(v) is False for v in values):
            return flags[0]
        if isinstance(node.op, ast.Or):
            first = values[0]
            if isinstance(first, Const) and not first.value:
                return values[-1]
        joined: Value | None = None
        for value in values:
            joined = self.join(joined, value)
        return joined if joined is not None else UNKNOWN

    def _and_or(
        self, node: ast.BoolOp, test: ast.expr, moved: ast.expr, scope: Scope
    ) -> Value | None:
        """Return the value of `use_cuda and x.cuda() or x`, as old as Python 2.4."""
        if not isinstance(moved, ast.Call):
            return None
        flag = self.eval(test, scope)
        if not (isinstance(flag, Flag) and flag.positive):
            return None
        self.guarded += 1
        value = self.eval(moved, scope)
        self.guarded -= 1
        if not isinstance(value, (Tensor, Obj, Either)):
            return None
        site = self.site("choice", Spot(scope.path, node), None, scope)
        site.detail.update(positive=True, choice=flag.choice)
        return value

    def eval_UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.eval(node.operand, scope)
        if isinstance(node.op, ast.Not):
            if isinstance(value, Flag):
                return Flag(not value.positive, asks=value.asks, choice=value.choice)
            known = self.truth(value)
            return SCALAR if known is None else Const(not known)
        own = operators.unary(self, node.op, value, Spot(scope.path, node), scope)
        if own is not None:
            return own
        if isinstance(value, Tensor):
            return Tensor(value.node, scalar=value.scalar)
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value) if isinstance(node.op, ast.USub) else value
        return value if value is ARRAY or isinstance(value, Scalar) else UNKNOWN

    def eval_BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.eval(node.left, scope), self.eval(node.right, scope)
        if isinstance(left, Const) and isinstance(left.value, str):
            if INDEXED.fullmatch(left.value) and isinstance(node.op, (ast.Add, ast.Mod)):
                return self.indexed(node, right, scope)
            if isinstance(node.op, ast.Mod):
                return SCALAR
        if isinstance(left, Rank) and isinstance(node.op, ast.Mod):
            counted = self.site("process", Spot(scope.path, node.right), None, scope, "count")
            counted.detail.update(args=[], kwargs={})
            self.snapshot(counted, scope)
            return left  # among the devices of its machine
        own = operators.binary(self, node.op, left, right, Spot(scope.path, node), scope)
        if own is not None:
            return own
        value = self.binary(
            left, Spot(scope.path, node.left), right, Spot(scope.path, node.right),
            Spot(scope.path, node), False,
        )  # fmt: skip
        if isinstance(node.op, ast.MatMult) and isinstance(value, Tensor):
            if self.made_here((left, right), scope):
                self.heavy(value.node, Spot(scope.path, node), scope)
        return value

    def made_here(self, values: Iterable[Value], scope: Scope) -> bool:
        """Tell whether one of the operands was created by the code that computes with it."""
        return any(
            isinstance(value, Tensor)
            and value.site is not None
            and value.site.kind in ("create", "share", "legacy")
            and value.site.scope is scope
            for value in values
        )

    def heavy(self, node: Node, spot: Spot, scope: Scope) -> None:
        """Note an operation that is worth an accelerator."""
        if self.hosted:
            self.host_work.add(spot.node)
        elif not self.symbolic and not self.constructing:
            self.seeds.append((node, spot, scope, self.unit[0]))

    def binary(
        self, left: Value, left_spot: Spot, right: Value, right_spot: Spot, spot: Spot,
        in_place: bool,
    ) -> Value:  # fmt: skip
        """Return the result of an elementwise operation of two values."""
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            return self.operate([(left, left_spot), (right, right_spot)], spot, True, in_place)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            found, other = (left, right) if isinstance(left, Tensor) else (right, left)
            assert isinstance(found, Tensor)
            if other is ARRAY and not found.node.find().sure:
                return ARRAY
            made = Tensor(found.node, scalar=found.scalar)
            made.doubt, made.packed = found.doubt, found.packed
            if found.packed and not found.node.find().sure:
                made.site = found.site  # a number of a loaded file, perhaps
            return made
        if left is ARRAY or right is ARRAY:
            return ARRAY
        if isinstance(left, Seq) and isinstance(right, Seq):
            if left.items is not None and right.items is not None:
                return Seq(left.kind, left.items + right.items)
            element = left.element
            for member in (*(left.items or ()), *right.members()):
                element = self.join(element, member)
            return Seq(left.kind, None, element)
        if isinstance(left, Seq):
            element = None
            for member in left.members():
                element = self.join(element, member)
            return Seq(left.kind, None, element)
        if isinstance(left, Dict) and isinstance(right, Dict):
            merged = Dict({**left.items, **right.items}, left.element, spot)
            if right.element is not None:
                merged.element = self.join(left.element, right.element)
            return merged
        if left is UNKNOWN and right is UNKNOWN:
            return UNKNOWN
        return SCALAR if right is not UNKNOWN else UNKNOWN

    def operate(
        self, operands: list[tuple[Tensor, Spot]], spot: Spot, elementwise: bool,
        in_place: bool = False,
    ) -> Tensor:  # fmt: skip
        """Return the result of an operation whose operands must agree.

        In elementwise operations a tensor without dimensions may be anywhere.
        """
        meeting = operands
        if elementwise:
            meeting = [o for i, o in enumerate(operands)
                       if not o[0].scalar or (in_place and i == 0)]  # fmt: skip
            if not meeting:
                meeting = operands
        first, first_spot = meeting[0]
        if meeting is not operands:
            # The other way is an error: what is computed with a number on the device is there.
            for other, other_spot in operands:
                if other.scalar and other is not first:
                    self.graph.index(
                        first.node,
                        first_spot,
                        other.node,
                        other_spot,
                        spot,
                        self.function(),
                        "number",
                    )
        elif elementwise and all(t.scalar for t, _ in operands):
            meeting = operands[:1]
        for other, other_spot in meeting[1:]:
            self.graph.meet(first.node, first_spot, other.node, other_spot, spot, self.function())
        if elementwise and all(t.scalar for t, _ in operands):
            meeting = operands
        if any(t.node.find().sure for t, _ in operands):
            for tensor, _ in operands:
                site = tensor.site
                if site is not None and site.kind == "batch" and not site.detail.get("perhaps"):
                    tensor.node.find().sure = True  # no list or text of a batch is computed with
        nodes = {id(t.node.find()): t.node for t, _ in meeting}
        if len(nodes) == 1:
            return Tensor(first.node, scalar=all(t.scalar for t, _ in operands))
        node = self.graph.node(spot)
        node.sure = any(t.node.find().sure for t, _ in meeting)
        for source in nodes.values():
            self.graph.flow(source, node)
        return Tensor(node, scalar=all(t.scalar for t, _ in operands))

    def eval_Compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.eval(node.left, scope)
        values = [self.eval(part, scope) for part in node.comparators]
        device = next((v for v in (left, *values) if isinstance(v, Device)), None)
        if device is not None:
            return self.compare_device(node, left, values, scope)
        result: Value = SCALAR
        if len(values) == 1:
            right = values[0]
            spot = Spot(scope.path, node)
            own = operators.compared(self, node.ops[0], left, right, spot, scope)
            if own is not None:
                return own
            if isinstance(left, Option) or isinstance(right, Option):
                return self.compare_option(node, left, right, scope)
            if isinstance(right, Const) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                if isinstance(left, Flag) and right.value in (0, 1):  # `args.cuda == 1`
                    same = bool(right.value) == isinstance(node.ops[0], ast.Eq)
                    return Flag(left.positive == same, asks=left.asks, choice=left.choice)
            if _is_count(node.left) and _COUNTED.fullmatch(ast.unparse(node)):
                return Flag()
            if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                positive = isinstance(node.ops[0], ast.Is)
                if isinstance(right, Const) and right.value is None:
                    if isinstance(left, Const):
                        return Const((left.value is None) == positive)
                    if isinstance(left, (Tensor, Obj, Seq, Device, Dict, Func)):
                        if not isinstance(left, Tensor) or (
                            left.node.find().sure and left.doubt is Doubt.NONE
                        ):
                            return Const(not positive)
                return SCALAR
            if isinstance(left, Const) and isinstance(right, Const):
                if isinstance(node.ops[0], ast.Eq):
                    return Const(left.value == right.value)
                if isinstance(node.ops[0], ast.NotEq):
                    return Const(left.value != right.value)
        for right, part in zip(values, node.comparators, strict=True):
            if isinstance(left, Tensor) or isinstance(right, Tensor):
                result = self.binary(
                    left, Spot(scope.path, node.left), right, Spot(scope.path, part),
                    Spot(scope.path, node), False,
                )  # fmt: skip
            elif left is ARRAY or right is ARRAY:
                result = ARRAY
        return result

    def compare_option(self, node: ast.Compare, left: Value, right: Value, scope: Scope) -> Value:
        """Return what a test of a command-line option says: about the device, perhaps."""
        other = right if isinstance(left, Option) else left
        means = index_means(node)
        if means is not None and isinstance(left, Option):
            if self.is_index(ast.unparse(node.left), left, scope.path):
                return Flag(means, asks=False, choice=True)
        if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and (
            isinstance(other, Const) and isinstance(other.value, str)
        ):
            equal = isinstance(node.ops[0], ast.Eq)
            if other.value == "cpu":
                return Flag(not equal)
            if DEVICE.fullmatch(other.value):
                return Flag(equal)
            if other.value.lower() in ("gpu", "cuda", "cpu"):  # no device has such a name
                return Flag(equal == (other.value.lower() != "cpu"), asks=False, choice=True)
        return SCALAR

    def compare_device(
        self, node: ast.Compare, left: Value, values: list[Value], scope: Scope
    ) -> Value:
        """Return what a comparison of devices says: whether the accelerator is used, often."""
        right = values[0]
        text = next(
            (v.value for v in (left, right) if isinstance(v, Const) and isinstance(v.value, str)),
            None,
        )
        site = self.site("comparison", Spot(scope.path, node), None, scope)
        site.detail.update(left=left, right=right)
        equal = isinstance(node.ops[0], (ast.Eq, ast.Is, ast.In))
        if text is not None and len(values) == 1:
            if text.startswith("cpu"):
                return Flag(not equal)
            if DEVICE.fullmatch(text):
                return Flag(equal)
        return SCALAR

    def is_switch(self, test: ast.expr, value: Value, scope: Scope) -> bool:
        """Tell whether a test asks a constant under a name: users flip those, both ways count."""
        match test:
            case ast.UnaryOp(operand=inner):
                return self.is_switch(inner, value, scope)
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant()]):
                return isinstance(value, Const) and self._is_global(name, scope)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                owner = scope.self_value
                own = isinstance(owner, Obj) and attr in owner.attrs
                told = own and any(word in attr.lower() for word in ("cuda", "gpu"))
                return isinstance(value, Const) and not told  # its maker says what it is
        return isinstance(test, (ast.Name, ast.Attribute)) and isinstance(value, Const)

    @staticmethod
    def _is_global(name: str, scope: Scope) -> bool:
        """Tell whether a name is a file's own: what a caller passes is what it is."""
        level: Scope | None = scope
        while level is not None and name not in level.names:
            level = level.outer
        return level is not None and level.outer is None and not name.startswith("__")

    def eval_IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.eval(node.test, scope)
        if isinstance(test, Flag):
            taken, other = (node.body, node.orelse) if test.positive else (node.orelse, node.body)
            branch = self.site("choice", Spot(scope.path, node), None, scope)
            branch.detail.update(positive=test.positive, choice=test.choice)
            self.guarded += 1
            value = self.eval(taken, scope)
            self.guarded -= 1
            if isinstance(value, Const) and isinstance(value.value, bool):
                # `True if torch.cuda.is_available() else False`
                return Flag(value.value, asks=test.asks, choice=test.choice)
            if isinstance(value, Const) and isinstance(value.value, str):
                match = DEVICE.fullmatch(value.value)
                followed = self._where_it_is(node, True, scope) if match else None
                if followed is not None:
                    return followed
                if match:
                    made = self.graph.node(Spot(scope.path, node))
                    self.graph.pin(made, Place.CENTRAL, Spot(scope.path, node))
                    self.site("resolver", Spot(scope.path, node), made, scope)
                    return Device(made, Spot(scope.path, node), text=True, resolved=True)
            if isinstance(value, Device):
                followed = self._where_it_is(node, value.text, scope)
                if followed is not None:
                    return followed
                value = Device(
                    value.node, value.spot, text=value.text, resolved=True, rank=value.rank
                )
            return value
        known = None if self.is_switch(node.test, test, scope) else self.truth(test)
        if known is True:
            return self.eval(node.body, scope)
        if known is False:
            return self.eval(node.orelse, scope)
        left = self._arm_of(node.test, True, node.body, scope)
        right = self._arm_of(node.test, False, node.orelse, scope)
        device = self._either_device(left, right, Spot(scope.path, node))
        return device if device is not None else self.join(left, right)

    def _arm_of(self, test: ast.expr, positive: bool, arm: ast.expr, scope: Scope) -> Value:
        """Return the value of one arm, where the names that the test asks about are narrowed."""
        match test:
            case ast.Call(args=[ast.Name(id=name), *_]) | ast.Compare(left=ast.Name(id=name)):
                held = scope.names.get(name)
            case _:
                held = None
        if not isinstance(held, Tensor):
            return self.eval(arm, scope)
        self.narrow(test, scope, positive)
        value = self.eval(arm, scope)
        scope.names[name] = held
        return value

    def _where_it_is(self, node: ast.IfExp, text: bool, scope: Scope) -> Device | None:
        """Return the device that `"cuda" if x.is_cuda else "cpu"` means: where `x` is."""
        if not (isinstance(node.test, ast.Attribute) and node.test.attr == "is_cuda"):
            return None
        owner = self.eval(node.test.value, scope)
        if not isinstance(owner, Tensor):
            return None
        found = Device(owner.node, Spot(scope.path, node), text=text, resolved=True)
        site = self.site("where", Spot(scope.path, node), owner.node, scope, "is_cuda")
        site.detail.update({"of": node.test.value, "device": found})
        return found

    def _either_device(self, left: Value, right: Value, spot: Spot) -> Device | None:
        """`"cuda" if flag else "cpu"` with a flag of any kind chooses the central device."""
        texts = [v.value for v in (left, right) if isinstance(v, Const)]
        if len(texts) == 2 and all(isinstance(t, str) for t in texts):
            if any(t == "cpu" for t in texts) and any(DEVICE.fullmatch(t) for t in texts):
                node = self.graph.node(spot)
                self.graph.pin(node, Place.CENTRAL, spot)
                return Device(node, spot, text=True, resolved=True)
        return None

    # -- attributes and items ---------------------------------------------------------------

    def eval_Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        match node:
            case ast.Attribute(
                value=ast.Call(func=func, args=[ast.Constant(value=str(text))], keywords=[]),
                attr="type",
            ):
                callee = self.eval(func, scope)
                if isinstance(callee, Ext) and callee.name == "torch.device":
                    return Const(text.partition(":")[0])  # it is only asked what it is called
        owner = self.eval(node.value, scope)
        return self.attribute(owner, node.attr, Spot(scope.path, node), scope)

    def attribute(self, owner: Value, attr: str, spot: Spot, scope: Scope) -> Value:
        """Return `owner.attr`."""
        match owner:
            case Tensor():
                return self.tensor_attribute(owner, attr, spot)
            case Ext(name=name):
                return Ext(f"{name}.{attr}")
            case Either(options=options):
                found_options: list[Value] = []
                for option in options:
                    found_option = self.attribute(option, attr, spot, scope)
                    if isinstance(found_option, Either):
                        found_options.extend(found_option.options)
                    else:
                        found_options.append(found_option)
                if not any(isinstance(v, (Tensor, Device, Seq, Dict)) for v in found_options):
                    return Either(found_options)
                joined: Value | None = None
                for found_option in found_options:
                    joined = self.join(joined, found_option)
                return joined if joined is not None else UNKNOWN
            case Namespace(scope=names, path=path):
                found = names.names.get(attr)
                if found is not None:
                    return found
                inner = self.project.resolve(path, attr, 1)
                return Namespace(inner, self.file(inner)) if inner is not None else UNKNOWN
            case Obj():
                return self.object_attribute(owner, attr, spot, scope)
            case Klass():
                found = owner.lookup(attr)
                if found is None and owner.meta is not None:
                    found = owner.meta.lookup(attr)
                    if isinstance(found, Func):
                        return self.bound(found, owner, owner.meta, spot)
                if found is None:
                    return Method(owner, attr, spot)
                if isinstance(found, Func) and found.static == "classmethod":
                    return Func(found.node, found.scope, owner, found.cls, found.static)
                return found
            case Super(cls=cls, obj=obj):
                for base in _behind(cls, obj):
                    found = base.names.get(attr)
                    if isinstance(found, Func):
                        if isinstance(obj, Klass):
                            return Func(found.node, found.scope, obj, found.cls, found.static)
                        return self.bound(found, obj, base, spot)
                return Method(owner, attr, spot)
            case Func() if attr in self.function_attributes.get(owner.node, ()):
                return self.function_attributes[owner.node][attr]
            case Device():
                if attr == "type":
                    return Device(owner.node, owner.spot, text=True, resolved=owner.resolved)
                return SCALAR if attr == "index" else Method(owner, attr, spot)
            case Const(value=str() | int() | float()) if attr == "value" and type(owner) is Const:
                return owner  # of an enum's member, which is kept as its value
            case Seq() | Dict() | Func() | Iter() | Const():
                return Method(owner, attr, spot)
        if owner is ARRAY:
            return Method(owner, attr, spot)
        return owner if owner in (SCALAR, NOTHING) else UNKNOWN

    def tensor_attribute(self, owner: Tensor, attr: str, spot: Spot) -> Value:
        """Return an attribute of a tensor."""
        root = owner.node.find()
        kind = torchfacts.tensor_attribute(attr)
        if attr == "device":
            return Device(owner.node, spot, resolved=True)
        if attr == "is_cuda":
            root.sure = True
            asked = Flag(True)
            asked.of_value = True
            return asked
        if attr == "batch_sizes":
            return Tensor(self.graph.node(spot))  # of a packed sequence: always on the host
        if attr in ("values", "indices") and root.sure:
            return Tensor(owner.node)  # of `max`, `topk` or `sort`
        of_module = attr in PARTS or torchfacts.module_method(attr) is not None
        if torchfacts.tensor_method(attr) is not None or of_module and not root.sure:
            return Method(owner, attr, spot)
        if kind == "self":
            same = Tensor(owner.node, scalar=owner.scalar, site=owner.site)
            same.owner = owner.owner
            if attr == "grad":
                same.doubt = Doubt.ABSENT  # before the first backward pass
            return same
        if kind is not None:
            return SCALAR
        if owner.packed:
            return self.part(owner, attr)
        return self.derived(owner, spot)  # no tensor has it, so this may be anything

    def derived(self, owner: Tensor, spot: Spot) -> Tensor:
        """Return what comes out of something that may be no tensor: it is where that is."""
        node = self.graph.node(spot)
        node.sure = False
        self.graph.flow(owner.node, node)
        return Tensor(node)

    def object_attribute(self, owner: Obj, attr: str, spot: Spot, scope: Scope) -> Value:
        """Return an attribute of an instance."""
        found = owner.attrs.get(attr)
        if found is not None:
            return found
        if owner.cls is not None:
            value = owner.cls.lookup(attr)
            if isinstance(value, Func):
                return self.bound(value, owner, owner.cls, spot)
            if isinstance(value, Obj) and value.family == "field":
                return value.kwargs.get("default", UNKNOWN)
            if value is not None:
                got = operators.called(self, value, "__get__", [owner, owner.cls], spot, scope)
                return value if got is None else got
            getter = owner.cls.lookup("__getattr__")
            if isinstance(getter, Func) and owner.family != "module":
                return self.call_func(
                    Func(getter.node, getter.scope, owner, getter.cls),
                    [(Const(attr), spot)],
                    {},
                    spot,
                )
        computed = classes.by_pattern(owner, attr)
        if computed is not None:
            return computed
        if attr == "__dict__" and owner.family != "module":
            return Dict(owner.attrs)
        if owner.family == "module":
            if attr == "_modules":
                parts = {k: v for k, v in owner.attrs.items() if isinstance(v, Obj)}
                return Dict({**parts}, None if parts else self.any_module(owner, spot))
            if attr in ("weight", "bias", "data") and owner.cls is None and owner.node is not None:
                return parameter_of(owner)
            if torchfacts.module_method(attr) is None and owner.cls is None:
                if attr in _OF_CONTAINERS and owner.name.endswith(("Dict", "List", "Sequential")):
                    return Method(owner, attr, spot)
                if owner.node is not None and not attr.startswith("_"):
                    if attr in ("in_features", "out_features", "hidden_size", "num_layers",
                                "config", "training", "kernel_size", "stride"):  # fmt: skip
                        return SCALAR
                    return self.any_module(owner, spot)
            if attr == "device" and owner.cls is None and owner.node is not None:
                return Device(owner.node, spot, resolved=True)
        if owner.family == "namespace":
            return SCALAR
        if owner.family == "hostobject" and attr in ("values", "iloc", "loc", "T", "shape"):
            return ARRAY
        if owner.family == "dataset" and attr in _DATASET_TENSORS:
            return self.host_tensor(spot, scope, attr)
        held = self.library_attribute(owner, attr)
        return held if held is not None else Method(owner, attr, spot)

    def bound(self, member: Func, owner: Value, klass: Klass, spot: Spot) -> Value:
        """Return what a function of a class is, as an attribute of an instance."""
        if member.static == "staticmethod":
            return member
        if member.static == "classmethod":
            kind = owner.cls if isinstance(owner, Obj) and owner.cls is not None else klass
            return Func(member.node, member.scope, kind, member.cls)
        if member.static == "setter" and member.getter is not None:
            member = member.getter
        found = Func(member.node, member.scope, owner, member.cls, member.static)
        if member.static in ("property", "cached_property"):
            return self.call_func(found, [], {}, spot)
        return found

    def eval_Slice(self, node: ast.Slice, scope: Scope) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part, scope)
        return SCALAR

    def eval_Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.eval(node.value, scope)
        key = self.eval(node.slice, scope)
        spot = Spot(scope.path, node)
        match owner:
            case Tensor():
                if self.first_item(node, key, owner, scope):
                    return SCALAR  # the number that `.item()` gives
                if isinstance(key, Const) and isinstance(key.value, str):
                    return self._entry(owner, key.value, spot)
                return self.index_tensor(owner, node.value, key, node.slice, spot)
            case Seq() if isinstance(node.slice, ast.Slice):
                return self.sliced(owner, node.slice)
            case Dict() if not isinstance(key, Const):
                found = self.subscript(owner, key, spot, scope)
                asking = self.keyed_by(node.slice, scope) if isinstance(found, Tensor) else None
                return Tensor(asking.node) if asking is not None else found
        if owner is ARRAY:
            self.first_item(node, key, None, scope)
        return self.subscript(owner, key, spot, scope)

    def subscript(self, owner: Value, key: Value, spot: Spot, scope: Scope) -> Value:
        """Return `owner[key]`."""
        match owner:
            case Either(options=options):
                return self.any_of(self.subscript(option, key, spot, scope) for option in options)
            case Tensor() if owner.packed:
                return self.part(owner, key.value if isinstance(key, Const) else None)
            case Tensor():
                return Tensor(owner.node)
            case Seq(items=items):
                if items is not None and isinstance(key, Const) and isinstance(key.value, int):
                    if -len(items) <= key.value < len(items):
                        return items[key.value]
                return self.iterate(owner, spot, scope)
            case Dict():
                if isinstance(key, Const) and key.value in owner.items:
                    return owner.items[key.value]
                joined: Value | None = None
                for member in owner.members():
                    joined = self.join(joined, member)
                if isinstance(key, Const) and key.value in RANKS:
                    return Rank()  # of a copy of the environment
                return joined if joined is not None else UNKNOWN
            case Obj(family="module"):
                if isinstance(key, Const):
                    inner = owner.attrs.get(str(key.value))
                    if inner is not None:
                        return inner
                if owner.cls is not None and owner.cls.lookup("__getitem__") is not None:
                    return self.method(owner, "__getitem__", scope, spot.node, key)
                return self.iterate(owner, spot, scope)
            case Klass():
                return self._item_of_class(owner, key, spot)
            case Obj(cls=cls) if cls is not None and cls.kind == classes.TUPLE:
                return self.subscript(classes.members(owner) or UNKNOWN, key, spot, scope)
            case Obj(family="dataset"):
                return self.item_of(owner, spot, scope)
            case Obj(family="namespace"):
                if isinstance(key, Const):
                    return owner.attrs.get(str(key.value), SCALAR)
                return SCALAR
            case Obj(cls=cls) if cls is not None and cls.lookup("__getitem__") is not None:
                return self.method(owner, "__getitem__", scope, spot.node, key)
            case Obj(cls=cls) if cls is not None and cls.kind in classes.CONTAINERS:
                return self.subscript(classes.contents(owner) or UNKNOWN, key, spot, scope)
        if owner is ARRAY:
            return ARRAY
        if isinstance(key, Const) and key.value in RANKS:
            return Rank()
        if isinstance(owner, Ext) and owner.name == "torchvision.models.__dict__":
            return Ext("torchvision.models.resnet18")  # one of them, which are all alike here
        return UNKNOWN

    def _item_of_class(self, klass: Klass, key: Value, spot: Spot) -> Value:
        """Return the member of an enum by its name, or the class itself, of whatever it is."""
        own = klass.lookup("__class_getitem__")
        if isinstance(own, Func):
            bound = Func(own.node, own.scope, klass, own.cls, "classmethod")
            return self.call_func(bound, [(key, spot)], {}, spot)
        if isinstance(key, Const) and isinstance(key.value, str):
            named = klass.lookup(key.value)
            if named is not None:
                return named
        return klass

    def keyed_by(self, key: ast.expr, scope: Scope) -> Tensor | None:
        """Return the tensor whose device is part of a key: a cache has a value for each device."""
        for part in syntax.walk(key):
            if isinstance(part, ast.Attribute) and part.attr == "device":
                asking = self.eval(part.value, scope)
                if isinstance(asking, Tensor):
                    return asking
            elif isinstance(part, ast.Name) and part.id in scope.keys:
                asking = self.eval(scope.keys[part.id], scope)
                if isinstance(asking, Tensor):
                    return asking
        return None

    def remember_key(self, name: str, value: ast.expr, scope: Scope) -> None:
        """Note a name for a text that is made of a tensor's device, as keys of caches are."""
        if not isinstance(value, (ast.BinOp, ast.JoinedStr, ast.Call)):
            return
        for part in syntax.walk(value):
            if isinstance(part, ast.Attribute) and part.attr == "device":
                scope.keys[name] = part.value
                return
            if isinstance(part, ast.Name) and part.id in scope.keys:
                scope.keys[name] = scope.keys[part.id]
                return
        scope.keys.pop(name, None)

    def first_item(
        self, node: ast.Subscript, key: Value, owner: Tensor | None, scope: Scope
    ) -> bool:
        """Note `loss.data[0]` and `loss.data.cpu().numpy()[0]`; `owner` is the tensor if known.

        Tell whether it has no dimensions.
        """
        bare = undressed(node.value)
        if bare is None or not isinstance(key, Const) or key.value != 0 or key.value is False:
            return False
        found = owner if owner is not None else self.eval(bare, scope)
        if not isinstance(found, Tensor):
            return False
        site = self.site("first-item", Spot(scope.path, node), found.node, scope)
        site.detail.update(scalar=found.scalar and not found.packed, bare=bare)
        return found.scalar and not found.packed

    def sliced(self, owner: Seq, index: ast.Slice) -> Value:
        """Return a slice of a sequence."""
        bounds: list[int | None] = []
        for part in (index.lower, index.upper, index.step):
            match part:
                case None:
                    bounds.append(None)
                case ast.Constant(value=int() as number):
                    bounds.append(number)
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                    bounds.append(-number)
                case _:
                    return Seq(owner.kind, None, self._any(owner))
        if owner.items is None:
            return owner
        return Seq(owner.kind, owner.items[slice(*bounds)])

    def _any(self, owner: Seq) -> Value | None:
        joined: Value | None = None
        for member in owner.members():
            joined = self.join(joined, member)
        return joined

    def index_tensor(
        self, owner: Tensor, owner_node: ast.expr, key: Value, index: ast.expr, spot: Spot
    ) -> Value:
        """Return `owner[key]`: a tensor on the device cannot index one on the host."""
        parts: list[tuple[Value, ast.expr]] = [(key, index)]
        if isinstance(key, Seq) and key.items is not None and isinstance(index, ast.Tuple):
            if len(key.items) == len(index.elts):
                parts = list(zip(key.items, index.elts, strict=True))
        for value, node in parts:
            if isinstance(value, Tensor):
                base, inside = Spot(spot.path, owner_node), Spot(spot.path, node)
                self.graph.index(owner.node, base, value.node, inside, spot, self.function())
        if owner.packed:
            return self.part(owner, key.value if isinstance(key, Const) else None)
        return Tensor(owner.node, site=None)


def outcome(awaited: Value) -> Value:
    """Return what waiting for something gives: a future its result, a coroutine itself."""
    if isinstance(awaited, Obj) and awaited.family == "future":
        return awaited.attrs.get("result", UNKNOWN)
    return awaited


def _behind(klass: Klass, owner: Value) -> list[Klass]:
    """Return where `super()` looks, in a method of a class that is called for an owner."""
    own = owner.cls if isinstance(owner, Obj) else owner
    order = own.mro() if isinstance(own, Klass) else []
    return order[order.index(klass) + 1 :] if klass in order else klass.mro()[1:]


def undressed(node: ast.expr) -> ast.expr | None:
    """Return `x` of `x.data`, `x.data.cpu().numpy()` and their like; None without `.data`."""
    held = False
    while True:
        match node:
            case ast.Attribute(value=inner, attr="data"):
                held = True
            case ast.Call(
                func=ast.Attribute(value=inner, attr="cpu" | "numpy" | "detach"),
                args=[],
                keywords=[],
            ):
                pass
            case _:
                return node if held else None
        node = inner


def parameters(func: ast.AST) -> tuple[str, ...]:
    """Return the names of a function's parameters, without those for the rest."""
    if not isinstance(func, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return ()
    args = func.args
    return tuple(a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _is_count(node: ast.expr) -> bool:
    """Tell whether an expression may be `torch.cuda.device_count()`."""
    return isinstance(node, ast.Call) and not node.args


def _attributes(owner: Obj | Klass) -> Iterator[tuple[str, Value]]:
    """Return the attributes of an instance that may name a device, and those of its class."""
    klass = owner if isinstance(owner, Klass) else owner.cls
    if isinstance(owner, Obj):
        for name, value in owner.attrs.items():
            if value.__class__ in NAMING:
                yield name, value
    for each in klass.mro() if klass is not None else ():
        for name, value in each.names.devices.items():
            if isinstance(value, Device):
                yield name, value
            elif isinstance(value, Const):
                if isinstance(owner, Klass) or name not in owner.attrs:
                    yield name, value


def index_means(node: ast.Compare) -> bool | None:
    """Tell what a comparison of a GPU's index is true for: GPUs, the CPU (False), or neither."""
    if len(node.ops) != 1:
        return None
    match node.comparators[0]:
        case ast.Constant(value=None | int() as other):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            other = -1
        case _:
            return None
    match node.ops[0], repr(other):
        case (ast.GtE(), "0") | (ast.Gt() | ast.NotEq(), "-1") | (ast.IsNot(), "None"):
            return True
        case (ast.Lt(), "0") | (ast.LtE() | ast.Eq(), "-1") | (ast.Is(), "None"):
            return False
    return None
