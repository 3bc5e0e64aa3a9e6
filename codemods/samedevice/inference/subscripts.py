"""What a subscript of a value is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from samedevice.inference import (
    calls,
    classes,
    devices,
    functions,
    iteration,
    libraries,
    models,
    namespaces,
)
from samedevice.inference.dispatch import evaluates
from samedevice.inference.events import Drawn, FirstItem, Loaded, Shared, Structured
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import (
    Class,
    External,
    Func,
    Instance,
    Namespace,
    Scope,
    Union,
)
from samedevice.inference.values import (
    ARRAY,
    SCALAR,
    UNKNOWN,
    Const,
    Dict,
    ProcessIndex,
    Scalar,
    Seq,
    Shown,
    Tensor,
    Value,
    surely_tensor,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def _entry(run: Interpreter, owner: Tensor, key: str, spot: Location) -> Tensor:
    """Return an entry of what looked like a tensor: it is a mapping of unknown values."""
    owner.shown = Shown.MAPPING
    if owner.opaque or isinstance(owner.site, (Drawn, Loaded)):
        return part(run, owner, key)
    if isinstance(owner.site, Shared):
        return Tensor(owner.node, site=owner.site)  # of what a tokenizer gives, which moves whole
    made = Tensor(run.graph.node(spot))
    made.node.is_tensor = False
    made.opaque = True
    if owner.node.find().is_tensor and owner.site is None:  # what a library's model gives
        run.graph.flow(owner.node, made.node)
    return made


def part(run: Interpreter, value: Tensor, key: Any) -> Tensor:
    """Return a member of a tensor structure that is not known: it has a place of its own."""
    site = value.site
    if not isinstance(site, Structured) or site.node is None:
        return value
    if key not in site.parts and site.others is not None:
        return site.others
    if key not in site.parts:
        node = run.graph.node(site.spot)
        node.is_tensor = False
        made = site.part(node)
        made.callers_unknown = run.symbolic > 0
        run.sites.append(made)
        for source in value.node.drawn_from:
            run.graph.batch(source, node)
        whole = value.node.find()
        if whole.pin is Place.HOST:
            run.graph.pin(node, Place.HOST, whole.pin_spot, whole.name, whole.cause)
        found = Tensor(node, site=made)
        found.opaque = True
        site.parts[key] = found
    known = site.parts[key]
    assert isinstance(known, Tensor)
    return known


#: Where a module keeps what it is given under a key that is not known.
SOME_PART = "*"


@evaluates(ast.Subscript)
def _subscript_expression(run: Interpreter, node: ast.Subscript, scope: Scope) -> Value:
    owner = run.eval(node.value, scope)
    key = run.eval(node.slice, scope)
    spot = Location(scope.path, node)
    match owner:
        case Tensor():
            if first_item(run, node, key, owner, scope):
                return SCALAR  # the number that `.item()` gives
            if isinstance(key, Const) and isinstance(key.value, str):
                return _entry(run, owner, key.value, spot)
            return index_tensor(run, owner, node.value, key, node.slice, spot)
        case Seq() if isinstance(node.slice, ast.Slice):
            return sliced(run, owner, node.slice)
        case Dict() if not isinstance(key, Const):
            found = subscript(run, owner, key, spot, scope)
            asking = keyed_by(run, node.slice, scope) if isinstance(found, Tensor) else None
            return Tensor(asking.node) if asking is not None else found
    if isinstance(owner, Namespace):
        return namespaces.member(run, owner, key, node.slice, spot, scope)
    if owner is ARRAY:
        first_item(run, node, key, None, scope)
        index_array(run, key, node.slice, scope)
    return subscript(run, owner, key, spot, scope)


def subscript(run: Interpreter, owner: Value, key: Value, spot: Location, scope: Scope) -> Value:
    """Return `owner[key]`."""
    match owner:
        case Union(options=options):
            return iteration.any_of(
                run, (subscript(run, option, key, spot, scope) for option in options)
            )
        case Tensor() if owner.opaque:
            return part(run, owner, key.value if isinstance(key, Const) else None)
        case Tensor():
            return Tensor(owner.node).made_of(owner)
        case Seq(items=items):
            if items is not None and isinstance(key, Const) and isinstance(key.value, int):
                if -len(items) <= key.value < len(items):
                    return items[key.value]
            return run.iterate(owner, spot, scope)
        case Dict():
            return _item_of_dict(run, owner, key, spot, scope)
        case Class():
            return _item_of_class(run, owner, key, spot)
        case Instance():
            found = _item_of_instance(run, owner, key, spot, scope)
            if found is not None:
                return found
    if owner is ARRAY:
        return ARRAY
    if isinstance(key, Const) and key.value in devices.RANKS:
        return ProcessIndex()
    return _item_of_library(run, owner, key, scope) if isinstance(owner, External) else UNKNOWN


def _item_of_library(run: Interpreter, owner: External, key: Value, scope: Scope) -> Value:
    """Return what a mapping of a library's has for a key."""
    name = owner.name.removesuffix(".__dict__")
    if name == "os.environ" and isinstance(key, Const):
        return run.variables.get(key.value, UNKNOWN)
    if name == "sys.modules" and isinstance(key, Const) and key.value == "__main__":
        return namespaces.of_file(scope)
    if name.startswith("torch.") and type(key) is Const and isinstance(key.value, str):
        return External(f"{name}.{key.value}")  # `vars(nn)["GRU"]`
    if name == "torchvision.models" and name != owner.name:
        return External("torchvision.models.resnet18")  # one of them, which are all alike here
    return UNKNOWN


def _item_of_dict(run: Interpreter, owner: Dict, key: Value, spot: Location, scope: Scope) -> Value:
    if isinstance(key, Const) and key.value in owner.items:
        return owner.items[key.value]
    if isinstance(key, Const) and owner.factory is not None and _is_empty(owner.element):
        made = calls.apply(run, owner.factory, [], {}, spot, scope)
        run.trail.put(owner.items, key.value, made)
        return made
    if owner.late and owner.factory is not None:
        made = calls.apply(run, owner.factory, [], {}, spot, scope)
        owner.element = run.join(owner.element, made)
    if isinstance(key, Const) and owner.element is UNKNOWN:
        return UNKNOWN  # what other keys have says nothing of it
    joined: Value | None = None
    for member in owner.members():
        joined = run.join(joined, member)
    if isinstance(key, Const) and key.value in devices.RANKS:
        return ProcessIndex()  # of a copy of the environment
    return joined if joined is not None else UNKNOWN


def _is_empty(value: Value | None) -> bool:
    """Tell whether a list got no members: nothing is in it under a key that is not known."""
    return isinstance(value, Seq) and not value.items and value.element is None


def _item_of_instance(
    run: Interpreter, owner: Instance, key: Value, spot: Location, scope: Scope
) -> Value | None:
    """Return what an instance gives for a key, or None where its class does not say."""
    cls = owner.cls
    if owner.family == "module":
        inner = owner.attrs.get(part_key(owner, key)) if isinstance(key, Const) else None
        other = owner.attrs.get(SOME_PART)  # what was put under a key that is not known
        if inner is not None:
            return inner if other is None else run.join(inner, other)
        if cls is None or cls.lookup("__getitem__") is None:
            return run.iterate(owner, spot, scope)
        return calls.method(run, owner, "__getitem__", scope, spot.node, key)
    if cls is not None and cls.kind == classes.TUPLE:
        return subscript(run, classes.members(owner) or UNKNOWN, key, spot, scope)
    if owner.family == "plot":
        return owner  # one of several axes
    if owner.family == "dataset":
        return iteration.item_of(run, owner, spot, scope)
    library = models.methods_of(owner)
    if library is not None:
        return library(run, owner, "__getitem__", models.Call([(key, spot)], {}, spot, scope))
    if owner.family == "namespace":
        return owner.attrs.get(str(key.value), SCALAR) if isinstance(key, Const) else SCALAR
    if cls is not None and cls.lookup("__getitem__") is not None:
        return calls.method(run, owner, "__getitem__", scope, spot.node, key)
    if cls is not None and cls.kind in classes.CONTAINERS:
        held = classes.contents(owner)
        if isinstance(held, Dict) and not (isinstance(key, Const) and key.value in held.items):
            _fill_in(run, owner, held, key, spot, scope)
        return subscript(run, held or UNKNOWN, key, spot, scope)
    return None


def part_key(owner: Instance, key: Value) -> str:
    """Return the name of a module's part under an index, which counts from the end perhaps."""
    if not isinstance(key, Const):
        return SOME_PART
    if type(key.value) is int and key.value < 0:
        parts = sum(name.isdigit() for name in owner.attrs)
        if parts > 1 and str(parts - 1) in owner.attrs and parts + key.value >= 0:
            return str(parts + key.value)  # a single one may stand for many
    return str(key.value)


def _fill_in(
    run: Interpreter, owner: Instance, held: Dict, key: Value, spot: Location, scope: Scope
) -> None:
    """Do what a mapping's own class does where a key is missing: what it makes may stay there."""
    if owner.cls is None or not isinstance(owner.cls.lookup("__missing__"), Func):
        return
    made = calls.method(run, owner, "__missing__", scope, spot.node, key)
    if isinstance(key, Const):
        if key.value not in held.items:
            run.trail.put(held.items, key.value, made)
    elif all(made is not member for member in held.members()):
        run.trail.note(held)
        held.element = run.join(held.element, made)


def _item_of_class(run: Interpreter, klass: Class, key: Value, spot: Location) -> Value:
    """Return the member of an enum by its name, or the class itself, of whatever it is."""
    own = klass.lookup("__class_getitem__")
    if isinstance(own, Func):
        bound = Func(own.node, own.scope, klass, own.cls, "classmethod")
        return functions.call_func(run, bound, [(key, spot)], {}, spot)
    if isinstance(key, Const) and isinstance(key.value, str):
        named = klass.lookup(key.value)
        if named is not None:
            return named
    return klass


def keyed_by(run: Interpreter, key: ast.expr, scope: Scope) -> Tensor | None:
    """Return the tensor whose device is part of a key: a cache has a value for each device."""
    for part in syntax.walk(key):
        if isinstance(part, ast.Attribute) and part.attr == "device":
            asking = run.eval(part.value, scope)
            if isinstance(asking, Tensor):
                return asking
        elif isinstance(part, ast.Name) and part.id in scope.keys:
            asking = run.eval(scope.keys[part.id], scope)
            if isinstance(asking, Tensor):
                return asking
    return None


def remember_key(name: str, value: ast.expr, scope: Scope) -> None:
    """Note a name for a text or tuple with a tensor's device in it, as keys of caches are."""
    if not isinstance(value, (ast.BinOp, ast.JoinedStr, ast.Call, ast.Tuple)):
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
    run: Interpreter, node: ast.Subscript, key: Value, owner: Tensor | None, scope: Scope
) -> bool:
    """Note `loss.data[0]` and `loss.data.cpu().numpy()[0]`; `owner` is the tensor if known.

    Tell whether it has no dimensions.
    """
    bare = undressed(node.value)
    if bare is None or not isinstance(key, Const) or key.value != 0 or key.value is False:
        return False
    found = owner if owner is not None else run.eval(bare, scope)
    if not isinstance(found, Tensor):
        return False
    scalar = found.scalar and not found.opaque
    run.record(FirstItem(Location(scope.path, node), found.node, scope, scalar=scalar, bare=bare))
    return scalar


def sliced(run: Interpreter, owner: Seq, index: ast.Slice) -> Value:
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
                return Seq(owner.kind, None, _any(run, owner))
    if owner.items is None:
        return owner
    return Seq(owner.kind, owner.items[slice(*bounds)])


def _any(run: Interpreter, owner: Seq) -> Value | None:
    joined: Value | None = None
    for member in owner.members():
        joined = run.join(joined, member)
    return joined


def index_tensor(
    run: Interpreter,
    owner: Tensor,
    owner_node: ast.expr,
    key: Value,
    index: ast.expr,
    spot: Location,
) -> Value:
    """Return `owner[key]`: a tensor on the device cannot index one on the host."""
    for value, node in indexes(key, index):
        if isinstance(value, Tensor) and not (value.scalar or value.picked):
            # What has no dimensions is read.
            base, inside = Location(spot.path, owner_node), Location(spot.path, node)
            run.graph.index(owner.node, base, value.node, inside, spot, run.function())
    if owner.opaque:
        return part(run, owner, key.value if isinstance(key, Const) else None)
    made = Tensor(owner.node).made_of(owner)
    by_numbers = all(is_number(part, node) for part, node in indexes(key, index))
    if owner.row:
        made.row = isinstance(index, ast.Slice)
        made.scalar = by_numbers
    else:
        made.picked = by_numbers
    return made


def is_number(key: Value, node: ast.expr) -> bool:
    """Tell whether a part of a subscript is a number, which takes a dimension away."""
    if isinstance(node, ast.Slice):
        return False
    if isinstance(key, Tensor):
        return key.scalar and not key.opaque
    return isinstance(key, Scalar) or isinstance(key, Const) and type(key.value) is int


def index_array(run: Interpreter, key: Value, index: ast.expr, scope: Scope) -> None:
    """Note the tensors that index an array: NumPy reads them, but for numbers."""
    for value, node in indexes(key, index):
        if (
            isinstance(value, Tensor)
            and not (value.scalar or value.picked)
            and surely_tensor(value)
        ):
            libraries.demand_host(run, value, Location(scope.path, node), scope, "numpy")


def indexes(key: Value, index: ast.expr) -> list[tuple[Value, ast.expr]]:
    """Return the parts of a subscript, each with its code."""
    if isinstance(key, Seq) and key.items is not None and isinstance(index, ast.Tuple):
        if len(key.items) == len(index.elts):
            return list(zip(key.items, index.elts, strict=True))
    return [(key, index)]


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
