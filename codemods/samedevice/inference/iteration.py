"""What iterating over a value gives, one element standing for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from samedevice.inference import calls, classes
from samedevice.inference.events import Drawn
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Class, Func, Instance, Scope, Union
from samedevice.inference.values import (
    ARRAY,
    DEEP,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Const,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
    parameter_of,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


#: `Fact.out` of loaders and data sets that give objects with attributes and a `.to(device)`.
RECORDS = "records"


def iterate(run: Interpreter, value: Value, spot: Location, scope: Scope) -> Value:
    """Return what iterating over a value yields."""
    match value:
        case Seq():
            joined: Value | None = None
            for member in value.members():
                joined = run.join(joined, member)
            return joined if joined is not None else NOTHING
        case Iter():
            return value.element
        case Union(options=options):
            return any_of(run, (run.iterate(option, spot, scope) for option in options))
        case Dict():
            return value.keys
        case Tensor():
            if value.opaque or not value.node.find().is_tensor:
                return unknown_batch(run, value, spot, scope)
            return Tensor(value.node, scalar=value.row).made_of(value)
        case Instance():
            found = _of_instance(run, value, spot, scope)
            if found is not None:
                return found
        case Class(kind=classes.ENUM):
            return any_of(run, (v for v in value.names.values() if not isinstance(v, Func)))
        case Const(value=text) if isinstance(text, str):
            return SCALAR
    return value if value in (ARRAY, NOTHING) else UNKNOWN


def _of_instance(run: Interpreter, value: Instance, spot: Location, scope: Scope) -> Value | None:
    """Return what iterating over an instance yields, or None where its class does not say."""
    match value:
        case Instance(family="loader"):
            return batch_of(run, value, spot, scope)
        case Instance(family="dataset"):
            return item_of(run, value, spot, scope)
        case Instance(family="hostobject" | "plot"):
            return value
        case Instance(family="module"):
            keep_up(run, value)
            first = next((v for v in value.attrs.values() if _is_object(v)), None)
            if first is None:
                return member_of(value, spot)
            # One stands for all, but for what was added after the whole had been moved.
            late = [
                part
                for part in (value.held() if value.has_moved() else ())
                if part.parent is None and part not in value.borrows
            ]
            return any_of(run, [first, *late])
        case Instance(cls=cls) if cls is not None and cls.kind == classes.TUPLE:
            return run.iterate(classes.members(value) or UNKNOWN, spot, scope)
        case Instance(cls=cls) if cls is not None and cls.lookup("__iter__") is not None:
            found = calls.method(run, value, "__iter__", scope, spot.node)
            if isinstance(found, (Iter, Seq)):
                return run.iterate(found, spot, scope)
            return calls.method(run, value, "__next__", scope, spot.node)
        case Instance(cls=cls) if cls is not None and cls.lookup("__getitem__") is not None:
            return calls.method(run, value, "__getitem__", scope, spot.node, SCALAR)
        case Instance(cls=cls) if cls is not None and cls.kind in classes.CONTAINERS:
            return run.iterate(classes.contents(value) or UNKNOWN, spot, scope)
    return None


def _is_object(value: Value) -> bool:
    """Tell whether a module holds an object under a name, one or another of some perhaps."""
    options = value.options if isinstance(value, Union) else [value]
    return any(isinstance(option, Instance) for option in options)


def any_of(run: Interpreter, values: Iterable[Value]) -> Value:
    """Return what is one of some values."""
    joined: Value | None = None
    for value in values:
        joined = run.join(joined, value)
    return joined if joined is not None else NOTHING


def member_of(owner: Instance, spot: Location) -> Value:
    """Return some member of a container of modules, or of parameters."""
    if owner.name.endswith(("ParameterList", "ParameterDict")) and owner.cls is None:
        return parameter_of(owner)
    return any_module(owner, spot)


def any_module(owner: Instance, spot: Location) -> Instance:
    """Return some child of a container of modules."""
    child = Instance("module", "", node=owner.node)
    child.parent = owner
    child.stateful, child.moves = owner.stateful, list(owner.moves)
    return child


def keep_up(run: Interpreter, part: Instance) -> None:
    """Put what stands for any part where its whole is by now, if nothing has moved it by itself."""
    node = kept_up(part)
    if node is not None and node is not part.node:
        run.trail.place(part, node)


def kept_up(part: Instance) -> PlaceVar | None:
    """Return where a module is by now: what stands for any part of another one is where that is."""
    whole = known_whole(part)
    if whole.node is None or set(part.moves) - set(whole.moves):
        return part.node
    return whole.node


def known_whole(module: Instance) -> Instance:
    """Return the module of which one stands for any part, or itself."""
    return next((each for each in module.wholes() if not is_any_module(each)), module)


def is_any_module(module: Instance) -> bool:
    """Tell whether a module stands for all parts of another one."""
    known = module.name or module.cls is not None or module.fact is not None
    return module.family == "module" and module.parent is not None and not known


def unknown_batch(run: Interpreter, value: Tensor, spot: Location, scope: Scope) -> Value:
    """Return an element of something that is iterated but not known: perhaps a batch."""
    node = run.graph.node(spot)
    node.is_tensor = False
    argument = value.node.find().pin is None  # of what a caller passes
    site = Drawn(spot, node, scope, perhaps=True, of_argument=argument)
    made = Tensor(node, site=run.record(site))
    made.opaque = True
    run.graph.batch(value.node, node)
    return made


def batch_of(run: Interpreter, loader: Instance, spot: Location, scope: Scope) -> Value:
    """Return what a loader yields, each tensor of it with its own place."""
    structure = loader.attrs.get("batch", UNKNOWN)
    return _record(loader, fresh(run, structure, spot, scope))


def item_of(run: Interpreter, dataset: Instance, spot: Location, scope: Scope) -> Value:
    """Return an item of a dataset, each tensor of it with its own place."""
    if dataset.cls is not None and dataset.cls.lookup("__getitem__") is not None:
        run.in_worker += 1
        item = calls.method(run, dataset, "__getitem__", scope, spot.node, SCALAR)
        run.in_worker -= 1
    elif dataset.cls is not None and dataset.cls.lookup("__iter__") is not None:
        run.in_worker += 1
        found = calls.method(run, dataset, "__iter__", scope, spot.node)
        item = found.element if isinstance(found, Iter) else UNKNOWN
        run.in_worker -= 1
    else:
        item = dataset.attrs.get("item", UNKNOWN)
    return _record(dataset, fresh(run, item, spot, scope))


def _record(source: Instance, drawn: Value) -> Value:
    """Return what is drawn from a loader or a data set, whose items may be a library's objects."""
    if source.fact is not None and source.fact.out == RECORDS and isinstance(drawn, Tensor):
        if isinstance(drawn.site, Drawn):
            drawn.site.moves_itself = True
    return drawn


def fresh(run: Interpreter, value: Value, spot: Location, scope: Scope, depth: int = DEEP) -> Value:
    """Copy a structure that is drawn here, giving each tensor in it a place of its own.

    What is deeper in it than `depth` is not followed: it may hold itself.
    """
    if not depth:
        return UNKNOWN
    if isinstance(value, Tensor):
        node = run.graph.node(spot)
        node.is_tensor = value.node.find().is_tensor
        run.graph.batch(value.node, node)
        made = Tensor(node, site=run.record(Drawn(spot, node, scope, pinned=value.pinned)))
        made.opaque, made.collated = value.opaque, value.collated
        made.doubt = value.doubt
        return made
    if isinstance(value, Instance) and value.family == "" and value.attrs:
        copied = Instance(value.family, value.name, value.cls, value.fact)
        for name, member in value.attrs.items():
            copied.attrs[name] = fresh(run, member, spot, scope, depth - 1)
        return copied
    if isinstance(value, Seq):
        items = (
            [fresh(run, v, spot, scope, depth - 1) for v in value.items]
            if value.items is not None
            else None
        )
        element = (
            fresh(run, value.element, spot, scope, depth - 1) if value.element is not None else None
        )
        return value.of(items, element)
    if isinstance(value, Dict):
        members = {k: fresh(run, v, spot, scope, depth - 1) for k, v in value.items.items()}
        element = value.element
        if element is not None:
            element = fresh(run, element, spot, scope, depth - 1)
        return value.of(members, element)
    return value


def elements(value: Value) -> Iterator[Value]:
    """Return the members of a container, each once."""
    if isinstance(value, (Seq, Dict)):
        yield from value.members()
    elif isinstance(value, Iter):
        yield value.element
