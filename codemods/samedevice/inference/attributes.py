"""What an attribute of a value is."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    classes,
    functions,
    instances,
    iteration,
    libraries,
    operators,
    subscripts,
)
from samedevice.inference.dispatch import evaluates
from samedevice.inference.events import Loaded, TensorMoved
from samedevice.inference.models import images, tensor_methods
from samedevice.inference.nodes import Location
from samedevice.inference.objects import (
    Class,
    External,
    Func,
    Instance,
    Method,
    Namespace,
    Scope,
    Super,
    Union,
)
from samedevice.inference.open_events import WhereAsked
from samedevice.inference.values import (
    ARRAY,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    DeviceTest,
    Dict,
    Doubt,
    Iter,
    Seq,
    Shown,
    Tensor,
    Value,
    parameter_of,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Numbers that layers keep of how they were made: what has them is a layer, and they stay put.
_NUMBERS = frozenset((
    "in_features", "out_features", "num_features", "in_channels", "out_channels",
    "num_embeddings", "embedding_dim", "input_size", "hidden_size", "num_layers",
))  # fmt: skip
#: Attributes of tensors that objects which hold one have, too.
_OF_OBJECTS = frozenset(("data", "grad"))
#: Attributes of libraries' modules that are no modules.
_SETTINGS = _NUMBERS | {"config", "training", "kernel_size", "stride"}
#: Parameters and buffers of torch's layers.
_PARAMETERS = re.compile(
    r"data|((weight|bias)(_[ih]h_l\d+(_reverse)?|_[ih]h|_hr_l\d+(_reverse)?)?)|running_(mean|var)|"
    r"num_batches_tracked|in_proj_(weight|bias)|[qkv]_proj_weight|bias_[kv]"
)
#: How a class or function is called, as it says itself.
_NAMES = frozenset(("__name__", "__qualname__"))
#: Methods of modules that are containers, as lists and mappings have them.
_OF_CONTAINERS = frozenset(("append", "extend", "insert", "update", "values", "items", "keys"))
#: Attributes of tensors that arrays have, too: of what may be one, they are one as well.
_OF_ARRAYS = frozenset(("T", "mT", "data", "imag", "real"))
#: Where torchvision's datasets keep all their images and labels.
_DATASET_TENSORS = frozenset(
    ["data", "targets", "train_data", "test_data", "train_labels", "test_labels"]
)


@evaluates(ast.Attribute)
def _attribute_expression(run: Interpreter, node: ast.Attribute, scope: Scope) -> Value:
    match node:
        case ast.Attribute(
            value=ast.Call(func=func, args=[ast.Constant(value=str(text))], keywords=[]),
            attr="type",
        ):
            callee = run.eval(func, scope)
            if isinstance(callee, External) and callee.name == "torch.device":
                return Const(text.partition(":")[0])  # only its name is asked for
    owner = run.eval(node.value, scope)
    if node.attr == "is_cuda" and isinstance(owner, Tensor):
        run.record(WhereAsked(Location(scope.path, node), owner.node, scope))
    return attribute(run, owner, node.attr, Location(scope.path, node), scope)


def attribute(run: Interpreter, owner: Value, attr: str, spot: Location, scope: Scope) -> Value:
    """Return `owner.attr`."""
    match owner:
        case Tensor():
            return tensor_attribute(run, owner, attr, spot)
        case External(name=name):
            return External(f"{name}.{attr}")
        case Union(options=options):
            found = _of_any(run, [attribute(run, o, attr, spot, scope) for o in options])
            _share(run, options, attr, found)
            return found
        case Namespace():
            return _of_file(run, owner, attr, spot)
        case Instance():
            return object_attribute(run, owner, attr, spot, scope)
        case Class():
            return _of_class(run, owner, attr, spot)
        case Super():
            return _of_super(run, owner, attr, spot)
        case Func() if attr in run.function_attributes.get(owner.node, ()):
            return run.function_attributes[owner.node][attr]
        case Func(node=ast.FunctionDef(name=name)) if attr in _NAMES:
            return Const(name)
        case Device():
            if attr == "type":
                return Device(
                    owner.node, owner.spot, text=True, resolved=owner.resolved,
                    of_value=owner.of_value,
                )  # fmt: skip
            return SCALAR if attr == "index" else Method(owner, attr, spot)
        case Const(value=str() | int() | float()) if attr == "value" and type(owner) is Const:
            return owner  # of an enum's member, which is kept as its value
        case Seq() | Dict() | Func() | Iter() | Const():
            return Method(owner, attr, spot)
    if owner is ARRAY:
        return Method(owner, attr, spot)
    return owner if owner in (SCALAR, NOTHING) else UNKNOWN


def _of_file(run: Interpreter, owner: Namespace, attr: str, spot: Location) -> Value:
    """Return a name of a file of the project, or the module in its folder that has it."""
    known = owner.scope.names.get(attr)
    if known is not None:
        return known
    if attr == "__dict__":
        return owner
    if attr == "get":
        return Method(owner, attr, spot)  # of `globals()`, a dictionary
    inner = run.project.resolve(owner.path, attr, 1)
    return Namespace(inner, run.file(inner)) if inner is not None else UNKNOWN


def _share(run: Interpreter, options: list[Value], attr: str, found: Value) -> None:
    """Make the container that any of several objects may have one for all of them.

    What is put into it stays there.
    """
    if isinstance(found, (Seq, Dict)):
        for option in options:
            if isinstance(option, Instance) and attr in option.attrs:
                run.trail.put(option.attrs, attr, found)


def _of_any(run: Interpreter, found: list[Value]) -> Value:
    """Return what an attribute is of which several values are possible."""
    options: list[Value] = []
    for option in found:
        options.extend(option.options if isinstance(option, Union) else (option,))
    if not any(isinstance(v, (Tensor, Device, Seq, Dict)) for v in options):
        return Union(options)
    joined: Value | None = None
    for option in options:
        joined = run.join(joined, option)
    return joined if joined is not None else UNKNOWN


def _of_class(run: Interpreter, owner: Class, attr: str, spot: Location) -> Value:
    """Return an attribute of a class itself."""
    found = owner.lookup(attr)
    if attr in _NAMES and found is None:
        return Const(getattr(owner.node, "name", ""))
    if found is None and owner.meta is not None:
        found = owner.meta.lookup(attr)
        if isinstance(found, Func):
            return bound(run, found, owner, owner.meta, spot)
    if found is None:
        return Method(owner, attr, spot)
    if isinstance(found, Func) and found.static == "classmethod":
        return Func(found.node, found.scope, owner, found.cls, found.static)
    return found


def _of_super(run: Interpreter, owner: Super, attr: str, spot: Location) -> Value:
    """Return `super().attr`."""
    for base in _behind(owner.cls, owner.obj):
        found = base.names.get(attr)
        if isinstance(found, Func):
            if isinstance(owner.obj, Class):
                return Func(found.node, found.scope, owner.obj, found.cls, found.static)
            return bound(run, found, owner.obj, base, spot)
    return Method(owner, attr, spot)


def tensor_attribute(run: Interpreter, owner: Tensor, attr: str, spot: Location) -> Value:
    """Return an attribute of a tensor."""
    root = owner.node.find()
    kind = torchfacts.tensor_attribute(attr)
    if attr == "device":
        return Device(owner.node, spot, resolved=True, of_value=True)
    if attr == "is_cuda":
        root.is_tensor = True
        asked = DeviceTest(True)
        asked.of_value = True
        return asked
    if attr == "batch_sizes":
        return Tensor(run.graph.node(spot))  # of a packed sequence: always on the host
    if attr in ("values", "indices") and root.is_tensor:
        return Tensor(owner.node)  # of `max`, `topk` or `sort`
    others = attr in tensor_methods.OF_OTHERS or torchfacts.module_method(attr) is not None
    if torchfacts.tensor_method(attr) is not None or others and not root.is_tensor:
        return Method(owner, attr, spot)
    if kind == "self" and attr in _OF_OBJECTS and owner.site is None and not root.is_tensor:
        return run.derived(owner, spot)  # a packed sequence has its data, and no device
    if kind == "self":
        same = Tensor(owner.node, scalar=owner.scalar, site=owner.site)
        same.owner = owner.owner
        if attr == "grad":
            same.doubt = Doubt.ABSENT  # before the first backward pass
        return same.made_of(owner) if attr in _OF_ARRAYS else same
    if kind is not None or attr in _NUMBERS:
        return SCALAR
    if attr in tensor_methods.COPYING and owner.site is None and not root.is_tensor:
        return Method(owner, attr, spot)
    if not torchfacts.is_output_field(attr):
        owner.shown = Shown.OBJECT
    if owner.opaque:
        part = subscripts.part(run, owner, attr)
        if _is_of_unknown_class(owner) and part is not owner:
            return part.doubted(Doubt.OTHER)  # a module's own number, say
        return part
    made = run.derived(owner, spot)  # no tensor has it, so this may be anything
    if torchfacts.is_output_field(attr):
        made.node.is_tensor = True
    return made


def _is_of_unknown_class(value: Tensor) -> bool:
    """Tell whether a value may be an object of any class: it came from a file, and moves."""
    site = value.site
    while isinstance(site, TensorMoved) and site.tensor is not None:
        site = site.tensor.site
    return site is not value.site and (site is None or isinstance(site, Loaded))


def derived(run: Interpreter, owner: Tensor, spot: Location) -> Tensor:
    """Return the result of using something that may be no tensor: it is in the same place."""
    node = run.graph.node(spot)
    node.is_tensor = False
    run.graph.flow(owner.node, node)
    return Tensor(node)


def object_attribute(
    run: Interpreter, owner: Instance, attr: str, spot: Location, scope: Scope
) -> Value:
    """Return an attribute of an instance."""
    found = owner.attrs.get(attr)
    if found is not None:
        return found
    if owner.cls is not None:
        found = _of_own_class(run, owner, owner.cls, attr, spot, scope)
        if found is not None:
            return found
    computed = classes.by_pattern(owner, attr)
    if computed is not None:
        return computed
    if attr == "__dict__" and owner.family != "module":
        return Dict(owner.attrs)
    if owner.family == "module":
        found = _of_module(owner, attr, spot)
        if found is not None:
            return found
    if owner.family == "namespace":
        return SCALAR
    if owner.family == "hostobject" and attr in ("values", "iloc", "loc", "T", "shape"):
        return ARRAY
    if owner.family == "dataset" and attr in _DATASET_TENSORS:
        return images.host_tensor(run, spot, scope, attr)
    held = libraries.library_attribute(run, owner, attr, spot)
    return held if held is not None else Method(owner, attr, spot)


def _of_own_class(
    run: Interpreter, owner: Instance, klass: Class, attr: str, spot: Location, scope: Scope
) -> Value | None:
    """Return what an instance's class says of an attribute, or None."""
    value = klass.lookup(attr)
    if isinstance(value, Func):
        return bound(run, value, owner, klass, spot)
    if isinstance(value, Instance) and value.family == "field":
        return value.kwargs.get("default", UNKNOWN)
    if value is not None:
        got = operators.called(run, value, "__get__", [owner, klass], spot, scope)
        return value if got is None else got
    getter = klass.lookup("__getattr__")
    if isinstance(getter, Func) and owner.family != "module":
        asked = Func(getter.node, getter.scope, owner, getter.cls)
        return functions.call_func(run, asked, [(Const(attr), spot)], {}, spot)
    held = classes.contents(owner) if isinstance(getter, External) else None
    # `__getattr__ = dict.__getitem__`: an entry is an attribute.
    return held.items.get(attr) if isinstance(held, Dict) else None


def _of_module(owner: Instance, attr: str, spot: Location) -> Value | None:
    """Return an attribute that a library's module has, or every module, or None."""
    if attr == "_modules":
        parts = {k: v for k, v in owner.attrs.items() if isinstance(v, (Instance, Union))}
        return Dict({**parts}, None if parts else iteration.any_module(owner, spot))
    own = owner.cls is None or owner.fact is not None and owner.fact.state
    if own and owner.node is not None and _PARAMETERS.fullmatch(attr):
        return parameter_of(owner)
    if owner.cls is not None:
        if attr == "device" and owner.node and instances.is_moved_by_library(owner.cls):
            return Device(owner.node, spot, resolved=True, of_value=True)
        return None
    if torchfacts.module_method(attr) is None:
        static = f"{owner.name}.{attr}"
        fact = torchfacts.lookup(static)
        if fact is not None and fact.kind != "module":  # that is a part of what is one
            return External(static)  # a function of the class, which has nothing of the object
        if attr in _OF_CONTAINERS and owner.name.endswith(("Dict", "List", "Sequential")):
            return Method(owner, attr, spot)
        if attr in torchfacts.OFFLOADING:
            return Method(owner, attr, spot)
        if owner.node is not None and not attr.startswith("_"):
            return SCALAR if attr in _SETTINGS else iteration.any_module(owner, spot)
    if attr == "device" and owner.node is not None:
        return Device(owner.node, spot, resolved=True, of_value=True)
    return None


def bound(run: Interpreter, member: Func, owner: Value, klass: Class, spot: Location) -> Value:
    """Return what a function of a class is, as an attribute of an instance."""
    if member.static == "staticmethod":
        return member
    if member.static == "classmethod":
        kind = owner.cls if isinstance(owner, Instance) and owner.cls is not None else klass
        return Func(member.node, member.scope, kind, member.cls)
    if member.static == "setter" and member.getter is not None:
        member = member.getter
    found = Func(member.node, member.scope, owner, member.cls, member.static)
    if member.static in ("property", "cached_property"):
        return functions.call_func(run, found, [], {}, spot)
    return found


def _behind(klass: Class, owner: Value) -> list[Class]:
    """Return where `super()` looks, in a method of a class that is called for an owner."""
    own = owner.cls if isinstance(owner, Instance) else owner
    order = own.mro() if isinstance(own, Class) else []
    return order[order.index(klass) + 1 :] if klass in order else klass.mro()[1:]
