"""Python's own library: containers, copies, iterators, random choices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from samedevice.inference import calls, classes, moving, namespaces
from samedevice.inference.events import Copied
from samedevice.inference.models import Call, model
from samedevice.inference.objects import Class, Func, Instance, Partial
from samedevice.inference.values import SCALAR, UNKNOWN, Arg, Const, Dict, Iter, Seq, Value

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@model("copy.deepcopy", "copy.copy")
def copied(run: Interpreter, call: Call) -> Value:
    """A copy lives where its original does when it is made."""
    if not call.args:
        return UNKNOWN
    value = call.args[0][0]
    if isinstance(value, Instance) and value.family == "module" and value.node is not None:
        made = moving.twin(value, run.graph.node(call.spot))
        made.copied_from = value
        value.copies.append(made)
        made.site = run.record(
            Copied(
                call.spot,
                made.node,
                call.scope,
                value.name,
                made=made,
                original=value,
                moves=len(value.moves),
                source=call.args[0][1],
            )  # fmt: skip
        )
        run.snapshot(made.site, call.scope)
        assert made.node is not None
        run.graph.flow(value.node, made.node)
        run.graph.flow(made.node, value.node)
        made.moves = list(value.moves)
        return made
    return value


@model("importlib.import_module")
def imported(run: Interpreter, call: Call) -> Value:
    """The module that a text names, if it is known."""
    given = call.args[0][0] if len(call.args) == 1 else None
    if isinstance(given, Const) and isinstance(given.value, str) and type(given) is Const:
        return namespaces.imported(run, given.value, call.scope)
    return UNKNOWN


@model("typing.cast", "typing_extensions.cast")
def cast_to(run: Interpreter, call: Call) -> Value:
    """What a value is called for a type checker: the value itself."""
    given = call.args[1:2] or [call.kwargs.get("val", (UNKNOWN, call.spot))]
    return given[0][0]


@model("typing.assert_type", "typing_extensions.assert_type")
@model("typing.reveal_type", "typing_extensions.reveal_type")
def told_of_its_type(run: Interpreter, call: Call) -> Value:
    """A value that is handed through."""
    return call.args[0][0] if call.args else UNKNOWN


@model("functools.partial")
def partial(run: Interpreter, call: Call) -> Value:
    """Partial application: the arguments come first in each call."""
    if not call.args or not (len(call.args) > 1 or call.kwargs):
        return call.args[0][0] if call.args else UNKNOWN
    return Partial(call.args[0][0], call.args[1:], call.kwargs)


@model("itertools.chain")
def chained(run: Interpreter, call: Call) -> Value:
    """The members of several iterables, one after the other."""
    element: Value | None = None
    for value, where in call.args:
        element = run.join(element, run.iterate(value, where, call.scope))
    return Iter(element if element is not None else UNKNOWN)


@model("itertools.starmap")
def starmap(run: Interpreter, call: Call) -> Value:
    """What a function gives that gets the members of each member."""
    if len(call.args) < 2:
        return UNKNOWN
    function, (source, where) = call.args[0][0], call.args[1]
    member = run.iterate(source, where, call.scope)
    items = member.items if isinstance(member, Seq) else None
    given: list[Arg] = [(UNKNOWN, where)] if items is None else [(each, where) for each in items]
    return Iter(calls.apply(run, function, given, {}, call.spot, call.scope))


@model("collections.deque")
def deque(run: Interpreter, call: Call) -> Value:
    """A deque is judged as a list."""
    element = run.iterate(call.args[0][0], call.args[0][1], call.scope) if call.args else None
    return Seq("list", None, element) if element is not None else Seq("list", [], spot=call.spot)


@model("collections.OrderedDict")
def ordered(run: Interpreter, call: Call) -> Value:
    """An ordered dictionary is judged as a dictionary."""
    made = Dict({k: v for k, (v, _) in call.kwargs.items()}, spot=call.spot)
    if call.args and isinstance(call.args[0][0], Seq):
        for member in call.args[0][0].members():
            if isinstance(member, Seq) and member.items and len(member.items) == 2:
                key = member.items[0]
                if isinstance(key, Const):
                    made.items[key.value] = member.items[1]
                else:
                    made.element = member.items[1]
    elif call.args and isinstance(call.args[0][0], Dict):
        made.items.update(call.args[0][0].items)
        made.element = call.args[0][0].element
    return made


@model("collections.defaultdict")
def with_default(run: Interpreter, call: Call) -> Value:
    """A dictionary with a default: its members are what the factory makes.

    One that is made while a module is built makes them when the module is where it is then.
    """
    made = Dict(spot=call.spot)
    if call.args:
        factory = made.factory = call.args[0][0]
        made.late = call.scope.building and isinstance(factory, Func)
        if not made.late:
            made.element = calls.apply(run, factory, [], {}, call.spot, call.scope)
    return made


@model("random.randrange", "random.randint", "random.random", "random.uniform")
def number(run: Interpreter, call: Call) -> Value:
    """A number."""
    return SCALAR


@model("random.sample")
def sample(run: Interpreter, call: Call) -> Value:
    """Some members of a sequence (a replay buffer, say)."""
    return (
        Seq("list", None, run.iterate(call.args[0][0], call.args[0][1], call.scope))
        if call.args
        else UNKNOWN
    )


@model("random.choice")
def choice(run: Interpreter, call: Call) -> Value:
    """A member of a sequence."""
    return run.iterate(call.args[0][0], call.args[0][1], call.scope) if call.args else UNKNOWN


@model("collections.namedtuple")
def named_tuple(run: Interpreter, call: Call) -> Value:
    """A named tuple's class, as far as its fields are written out."""
    fields: list[str] = []
    if len(call.args) > 1:
        given = call.args[1][0]
        if isinstance(given, Const) and isinstance(given.value, str):
            fields = given.value.replace(",", " ").split()
        elif isinstance(given, Seq):
            fields = [str(m.value) for m in given.members() if isinstance(m, Const)]
    body: list[Any] = [
        ast.AnnAssign(ast.Name(field, ast.Store()), ast.Name("object", ast.Load()), None, 1)
        for field in fields
    ]
    node = ast.ClassDef("namedtuple", [], [], body, [])
    made = Class(node, call.scope, [])
    made.kind = classes.TUPLE
    defaults = call.kwargs.get("defaults")
    if defaults is not None and isinstance(defaults[0], Seq) and defaults[0].items is not None:
        for name, value in zip(reversed(fields), reversed(defaults[0].items), strict=False):
            made.names[name] = value
    return made


@model("typing.NamedTuple")
def typed_tuple(run: Interpreter, call: Call) -> Value:
    """A named tuple's class, of pairs of names and types."""
    given = call.args[1][0] if len(call.args) > 1 else None
    names = [
        pair.items[0]
        for pair in (given.items or [] if isinstance(given, Seq) else [])
        if isinstance(pair, Seq) and pair.items
    ]
    first = call.args[0] if call.args else (UNKNOWN, call.spot)
    args = [first, (Seq("list", list(names)), call.spot)]
    return named_tuple(run, Call(args, {}, call.spot, call.scope))


@model("dataclasses.field", "attr.ib", "attr.field", "attrs.field")
def field(run: Interpreter, call: Call) -> Value:
    """A field of a dataclass: what it is by default, and whether its constructor takes it."""
    made = Instance(classes.FIELD)
    made.kwargs = {name: value for name, (value, _) in call.kwargs.items()}
    return made


@model("attr.Factory", "attrs.Factory")
def factory(run: Interpreter, call: Call) -> Value:
    """What makes the default of a field, anew for each instance."""
    made = Instance(classes.FIELD)
    made.kwargs = {"factory": call.args[0][0]} if call.args else {}
    return made


@model("dataclasses.replace", "attr.evolve", "attrs.evolve", "copy.replace")
def replaced(run: Interpreter, call: Call) -> Value:
    """A copy of an instance with some of its fields replaced."""
    owner = call.args[0][0] if call.args else UNKNOWN
    if not isinstance(owner, Instance) or owner.cls is None or owner.node is not None:
        return UNKNOWN
    return classes.replaced(run, owner, call.kwargs, call.spot)
