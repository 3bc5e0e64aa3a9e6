"""Calls: the arguments, and what is called."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.inference import (
    classes,
    contents,
    devices,
    escapes,
    functions,
    instances,
    iteration,
    libraries,
    namespaces,
    spelled,
    subscripts,
    unexplained,
)
from samedevice.inference.dispatch import evaluates
from samedevice.inference.events import ModuleMade, OldName, Optimizes
from samedevice.inference.models import (
    Call,
    builtin_types,
    builtins,
    frameworks,
    module_methods,
    nn,
    tensor_methods,
)
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import (
    Class,
    External,
    Func,
    Instance,
    Method,
    Namespace,
    Partial,
    Scope,
    Super,
    Union,
)
from samedevice.inference.open_events import Handed
from samedevice.inference.values import (
    ARRAY,
    NONE,
    NOTHING,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Device,
    Dict,
    Doubt,
    Iter,
    Seq,
    Tensor,
    Value,
    always_tensor,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@evaluates(ast.Call)
def _call_expression(run: Interpreter, node: ast.Call, scope: Scope) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super":
        if scope.self_value is not None and scope.func is not None and scope.func.cls:
            return Super(scope.func.cls, scope.self_value)
    callee = run.eval(node.func, scope)
    began = len(run.sites)
    args = _positional(run, node, callee, scope)
    if isinstance(args, Seq):
        return args
    kwargs = _keywords(run, node, scope)
    before = len(run.sites)
    if callee is UNKNOWN:
        unexplained.called(run, node, args, kwargs)
        libraries.gives_memory(run, args, kwargs, Location(scope.path, node), scope)
    if callee is UNKNOWN and isinstance(node.func, ast.Attribute):
        layer = unknown_layer(run, node.func, args, Location(scope.path, node), scope)
        if layer is not None:
            return layer
        spot = Location(scope.path, node)
        libraries.handed_together(run, args, kwargs, spot, scope, runs=True)
        escapes.by_method(run, node.func, args, kwargs, spot, scope)
        return tensor_methods.moved_unknown(
            run, node.func, args, kwargs, Location(scope.path, node), scope
        )
    result = apply(run, callee, args, kwargs, Location(scope.path, node), scope)
    if result is UNKNOWN and isinstance(callee, External):
        unexplained.called(run, node, args, kwargs)
    if isinstance(callee, (Func, Union, Partial)):
        for made in contents.modules_in(result) if isinstance(result, (Instance, Union)) else ():
            if made.site is None or made.site.order < began or made.node is None:
                continue  # it was handed in
            if made.site.order < before and _is_at_work(run, made, before):
                continue  # it was handed in, and has to be there by then
            if not made.moves and not made.site.in_constructor and not _computed(made.node):
                # What a function builds and returns is moved by its caller.
                if isinstance(made.site, ModuleMade):
                    made.site.returned = Location(scope.path, node)
                run.snapshot(made.site, scope)
                made.site.scope = scope
    return result


def _positional(run: Interpreter, node: ast.Call, callee: Value, scope: Scope) -> list[Arg] | Seq:
    """Return a call's positional arguments; for `zip(*rows)` what it yields, if that is known."""
    args: list[Arg] = []
    for arg in node.args:
        value = run.eval(arg, scope)
        if not isinstance(arg, ast.Starred):
            args.append((value, Location(scope.path, arg)))
            continue
        spot = Location(scope.path, arg.value)
        zipped = isinstance(callee, External) and callee.name == "builtins.zip"
        if zipped and len(node.args) == 1 and isinstance(value, Seq):
            columns = _columns(run, run.iterate(value, spot, scope))
            if columns is not None:
                return columns
        if isinstance(value, Seq) and value.items is not None:
            args.extend((v, spot) for v in value.items)
        else:
            element = run.iterate(value, spot, scope)
            args.extend([(element, spot)] * _room(callee, node))
    return args


def _keywords(run: Interpreter, node: ast.Call, scope: Scope) -> dict[str, Arg]:
    """Return a call's keyword arguments, under "**" what has a name that is not known."""
    kwargs: dict[str, Arg] = {}
    for keyword in node.keywords:
        value = run.eval(keyword.value, scope)
        spot = Location(scope.path, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = (value, spot)
        elif isinstance(value, Dict):
            kwargs.update({str(k): (v, spot) for k, v in value.items.items()})
            if value.element is not None:
                kwargs.setdefault("**", (value.element, spot))
        elif value is UNKNOWN:
            kwargs.setdefault("**", (UNKNOWN, spot))
        elif isinstance(value, Tensor):  # of unknown structure: here, a mapping
            kwargs.setdefault("**", (subscripts.subscript(run, value, UNKNOWN, spot, scope), spot))
    return kwargs


def unknown_layer(
    run: Interpreter, func: ast.Attribute, args: list[Arg], spot: Location, scope: Scope
) -> Value | None:
    """Return what `self.layer(x)` gives, a layer that a module got from code not known here.

    A part of such a layer (`self.body.layer(x)`) is where the module is, too; but it may be a
    method as well, which takes other things than tensors.
    """
    owner = _holder(func, scope)
    if owner is None or owner.node is None:
        return None
    operands = [(v, where) for v, where in args if isinstance(v, Tensor)]
    if not operands:
        return None
    is_layer = isinstance(func.value, ast.Name) or torchfacts.computes(func.attr)
    for value, _ in operands if is_layer else ():
        value.node.find().is_tensor = True
    owner.stateful = True
    escapes.handed(run, args, {}, spot, scope)
    layer = Tensor(owner.node)
    return run.operate([(layer, Location(spot.path, func)), *operands], spot, False)


def _holder(func: ast.Attribute, scope: Scope) -> Instance | None:
    """Return the module that holds something unknown by which an attribute is reached."""
    names = [func.attr]
    inner = func.value
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    held = scope.names.get(inner.id) if isinstance(inner, ast.Name) else None
    while names and isinstance(held, Instance) and held.family == "module":
        owner, held = held, held.attrs.get(names.pop())
        if held is UNKNOWN:
            return owner
    return None


def apply(
    run: Interpreter,
    callee: Value,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Return the result of calling a value."""
    match callee:
        case Func():
            return functions.call_func(run, callee, args, kwargs, spot)
        case Class():
            return instances.instantiate(run, callee, args, kwargs, spot, scope)
        case Instance():
            return call_object(run, callee, args, kwargs, spot, scope)
        case Method():
            return call_method(run, callee, args, kwargs, spot, scope)
        case Union(options=options):
            joined: Value | None = None
            for option in namespaces.meant(options, args, kwargs):
                joined = run.join(joined, apply(run, option, args, kwargs, spot, scope))
            return joined if joined is not None else UNKNOWN
        case Partial():
            given = {**callee.kwargs, **kwargs}
            return apply(run, callee.callee, [*callee.args, *args], given, spot, scope)
        case External(name=name):
            head, _, rest = name.partition(".")
            if head == "builtins":
                return builtins.builtin(run, rest, args, kwargs, spot, scope)
            return libraries.call_external(run, name, args, kwargs, spot, scope)
        case Tensor():
            return call_parameter(run, callee, args, kwargs, spot, scope)
    called = getattr(spot.node, "func", None)
    if callee is UNKNOWN and isinstance(called, ast.Name):
        for value, _ in (*args, *kwargs.values()):
            if isinstance(value, Tensor) and value.node.find().is_tensor:
                run.record(Handed(Location(spot.path, called), value.node, scope))
    if callee is UNKNOWN:
        libraries.handed_together(run, args, kwargs, spot, scope)
        escapes.handed(run, args, kwargs, spot, scope)
    return callee if callee is NOTHING else UNKNOWN


def call_parameter(
    run: Interpreter,
    callee: Tensor,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call something that a caller passed: most likely a module or a loss."""
    if always_tensor(callee) and _is_held(spot.node, scope):
        return NOTHING  # no tensor can be called: another path comes here
    callee.doubt = Doubt.OTHER  # a tensor is not called
    for value, where in (*args, *kwargs.values()):
        libraries.undecided(run, value, where, callee.node, scope)
        if isinstance(value, Tensor):
            run.graph.meet(
                callee.node,
                Location(spot.path, spot.node),
                value.node,
                where,
                spot,
                run.function(),
                "called",
            )
    made = run.derived(callee, spot)
    called = spot.node.func if isinstance(spot.node, ast.Call) else None
    if isinstance(called, ast.Attribute) and not torchfacts.computes(called.attr):
        return made.doubted(Doubt.OTHER)  # a method of something unknown may give an array
    return made


def _is_held(call: ast.AST, scope: Scope) -> bool:
    """Tell whether what is called is an attribute of an object of the project's."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            held = scope.names.get(name)
            return isinstance(held, Instance) and held.cls is not None
    return False


def call_object(
    run: Interpreter,
    callee: Instance,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call an instance: a module's `forward`, or `__call__`."""
    if callee.family == "module":
        args = module_methods.hooked(run, callee, args, spot, scope)
        if nn.computes(callee, args, kwargs):
            for whole in callee.wholes():
                whole.used = True  # using a part is using the whole
            if run.process is not None:
                run.forks.append(run.process)
        if callee.cls is not None:
            forward = callee.cls.lookup("forward") or callee.cls.lookup("__call__")
            if isinstance(forward, Func):
                for value, where in args if callee.stateful and callee.node else ():
                    assert callee.node is not None
                    libraries.undecided(run, value, where, callee.node, scope)
                return functions.call_func(
                    run, Func(forward.node, forward.scope, callee, forward.cls), args, kwargs, spot
                )
        made = nn.call_module(run, callee, args, kwargs, spot, scope)
        called = spot.node.func if isinstance(spot.node, ast.Call) else None
        if isinstance(called, ast.Attribute) and iteration.is_any_module(callee):
            return nn.given_by(callee, called.attr, args, kwargs, made)
        return made
    if callee.cls is not None:
        method = callee.cls.lookup("__call__")
        if isinstance(method, Func):
            return functions.call_func(
                run, Func(method.node, method.scope, callee, method.cls), args, kwargs, spot
            )
    return libraries.call_library_object(run, callee, args, kwargs, spot, scope)


def method(
    run: Interpreter, owner: Instance, name: str, scope: Scope, where: ast.AST, *args: Value
) -> Value:
    """Call a method of an instance with these values."""
    found = owner.cls.lookup(name) if owner.cls is not None else None
    if not isinstance(found, Func):
        return UNKNOWN
    spot = Location(scope.path, where)
    return functions.call_func(
        run, Func(found.node, found.scope, owner, found.cls), [(a, spot) for a in args], {}, spot
    )


def call_method(
    run: Interpreter,
    callee: Method,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method of a tensor, a module, a container or a library's object."""
    receiver, name = callee.receiver, callee.name
    match receiver:
        case Tensor():
            return tensor_methods.tensor_method(
                run, receiver, name, args, kwargs, callee.spot, spot, scope
            )
        case Instance(family="owned", cls=None) if name in frameworks.GIVES and args:
            return frameworks.GIVES[name](run, Call(args, kwargs, spot, scope))
        case Instance(family="module") | Instance(family="owned"):
            return module_methods.module_method(run, receiver, name, args, kwargs, spot, scope)
        case Instance():
            own = classes.tuple_method(run, receiver, name, kwargs)
            if own is not None:
                return own
            held = classes.contents(receiver)
            if held is not None:
                inner = Method(held, name, callee.spot)
                return call_method(run, inner, args, kwargs, spot, scope)
            return libraries.library_method(run, receiver, name, args, kwargs, spot, scope)
        case Super(obj=obj):
            return _method_of_super(run, obj, name, args, kwargs, spot, scope)
        case Class():
            return instances.class_method(run, receiver, name, args, kwargs, spot, scope)
        case Seq():
            return builtin_types.sequence_method(run, receiver, name, args, spot, scope)
        case Namespace() if name == "get" and args:
            return classes.got(run, [(receiver, callee.spot), *args], spot, scope)
        case Dict():
            return builtin_types.dict_method(run, receiver, name, args, kwargs, spot, scope)
        case Iter():
            return _method_of_iterator(run, receiver, name, args, spot, scope)
        case Const(value=text) if isinstance(text, str):
            return _method_of_text(run, text, name, args, spot, scope)
        case Device():
            return Const(None) if name == "__enter__" else SCALAR
    return ARRAY if receiver is ARRAY else UNKNOWN


def _method_of_super(
    run: Interpreter,
    obj: Value,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Value:
    """Call a method that an instance has from a library, or from Python itself."""
    if isinstance(obj, Instance) and obj.family == "module":
        if name == "__init__":
            nn.module_arguments(run, obj, args, kwargs)
            return NONE
        if name == "forward":
            return nn.call_module(run, obj, args, kwargs, spot, scope)
        return module_methods.module_method(run, obj, name, args, kwargs, spot, scope)
    if name == "__new__" and args and isinstance(args[0][0], Class):
        made = instances.new_object(run, args[0][0], spot, scope)
        if made.cls is not None and made.cls.lookup("__init__") is None:
            classes.fill(run, made, args[1:], kwargs, spot, scope)
        return made
    if not isinstance(obj, Instance):
        return NONE
    held = classes.contents(obj)
    if held is not None:
        return classes.inherited(run, obj, held, name, args, kwargs, spot, scope)
    if obj.family == "optimizer":
        return libraries.library_method(run, obj, name, args, kwargs, spot, scope)
    if name == "__init__":
        for key, (value, _) in kwargs.items():
            obj.attrs.setdefault(key, value)
    return NONE


def _method_of_iterator(
    run: Interpreter, owner: Iter, name: str, args: list[Arg], spot: Location, scope: Scope
) -> Value:
    if name == "next" and not args:
        run.record(OldName(spot, None, scope, "next"))
    if name in ("send", "asend") and args:
        return functions.sent(run, owner, args[0][0])
    return owner.element if name in ("__next__", "next") else UNKNOWN


def _method_of_text(
    run: Interpreter, text: str, name: str, args: list[Arg], spot: Location, scope: Scope
) -> Value:
    if name in ("split", "rsplit", "splitlines"):
        return Seq("list", None, SCALAR)
    if name == "format" and len(args) == 1 and devices.INDEXED.fullmatch(text):
        if isinstance(spot.node, ast.expr):
            return devices.indexed(run, spot.node, args[0][0], scope)
    return spelled.by_method(text, name, args, spot) or SCALAR


def _columns(run: Interpreter, row: Value) -> Seq | None:
    """Return what `zip(*rows)` yields for any number of rows like this one."""
    members = _members(run, row)
    return Seq("list", [Seq("tuple", None, m) for m in members]) if members else None


def _members(run: Interpreter, row: Value) -> list[Value]:
    """Return the members of a row; of one that may be either of several, each joined."""
    if isinstance(row, Seq):
        return row.items or []
    if isinstance(row, Instance) and not row.family:
        return list(row.attrs.values())  # a named tuple
    rows = [_members(run, option) for option in row.options] if isinstance(row, Union) else []
    if len({len(each) for each in rows}) != 1:
        return []
    return [reduce(run.join, column) for column in zip(*rows, strict=True)]


def _room(callee: Value, node: ast.Call) -> int:
    """Return how many parameters each starred argument of unknown length fills."""
    bound = isinstance(callee, Class) or isinstance(callee, Func) and callee.bound is not None
    free = 1
    if isinstance(callee, Class):
        made = callee.lookup("__init__")
        free += sum(field.positional for field in classes.fields(callee)) if made is None else 0
        callee = made if made is not None else callee
    if isinstance(callee, Func):
        spec = callee.node.args
        if spec.vararg is not None:
            return 1
        free = len(spec.posonlyargs) + len(spec.args)
    starred = sum(isinstance(arg, ast.Starred) for arg in node.args)
    return max(1, (free - bound - (len(node.args) - starred) - len(node.keywords)) // starred)


def _is_at_work(run: Interpreter, module: Instance, since: int) -> bool:
    """Tell whether a module computes already, or something optimizes it since then."""
    return module.used or any(
        isinstance(site, Optimizes) and module in site.modules for site in run.sites[since:]
    )


def _computed(node: PlaceVar) -> bool:
    """Tell whether something was computed with a value, under a name that it may go by, too.

    What meets what is in the same place is a module's own: a part takes another one's parameters.
    """
    root = node.find()
    return any(
        meet.left.find() is not root or meet.right.find() is not root
        for each in (root, *root.flows_to)
        for meet in each.find().meets
    )
