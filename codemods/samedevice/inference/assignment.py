"""What statements bind: names, attributes, members."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING

from samedevice.inference import (
    arrays,
    batches,
    calls,
    choices,
    classes,
    contents,
    escapes,
    expressions,
    functions,
    iteration,
    libraries,
    moving,
    operators,
    subscripts,
)
from samedevice.inference.events import (
    Kept,
    Loaded,
    PlainContainer,
    PlainTensor,
    SetLater,
    Structured,
)
from samedevice.inference.lattice import counted
from samedevice.inference.models import datasets, module_methods, optimizers, serialization
from samedevice.inference.nodes import Location, Place, PlaceVar
from samedevice.inference.objects import (
    Class,
    Environment,
    External,
    Func,
    Instance,
    Namespace,
    Scope,
    Union,
)
from samedevice.inference.values import (
    ARRAY,
    DEVICE,
    SCALAR,
    UNKNOWN,
    Const,
    Device,
    Dict,
    Seq,
    Tensor,
    Value,
    parameter_of,
    surely_tensor,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def bind(run: Interpreter, name: str, value: Value, scope: Scope) -> None:
    """Bind a name in its scope."""
    home = scope.home(name)
    if home is not scope:
        run.trail.note(home, name)
    home.names[name] = value
    if home is scope:
        scope.tests.pop(name, None)


def assign(
    run: Interpreter, target: ast.expr, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Bind a target of any form."""
    match target:
        case ast.Name(id=name):
            value = reloaded(run, name, value, scope)
            batches.note_binding(run, name, value, scope, statement)
            bind(run, name, value, scope)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for part, member in zip(targets, unpack(run, value, targets, scope), strict=True):
                run.assign(part, member, scope, statement)
        case ast.Starred(value=inner):
            run.assign(inner, value, scope, statement)
        case ast.Attribute(value=owner, attr=attr):
            set_attribute(run, run.eval(owner, scope), attr, value, scope, statement)
        case ast.Subscript(value=owner, slice=index):
            set_item(run, owner, index, value, scope, statement)
            choices.hides(run, owner, index, scope, statement)


def reloaded(run: Interpreter, name: str, value: Value, scope: Scope) -> Value:
    """Return what a name holds after a file was loaded into it: a model where it held one.

    What held a number holds one again.
    """
    if not isinstance(value, Tensor) or not isinstance(value.site, Loaded):
        return value
    old = expressions.name(run, ast.Name(name, ast.Load()), scope)
    if counted(old, value):
        return SCALAR
    if not isinstance(old, Instance) or old.family != "module" or old.node is None:
        return value
    value.site.into_module = True
    run.graph.same(value.node, old.node)  # it was saved where the model is
    return serialization.copied(old)


def unpack(run: Interpreter, value: Value, targets: list[ast.expr], scope: Scope) -> list[Value]:
    """Return one value for each target of an unpacking; `() = x` has none."""
    count = len(targets)
    if not count:
        return []
    if isinstance(value, Union):
        parts = [unpack(run, option, targets, scope) for option in value.options]
        return [iteration.any_of(run, column) for column in zip(*parts, strict=True)]
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
    if isinstance(value, Union):
        rows = [unpack(run, option, targets, scope) for option in value.options]
        return [reduce(run.join, column) for column in zip(*rows, strict=True)]
    whole = classes.members(value) if isinstance(value, Instance) else None
    if whole is not None:
        return unpack(run, whole, targets, scope)
    if isinstance(value, Tensor) and value.opaque:
        return [subscripts.part(run, value, i) for i in range(count)]
    if isinstance(value, Tensor):
        return [value] * count
    element = run.iterate(value, Location(scope.path, targets[0]), scope)
    return [element] * count


def set_attribute(
    run: Interpreter, owner: Value, attr: str, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Store a value in an attribute: a module registers modules and parameters."""
    if isinstance(owner, Instance):
        _set_on_instance(run, owner, attr, value, scope, statement)
    elif isinstance(owner, Union):
        for option in owner.options:
            set_attribute(run, option, attr, value, scope, statement)
    elif isinstance(owner, Func):
        run.trail.put(run.function_attributes.setdefault(owner.node, {}), attr, value)
    elif isinstance(owner, Class):
        run.trail.put(owner.names, attr, value)
        run.class_devices = run.class_devices or isinstance(value, Device)
    elif isinstance(owner, Namespace):
        run.trail.note(owner.scope, attr)
        owner.scope.names[attr] = value
    elif isinstance(owner, Tensor) and isinstance(value, Tensor) and attr in ("data", "grad"):
        spot = Location(scope.path, statement)
        given = Location(scope.path, getattr(statement, "value", statement))
        if attr == "data":
            run.graph.flow(value.node, owner.node)
        if attr == "grad" or not _takes_away(given.node):
            run.graph.meet(owner.node, spot, value.node, given, spot, run.function())
    elif isinstance(owner, Tensor) and attr == "requires_grad":
        optimizers.trained(run, owner)
    elif isinstance(owner, Tensor) and isinstance(value, Tensor):
        _set_part(run, owner, attr, value)
    else:
        escapes.stored(run, owner, value, Location(scope.path, statement), scope)


def _takes_away(node: ast.AST) -> bool:
    """Tell whether an expression is a move: `p.data = p.data.cpu()` is meant."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cpu", "cuda", "to", "pin_memory")
    )


def _set_part(run: Interpreter, owner: Tensor, key: str, value: Tensor) -> None:
    """Store a tensor in what is not known more closely: an attribute or entry of a batch."""
    if owner.opaque and isinstance(owner.site, Structured):
        run.trail.put(owner.site.parts, key, value)


def _set_on_instance(
    run: Interpreter, owner: Instance, attr: str, value: Value, scope: Scope, statement: ast.stmt
) -> None:
    """Store a value in an attribute of an instance, as its class says."""
    if owner.node is not None and owner.family == "module":
        value = module_attribute(run, owner, attr, value, scope, statement)
    setter = owner.cls.lookup(attr) if owner.cls is not None else None
    spot = Location(scope.path, statement)
    if isinstance(setter, Func) and setter.static == "setter":
        set_it = Func(setter.node, setter.scope, owner, setter.cls)
        functions.call_func(run, set_it, [(value, spot)], {}, spot)
        return
    if operators.called(run, setter, "__set__", [owner, value], spot, scope) is not None:  # type: ignore[arg-type]
        return
    if attr == "__dict__" and isinstance(value, Dict) and owner.family != "module":
        for name, member in value.items.items():
            run.trail.put(owner.attrs, name, member)
        return
    _note_holder(run, owner, attr, value, scope, spot)
    if attr == "forward" and owner.family == "module" and scope.self_value is not owner:
        escapes.taken(run, owner, spot, scope)  # what it computes from now on is not followed
    if type(value) is External or type(owner.attrs.get(attr)) is External:
        if owner.cls is not None and scope.func is not None:
            if getattr(scope.func.node, "name", "") != "__init__":
                run.set_later.add((owner.cls.node, attr))
    run.trail.put(owner.attrs, attr, value)


def _note_holder(
    run: Interpreter, owner: Instance, attr: str, value: Value, scope: Scope, spot: Location
) -> None:
    """Note what it means for a value that this instance holds it from now on."""
    if isinstance(value, Instance) and value.family == "module" and owner.family != "module":
        run.snapshot(run.record(Kept(spot, value.node, scope, attr, module=value)), scope)
    if owner.family == "dataset":
        for tensor, where in contents.tensors_in(value, spot):
            datasets.keep_on_host(tensor, where)
    if owner.family == "namespace":
        choices.overruled(owner, attr, value)


def module_attribute(
    run: Interpreter, owner: Instance, attr: str, value: Value, scope: Scope, statement: ast.stmt
) -> Value:
    """Register what is stored in a module, and note tensors that are not registered."""
    assert owner.node is not None
    spot = Location(scope.path, statement)
    if isinstance(value, Instance) and value.family == "module" and value.node is not None:
        join_in(run, owner, value)
        if value.parent is not owner and "*" in attr:
            # It computes with the others from now on.
            run.graph.meet(owner.node, spot, value.node, spot, spot, run.function())
    elif isinstance(value, Union):
        for child in contents.modules_in(value):
            join_in(run, owner, child)
    elif isinstance(value, Tensor) and value.parameter and moving.comes_late(run, owner, value):
        return moving.join_late(run, owner, attr, value, spot)
    elif isinstance(value, Tensor) and (value.parameter or value.lent):
        run.graph.batch(value.node, owner.node)
        owner.stateful = True
        held = parameter_of(owner)
        held.scalar = value.scalar
        return held
    elif isinstance(value, Tensor):
        if not run.in_constructor:
            run.record(SetLater(spot, value.node, scope, attr))
            if attr not in owner.buffers:
                moving.remember(run, value, attr, scope, spot)
        if not run.in_constructor and value.node.find() is owner.node.find():
            return value
        return plain_tensor(run, owner, attr, value, scope, spot)
    elif isinstance(value, (Seq, Dict)):
        if owner.cls is not None and moving.moves_along(owner.cls, attr):
            owner.buffers.add(attr)
            return moving.along(run, owner, value)
        members = list(value.members())
        if any(isinstance(m, Instance) and m.family == "module" for m in members) or (
            not members and run.in_constructor
        ):
            run.record(PlainContainer(spot, owner.node, scope, attr, owner=owner, value=value))
    elif isinstance(value, Instance) and value.family == "distribution" and value.node is not None:
        run.held.append(value.node)
    return value


def join_in(run: Interpreter, owner: Instance, child: Instance) -> None:
    """Register a part; a new part of a module that has moved already has to move by itself."""
    if not owner.has_moved() or run.in_constructor or child.moves:
        register(run, owner, child)


def plain_tensor(
    run: Interpreter, owner: Instance, attr: str, value: Tensor, scope: Scope, spot: Location
) -> Tensor:
    """A tensor stored in a module without registering it: it does not move with the module."""
    along = owner.cls is not None and moving.moves_along(owner.cls, attr)
    if along or run.in_constructor and attr in owner.buffers:
        assert owner.node is not None
        owner.buffers.add(attr)
        run.graph.batch(value.node, owner.node)
        return Tensor(owner.node, scalar=value.scalar)
    root = value.node.find()
    if not run.in_constructor or _is_of_callers(root) or not surely_tensor(value):
        return value
    if value.leaf and value.site is not None:
        run.held.append(value.node)
        return value  # the optimizer holds this tensor: it has to be created on its device
    node = run.graph.node(spot)
    node.is_tensor = value.node.find().is_tensor
    site = run.record(PlainTensor(spot, node, scope, attr, owner=owner, value=value))
    site.trained = value.leaf
    run.graph.batch(value.node, node)
    return Tensor(node, scalar=value.scalar, site=site)


def _is_of_callers(root: PlaceVar) -> bool:
    """Tell whether a value is what nobody is seen to hand in, or is computed of that alone: it may
    be there already, or something else that has a `clone()`."""
    sources = [source.find().pin for source in root.flows_from]
    return root.pin is Place.FOLLOWS or bool(sources) and set(sources) == {Place.FOLLOWS}


def register(run: Interpreter, owner: Instance, child: Instance) -> None:
    """Make `child` a part of the module `owner`: they move together."""
    if child is owner or owner.node is None or child.node is None:
        return
    moved = child.has_moved()
    source = child.wholes()[-1]
    if lent(run, owner, child):
        owner.borrows.append(child)
        child.shared = True
    else:
        child.parent = owner
    if child.node.find().pin is Place.HOST:
        return  # it was put on the CPU on purpose; moving the whole moves it again
    if moved and not owner.moves:
        return  # it moved before the rest, by itself or with another whole; the rest may move later
    for whole in owner.wholes():
        whole.stateful = whole.stateful or child.stateful
    if child.used and not (run.path or owner.used or child.moves):
        # What it computed by itself before stays where it is.
        child.worked_alone = True
        moving.rebase(run, child, run.graph.node())
    assert child.node is not None
    run.graph.same(owner.node, child.node)
    owner.parts.append(child)
    if iteration.is_any_module(child) and source not in owner.wholes():
        owner.parts.append(source)  # whichever part it is: what stands for another one moves along


def lent(run: Interpreter, owner: Instance, child: Instance) -> bool:
    """Tell whether a part was built by a caller of the function that builds the whole."""
    if owner.site is None or child.site is None or child.site.in_constructor or owner.moves:
        return False
    if owner.site.in_constructor:
        return False  # it is a part itself, of what its builder gets
    builder, lender = owner.site.scope, child.site.scope
    if builder.func is None or builder is lender:
        return False
    if lender.func is None or lender.func.node not in run.stack:
        return lender.func is None
    inner = builder.func.node
    return inner not in run.stack or (run.stack.index(lender.func.node) < run.stack.index(inner))


def set_item(
    run: Interpreter,
    owner_node: ast.expr,
    index: ast.expr,
    value: Value,
    scope: Scope,
    stmt: ast.stmt,
) -> None:
    """Store into a container or a tensor (which copies across devices)."""
    owner = run.eval(owner_node, scope)
    key = run.eval(index, scope)
    whole = _registry_of(run, owner_node, owner, scope)
    if isinstance(whole, Instance) and isinstance(value, (Instance, Tensor)):
        where = Location(scope.path, index)
        key = Const(subscripts.part_key(whole, key)) if isinstance(key, Const) else key
        classes.put(run, whole, (key, where), value, Location(scope.path, stmt), scope)
        return
    if isinstance(owner, Instance) and owner.cls and owner.cls.lookup("__setitem__") is None:
        owner = classes.contents(owner) or owner
    if isinstance(owner, Dict):
        module_methods.add_to_state(owner, [(value, Location(scope.path, stmt))])
        if isinstance(owner_node, ast.Attribute) and isinstance(value, Tensor):
            moving.remember(run, value, owner_node.attr, scope, Location(scope.path, stmt))
        if isinstance(key, Const) and isinstance(key.value, (str, int)):
            run.trail.put(owner.items, key.value, value)
            return
        run.trail.note(owner)
        if isinstance(value, Tensor) and subscripts.keyed_by(run, index, scope) is not None:
            value = Tensor(run.graph.node())  # others keep theirs elsewhere
        owner.element = run.join(owner.element, value)
    elif isinstance(owner, Seq):
        _set_in_sequence(run, owner, key, value)
    elif isinstance(owner, Tensor):
        _set_in_tensor(run, owner, owner_node, key, index, value, scope, stmt)
    elif owner is ARRAY and not _of_callers(owner_node, scope):
        spot = Location(scope.path, getattr(stmt, "value", stmt))
        number = isinstance(value, Tensor) and value.scalar
        if not (number and arrays.is_element(run, owner_node, key, index, scope)):
            libraries.demand_host(run, value, spot, scope, "numpy")
        subscripts.index_array(run, key, index, scope)
    elif isinstance(owner, External) and owner.name == "os.environ" and isinstance(key, Const):
        run.trail.put(run.variables, key.value, value if _names_device(value) else UNKNOWN)
    elif isinstance(owner, Instance):
        _set_in_instance(run, owner, key, value, scope, index)
    else:
        escapes.stored(run, owner, value, Location(scope.path, stmt), scope)


def _names_device(value: Value) -> bool:
    """Tell whether a text names an accelerator, or a device is one."""
    text = value.value if isinstance(value, Const) else None
    return isinstance(value, Device) or isinstance(text, str) and bool(DEVICE.fullmatch(text))


def _registry_of(run: Interpreter, node: ast.expr, value: Value, scope: Scope) -> Value | None:
    """Return the module into which a store by a key puts what it registers, if it does."""
    match node:
        case ast.Attribute(value=owner, attr="_modules" | "_parameters" | "_buffers"):
            whole = run.eval(owner, scope)
        case _:
            whole = value if isinstance(value, Instance) and value.cls is None else UNKNOWN
    return whole if isinstance(whole, Instance) and whole.family == "module" else None


def _set_in_tensor(
    run: Interpreter,
    owner: Tensor,
    owner_node: ast.expr,
    key: Value,
    index: ast.expr,
    value: Value,
    scope: Scope,
    stmt: ast.stmt,
) -> None:
    """Store into a tensor, or into a mapping of which nothing else is known."""
    if isinstance(key, Const) and isinstance(key.value, str):
        if isinstance(value, Tensor):
            _set_part(run, owner, key.value, value)
        return  # it is a mapping, of which nothing else is known
    subscripts.index_tensor(run, owner, owner_node, key, index, Location(scope.path, stmt))
    if isinstance(value, Tensor):
        if _by_tensor(key) and not value.scalar and surely_tensor(value):
            # What a tensor or a list indexes takes values from its own device only; slices copy.
            given = Location(scope.path, getattr(stmt, "value", stmt))
            spot = Location(scope.path, owner_node)
            run.graph.meet(
                owner.node, spot, value.node, given, Location(scope.path, stmt), run.function()
            )
        elif not value.scalar:  # a number is copied from any device
            run.graph.store(value.node, owner.node)
        if owner.opaque and isinstance(owner.site, Structured) and not isinstance(key, Const):
            owner.site.others = value  # `for key in batch: batch[key] = ...`


def _of_callers(node: ast.expr, scope: Scope) -> bool:
    """Tell whether a name is a parameter: what one caller hands in as an array may be a tensor."""
    return (
        isinstance(node, ast.Name)
        and scope.func is not None
        and node.id in syntax.parameters(scope.func.node)
    )


def _set_in_sequence(run: Interpreter, owner: Seq, key: Value, value: Value) -> None:
    run.trail.note(owner)
    if owner.items is not None and isinstance(key, Const) and isinstance(key.value, int):
        if -len(owner.items) <= key.value < len(owner.items):
            owner.items[key.value] = value
            return
    elif owner.items is not None and value is ARRAY:  # any of them may be one now
        owner.items = [run.join(item, value) for item in owner.items]
    owner.element = run.join(owner.element, value)


def _set_in_instance(
    run: Interpreter, owner: Instance, key: Value, value: Value, scope: Scope, index: ast.expr
) -> None:
    if owner.family == "module" and isinstance(value, Instance):
        if value.family == "module":
            join_in(run, owner, value)
            run.trail.put(owner.attrs, subscripts.part_key(owner, key), value)
    elif owner.cls is not None:
        calls.method(run, owner, "__setitem__", scope, index, key, value)


def join_names(run: Interpreter, left: Environment, right: Environment) -> Environment:
    """Join the names at the end of two paths."""
    joined = left.copy()
    for name, value in right.items():
        other = left.get(name)
        if other is not value:
            joined[name] = value if other is None else run.join(other, value)
    return joined


def _by_tensor(key: Value) -> bool:
    """Tell whether a subscript has a tensor in it that has dimensions, or a list, which is one."""
    parts = key.items or [] if isinstance(key, Seq) and key.kind == "tuple" else [key]
    tensors = (part for part in parts if isinstance(part, Tensor) and surely_tensor(part))
    listed = any(isinstance(part, Seq) or part is ARRAY for part in parts)
    return listed or any(not tensor.scalar for tensor in tensors)
