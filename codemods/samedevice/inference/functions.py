"""Calls of the project's functions: evaluated, or by a template of an earlier evaluation."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from samedevice.inference import (
    branches,
    command_lines,
    instances,
    movers,
    moving,
    sizes,
    unit_tests,
    worth,
)
from samedevice.inference.contents import places
from samedevice.inference.environment import Exits, State
from samedevice.inference.events import DefaultMade
from samedevice.inference.nesting import nested
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.open_events import NotFollowed
from samedevice.inference.sites import HandedIn, LeftOut
from samedevice.inference.summaries import (
    Given,
    Record,
    Records,
    again,
    as_of_now,
    beforehand,
    carries_more,
    kin,
    loses,
    moves,
    placeholder,
    shape,
    stores,
)
from samedevice.inference.values import (
    ARRAY,
    NONE,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Device,
    Dict,
    FunctionNode,
    Iter,
    Seq,
    Tensor,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Statements that are evaluated for each call anew, however often a function is called: most
#: programs have no more.
_FREE = 14_000
#: Beyond: evaluations of one function before a template stands for the others, and for short ones
#: the statements that may be evaluated.
_CONTEXTS = 12
_STATEMENTS = 200
#: Methods that are always evaluated, since others may depend on what they do.
ALWAYS = ("__init__", "backward")
#: Shapes of arguments that one function has templates for; what it gives for others is unknown.
_VARIANTS = 16


def call_func(
    run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Location
) -> Value:
    """Evaluate a function of the project with these arguments."""
    node = func.node
    moved = movers.call(run, func, args, kwargs, spot)
    if moved is not None:
        return moved
    if not _binds(func, args, kwargs, spot):
        return UNKNOWN  # it raises a TypeError: nothing comes into the function
    if isinstance(func.bound, Instance) and not run.in_constructor:
        func.bound.used |= not worth.only_counts(node)
    if run.stack.count(node) >= 2:
        return nearest(run, func, args, kwargs)
    known = run.results.setdefault(_code(func), Records())
    size = _size(run, node)
    if run.statements >= _FREE:
        run.evaluations += 1
        many = known.late >= max(_CONTEXTS, _STATEMENTS // size) or run.is_spent()
        many = many or run.focus is not None and run.is_beside(func)  # others called it before
        if known and many:
            first = len(run.tests.called)
            result = by_template(run, func, args, kwargs, spot)
            unit_tests.note(run, args, kwargs, result, first)
            return result
        known.late += 1
    run.statements += size
    run.contexts[node] = run.contexts.get(node, 0) + 1
    first = len(run.tests.called)
    note_arguments(run, node, args, kwargs)
    with unit_tests.function(run, func) if unit_tests.is_called(run, func) else nullcontext():
        record = nested(run, lambda: evaluate(run, func, args, kwargs, spot))
    known.add(record)
    unit_tests.note(run, args, kwargs, record.result, first)
    return record.result


def _binds(func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Location) -> bool:
    """Tell whether a call may give a function all that it requires, as far as the call shows."""
    call, spec = spot.node, func.node.args
    filled = len(args) + (func.bound is not None)
    if not spec.kwonlyargs:
        if len(spec.posonlyargs) + len(spec.args) - len(spec.defaults) <= filled:
            return True  # by position: most calls
    decorated = not isinstance(func.node, ast.Lambda) and func.node.decorator_list
    if not isinstance(call, ast.Call) or decorated:
        return True
    spread = any(isinstance(each, ast.Starred) for each in call.args)
    if spread or {each.arg for each in call.keywords} != kwargs.keys():
        return True
    if [where.node for _, where in args] != call.args:
        return True  # somebody else hands them on
    named = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    required = set(named[: len(named) - len(spec.defaults)])
    alone = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    required |= {each.arg for each, default in alone if default is None}
    return required <= {*named[:filled], *kwargs}


def note_arguments(
    run: Interpreter, node: FunctionNode, args: list[Arg], kwargs: dict[str, Arg]
) -> None:
    """Remember what this call passed."""
    run.reached.setdefault(node, set()).add(run.unit)
    if run.tests.running is not None:
        run.tests.called.append(node)
    handed: list[tuple[int | str, Arg]] = [*enumerate(args), *kwargs.items()]
    for name, (value, where) in handed:
        if isinstance(value, Tensor):
            given = HandedIn(value.node, where, run.function(), name)
            run.arguments.setdefault(node, []).append(given)


def evaluate(
    run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Location
) -> Record:
    """Evaluate the body of a function."""
    node = func.node
    run.evaluated.add(node)
    scope = Scope(func.scope.path, node, func.scope, func.scope.globals)
    scope.func = func
    scope.call = spot
    scope.building = run.in_constructor > 0
    scope.self_value = func.bound if func.bound is not None else func.scope.self_value
    run.scopes[node] = scope
    run.all_scopes.setdefault(node, []).append(scope)
    run.bind_arguments(func, args, kwargs, scope)
    modules = {
        name: value.node
        for name, value in scope.names.items()
        if isinstance(value, Instance) and value.family == "module" and value.node is not None
    }
    if modules:
        run.modules_given[scope] = modules
    given = _given(func, args, kwargs)
    before = beforehand(given)
    nodes, meets = len(run.graph.nodes), len(run.graph.meetings)
    in_worker = _is_host_code(func)
    run.in_worker += in_worker
    owner = func.bound if isinstance(func.bound, Instance) else None
    only_there = node in run.made_under_test or owner is not None and owner.guarded
    run.guarded += only_there
    run.stack.append(node)
    in_constructor = run.in_constructor
    if func.cls is not None and func.cls.family == "module" and instances.name(node) != "__init__":
        # A method that runs while the module is built still builds it; a call of another
        # module's forward does not.
        if instances.name(node) == "forward":
            run.in_constructor = 0
    if isinstance(node, ast.Lambda):
        result = run.eval(node.body, scope)
    else:
        results, yields = body(run, node.body, scope)
        result = NONE
        if yields:
            element: Value | None = None
            for value in yields:
                element = run.join(element, value)
            result = Iter(element if element is not None else UNKNOWN)
            result.result = reduce(run.join, results) if results else NONE
            result.call = node, lambda: call_func(run, func, args, kwargs, spot)
            result.inside = scope.entered
        elif results:
            joined: Value | None = None
            for value in results:
                joined = run.join(joined, value)
            result = branches.as_test(run, node, results, joined) if joined is not None else NONE
    run.in_constructor = in_constructor
    run.stack.pop()
    run.guarded -= only_there
    run.in_worker -= in_worker
    return Record(
        before, result, (nodes, len(run.graph.nodes)), (meets, len(run.graph.meetings)),
        moved=moves(before, given),
    )  # fmt: skip


def body(run: Interpreter, body: list[ast.stmt], scope: Scope) -> tuple[list[Value], list[Value]]:
    """Evaluate a function's body; return what it returns and what it yields."""
    run.returns.append([])
    run.yields.append([])
    run.exits.append(Exits(run.trail.mark(), run.trail.forks))
    loops, run.loops = run.loops, []
    caught, run.caught = run.caught, []
    ended = run.block(body, scope)
    run.loops, run.caught = loops, caught
    exits = run.exits.pop()
    if exits.states:
        if not ended:
            exits.states.append(State(scope.names, {}))
        run.trail.merge(exits.states)
    return run.returns.pop(), run.yields.pop()


def sent(run: Interpreter, generator: Iter, value: Value) -> Value:
    """Return what `generator.send(value)` gives: the body is evaluated with what it receives.

    What was sent before may be received as well.
    """
    if generator.call is None or generator.call[0] in run.sending:
        return generator.element
    node, again = generator.call
    generator.received = run.sending[node] = run.join(generator.received, value)
    found = again()
    del run.sending[node]
    return found.element if isinstance(found, Iter) else generator.element


def _is_host_code(func: Func) -> bool:
    if func.cls is None or func.cls.family != "dataset":
        return False
    return instances.name(func.node) in ("__getitem__", "__iter__", "__getitems__")


def nearest(run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg]) -> Value:
    """Return the result of a function that is still being evaluated, from its results so far."""
    known = run.results.get(_code(func))
    if not known:
        return UNKNOWN
    given = _given(func, args, kwargs)
    shapes = {name: shape(value) for name, value in given.items()}
    return again(run, known.nearest(shapes, latest=True), given)[0]


def by_template(
    run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg], spot: Location
) -> Value:
    """Return what a function gives for these arguments, by one evaluation for their shape."""
    note_arguments(run, func.node, args, kwargs)
    given = _given(func, args, kwargs)
    record = _template(run, func, args, kwargs, spot, given)
    if record is None:
        not_followed(run, given, spot)
        return UNKNOWN
    lossy = record.loses or any(map(carries_more, given.values()))
    result = record.result
    repeated, is_whole = again(run, record, given)
    if lossy or not is_whole:
        not_followed(run, given, spot)
    if repeated is result and isinstance(result, Instance) and result.family == "module":
        known = (value for value in record.given.values() if isinstance(value, Instance))
        if all(result.attrs is not before.attrs for before in known):
            return moving.twin(result, run.graph.node(spot))
    return repeated


def not_followed(run: Interpreter, given: Given, spot: Location) -> None:
    """Note a call that another evaluation stands for, and that does more than is repeated."""
    seen: dict[int, int] = {}
    nodes = tuple(dict.fromkeys(node for each in given.values() for node in places(each, seen)))
    caller = run.function()
    scope = run.files.get(spot.path) if caller is None else run.scopes.get(caller)  # type: ignore[call-overload]
    if nodes and scope is not None:
        run.record(NotFollowed(spot, nodes[0], scope, nodes=nodes))


def _template(
    run: Interpreter,
    func: Func,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    given: Given,
) -> Record | None:
    """Return an evaluation with arguments that are nowhere; what it writes is taken back.

    None where there are enough of them, and none is like it: the way that an evaluation with other
    constants, devices or members went is not the way of this one.
    """
    variants = run.templates.setdefault(_code(func), {})
    known = run.results.get(_code(func))
    shapes = {name: shape(value) for name, value in given.items()}
    key = tuple(shapes.items())
    if key in variants:
        return variants[key]
    if known and (len(variants) >= _VARIANTS or run.is_spent()):
        record = known.nearest(shapes)
        return replace(record, loses=True) if kin(record.shapes) == kin(shapes) else None
    free = [(placeholder(run, value, where), where) for value, where in args]
    named = {k: (placeholder(run, v, where), where) for k, (v, where) in kwargs.items()}
    if isinstance(func.bound, Instance):
        bound = placeholder(run, func.bound, spot)
        func = Func(func.node, func.scope, bound, func.cls, func.static)
    scopes, sites, mark = (run.scopes, run.all_scopes), len(run.sites), run.trail.mark()
    run.scopes, run.all_scopes = dict(run.scopes), {}
    run.trail.forks += 1
    record = nested(run, lambda: evaluate(run, func, free, named, spot))
    written, result = run.trail.written(mark), as_of_now(record.result)
    set_by_it = stores(written, record.given)
    lost = loses(written, record.given, record.result)
    run.trail.undo(mark)
    run.trail.close()
    run.scopes, run.all_scopes = scopes
    record = replace(
        record, result=result, sites=tuple(run.sites[sites:]), stores=set_by_it, loses=lost
    )
    del run.sites[sites:]
    variants[key] = record
    return record


def bind_arguments(
    run: Interpreter, func: Func, args: list[Arg], kwargs: dict[str, Arg], scope: Scope
) -> None:
    """Bind a call's arguments to the function's parameters."""
    spec = func.node.args
    names, defaults = _signature(run, func.node)
    values = [value for value, _ in args]
    if func.bound is not None:
        values.insert(0, func.bound)
    left = dict(kwargs)
    spread = left.pop("**", None)  # of a mapping whose keys are not known
    if spread is not None:
        bound = func.bound is not None
        for name in names[len(values) :] if not bound else names[max(len(values), 1) :]:
            left.setdefault(name, spread)
    for index, name in enumerate(names):
        if index < len(values):
            scope.names[name] = values[index]
        elif name in left:
            scope.names[name] = left.pop(name)[0]
        else:
            scope.names[name] = default_value(run, name, defaults[index], func, scope)
    if spec.vararg is not None:
        scope.names[spec.vararg.arg] = Seq("tuple", values[len(names) :])
    for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if argument.arg in left:
            scope.names[argument.arg] = left.pop(argument.arg)[0]
        else:
            scope.names[argument.arg] = default_value(run, argument.arg, default, func, scope)
    if spec.kwarg is not None:
        scope.names[spec.kwarg.arg] = Dict({k: v for k, (v, _) in left.items()})
    scope.given_none = frozenset(
        name for name, value in scope.names.items() if type(value) is Const and value.value is None
    )


def _signature(run: Interpreter, node: FunctionNode) -> tuple[list[str], list[ast.expr | None]]:
    """Return the names of a function's positional parameters, and their defaults."""
    known = run.signatures.get(node)
    if known is None:
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        without = len(names) - len(node.args.defaults)
        known = run.signatures[node] = names, [None] * without + [*node.args.defaults]
    return known


def default_value(
    run: Interpreter, name: str, default: ast.expr | None, func: Func, scope: Scope
) -> Value:
    """Return a parameter's default, and note a device that was chosen at import."""
    if default is None:  # a decorator gives it
        spec = func.node.args
        given = (each for each in (*spec.posonlyargs, *spec.args) if each.arg == name)
        argument = next(given, None)
        return command_lines.given(run, func, argument) or UNKNOWN
    said = command_lines.of_typer(run, default, func.scope)
    if said is not None:
        return said
    value = run.eval(default, func.scope)
    if isinstance(value, Device) and not isinstance(default, (ast.Name, ast.Attribute)):
        spot = Location(func.scope.path, default)
        run.record(DefaultMade(spot, value.node, scope, name, call=scope.call))
    if isinstance(value, Const) and (value.value is None or isinstance(value.value, str)):
        if scope.call is not None and isinstance(scope.call.node, ast.Call):
            run.left_out[value] = LeftOut(scope.call, name, run.symbolic > 0)
    return value


def call_symbolic(run: Interpreter, func: Func) -> Value:
    """Evaluate a function whose callers are not known."""
    spec = func.node.args
    arguments = [*spec.posonlyargs, *spec.args]
    positional = arguments[1:] if func.bound is not None else arguments
    _, defaults = _signature(run, func.node)
    if func.bound is not None:
        defaults = defaults[1:]
    path = func.scope.path
    # The gradients that an autograd function gets are tensors.
    sure = func.cls is not None and func.cls.family == "function"
    sure = sure and instances.name(func.node) == "backward"
    args = [
        (
            command_lines.given(run, func, argument, default)
            or parameter(run, func.node, argument, default, path, sure),
            Location(path, argument),
        )
        for argument, default in zip(positional, defaults, strict=True)
    ]
    kwargs = {
        argument.arg: (
            command_lines.given(run, func, argument, default)
            or parameter(run, func.node, argument, default, path, False),
            Location(path, argument),
        )
        for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    }
    with unit_tests.function(run, func):
        return call_func(run, func, args, kwargs, Location(path, func.node))


def parameter(
    run: Interpreter,
    function: ast.AST,
    argument: ast.arg,
    default: ast.expr | None,
    path: str,
    sure: bool,
) -> Value:
    """Return what stands for a parameter: a tensor, as far as its use shows it to be one."""
    note = syntax.dotted(argument.annotation) if argument.annotation is not None else ""
    last = note.rpartition(".")[2]
    if last in ("int", "float", "str", "bool", "bytes", "Path"):
        return SCALAR
    if last in ("ndarray", "Image", "DataFrame"):
        return ARRAY
    if isinstance(default, ast.Constant) and default.value is not None:
        if not isinstance(default.value, str) or not argument.arg.endswith("device"):
            return SCALAR
    if not note and argument.arg in sizes.used_as_sizes(function):
        return SCALAR
    spot = Location(path, argument)
    node = run.graph.node(spot)
    node.is_tensor = sure or last in ("Tensor", "FloatTensor", "LongTensor")
    run.graph.pin(node, Place.FOLLOWS, spot)
    if last == "device" or argument.arg == "device":
        node.is_tensor = True
        return Device(node, spot, resolved=True)
    if last == "Module":
        made = Instance("module", node=node)
        made.stateful = True
        return made
    return Tensor(node)


def _given(func: Func, args: list[Arg], kwargs: dict[str, Arg]) -> Given:
    """Return the values of a call by position and name, and what the function is bound to."""
    given: Given = {index: value for index, (value, _) in enumerate(args)}
    given.update((name, value) for name, (value, _) in kwargs.items())
    if func.bound is not None:
        given["self"] = func.bound
    return given


def _code(func: Func) -> object:
    """Return what an evaluation stands for: that of a closure, with what it closes over."""
    return func.node if func.scope.func is None else (func.node, func.scope)


def _size(run: Interpreter, node: FunctionNode) -> int:
    """Return how many statements a function has, whatever is written between and around them."""
    known = run.sizes.get(node)
    if known is None:
        simple = (each for each in syntax.walk(node) if isinstance(each, ast.stmt))
        known = sum(not hasattr(each, "body") and not isinstance(each, ast.Pass) for each in simple)
        known = run.sizes[node] = known + 1
    return known
