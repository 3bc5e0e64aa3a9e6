"""Functions of torch that call what they are given: torch.func, checkpoints, traces, trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samedevice.inference import assignment, calls, contents, moving, narrowing
from samedevice.inference.models import Call, methods, model
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import External, Instance
from samedevice.inference.values import (
    DEEP,
    SCALAR,
    UNKNOWN,
    Arg,
    Const,
    Dict,
    Iter,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


def _argument(call: Call, index: int, name: str) -> Arg | None:
    return call.args[index] if len(call.args) > index else call.kwargs.get(name)


def _spread(given: Arg | None) -> list[Arg]:
    """Return the arguments that a tuple, or one value, stands for."""
    if given is None:
        return []
    value, where = given
    if isinstance(value, Seq) and value.kind == "tuple" and value.items is not None:
        return [(member, where) for member in value.items]
    return [(value, where)]


def _names(*names: str) -> list[str]:
    """Return the names of functions of torch.func, also as the package was called before."""
    return [f"{package}.{name}" for package in ("torch.func", "functorch") for name in names]


@model(*_names("vmap"), "torch.vmap", "torch._functorch.apis.vmap")
def vmap(run: Interpreter, call: Call) -> Value:
    """The same function for each row: where its results are does not change."""
    given = _argument(call, 0, "func")
    return given[0] if given is not None else UNKNOWN


@model(*_names("grad"))
def gradient(run: Interpreter, call: Call) -> Value:
    """A function that gives gradients, which are where what is asked for is."""
    return _transformed("grad", call)


@model(*_names("grad_and_value"))
def gradient_and_value(run: Interpreter, call: Call) -> Value:
    """A function that gives gradients, and what the function gives."""
    return _transformed("grad_and_value", call)


@model(*_names("jacrev", "jacfwd", "hessian"))
def jacobian(run: Interpreter, call: Call) -> Value:
    """A function that gives derivatives, which are where the function's results are."""
    return _transformed("jacobian", call)


def _transformed(name: str, call: Call) -> Value:
    given = _argument(call, 0, "func")
    made = Instance("transformed", name)
    made.args = [given[0] if given is not None else UNKNOWN]
    numbers = _argument(call, 1, "argnums")
    made.kwargs = {"argnums": numbers[0]} if numbers is not None else {}
    return made


@methods("transformed")
def transformed_method(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Calling it calls the function once."""
    if name != "__call__":
        return UNKNOWN
    result = calls.apply(run, owner.args[0], call.args, call.kwargs, call.spot, call.scope)
    if owner.name == "jacobian":
        return result
    asked = _asked(owner, call)
    return Seq("tuple", [asked, result]) if owner.name == "grad_and_value" else asked


def _asked(owner: Instance, call: Call) -> Value:
    """Return something that is where the arguments are by which a function is derived."""
    numbers = owner.kwargs.get("argnums", Const(0))
    if isinstance(numbers, Seq) and numbers.items is not None:
        found = [_numbered(number, call) for number in numbers.items]
        return Seq("tuple", found)
    return _numbered(numbers, call)


def _numbered(number: Value, call: Call) -> Value:
    if not isinstance(number, Const) or not isinstance(number.value, int):
        return UNKNOWN
    if not -len(call.args) <= number.value < len(call.args):
        return UNKNOWN
    value = call.args[number.value][0]
    return Tensor(value.node) if isinstance(value, Tensor) else value


@model(*_names("vjp"))
def vjp(run: Interpreter, call: Call) -> Value:
    """What a function gives, and a function of what flows back."""
    if not call.args:
        return UNKNOWN
    result = calls.apply(run, call.args[0][0], call.args[1:], {}, call.spot, call.scope)
    back = Instance("pullback")
    back.args = [value for value, _ in call.args[1:]]
    back.kwargs = {"of": result}
    return Seq("tuple", [result, back])


@methods("pullback")
def pulled_back(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """A gradient for each argument, where that is; what flows back meets the result."""
    results = contents.tensors_in(owner.kwargs["of"], call.spot)
    flowing = [pair for value, where in call.args for pair in contents.tensors_in(value, where)]
    if name == "__call__" and results and flowing:
        run.operate([*results, *flowing], call.spot, False)
    found = [Tensor(value.node) if isinstance(value, Tensor) else value for value in owner.args]
    return Seq("tuple", list(found)) if name == "__call__" else UNKNOWN


@model(*_names("jvp"))
def jvp(run: Interpreter, call: Call) -> Value:
    """What a function gives, and how it changes along the tangents."""
    if not call.args:
        return UNKNOWN
    primals, tangents = _spread(_argument(call, 1, "primals")), _argument(call, 2, "tangents")
    for (primal, where), (tangent, other) in zip(primals, _spread(tangents), strict=False):
        if isinstance(primal, Tensor) and isinstance(tangent, Tensor):
            run.operate([(primal, where), (tangent, other)], call.spot, True)
    result = calls.apply(run, call.args[0][0], primals, {}, call.spot, call.scope)
    return Seq("tuple", [result, result])


@model(*_names("functional_call"), "torch.nn.utils.stateless.functional_call")
def functional_call(run: Interpreter, call: Call) -> Value:
    """Call a module as if its parameters were these: it is where they are then."""
    if len(call.args) < 2:
        return UNKNOWN
    given = _argument(call, 2, "args")
    kwargs = call.kwargs.get("kwargs")
    named: dict[str, Arg] = {}
    if kwargs is not None and isinstance(kwargs[0], Dict):
        named = {str(key): (value, kwargs[1]) for key, value in kwargs[0].items.items()}
    module = _with_state(run, call, call.args[0][0], [call.args[1]])
    return calls.apply(run, module, _spread(given), named, call.spot, call.scope)


def _with_state(run: Interpreter, call: Call, module: Value, state: list[Arg]) -> Value:
    """Return a module as it is with other parameters: it is where these are."""
    if not isinstance(module, Instance) or module.node is None:
        return module
    node = _state(run, call, state)
    if node is None or node.find() is module.node.find():
        return module
    module.used = True
    return moving.twin(module, node)


def _state(run: Interpreter, call: Call, state: list[Arg]) -> PlaceVar | None:
    """Return where the parameters are that a functional call is given; they agree."""
    given = [pair for each in state for pair in contents.tensors_in(*each)]
    found = [pair for pair in given if not pair[0].opaque]
    if not found:
        return None
    (first, first_spot), *others = found
    for other, spot in others:
        run.graph.meet(first.node, first_spot, other.node, spot, call.spot, run.function())
    return first.node


@model("functorch.make_functional")
def made_functional(run: Interpreter, call: Call) -> Value:
    """What computes as a module does with other parameters, and its parameters."""
    return _made_functional(call, 1)


@model("functorch.make_functional_with_buffers")
def made_functional_with_buffers(run: Interpreter, call: Call) -> Value:
    """What computes as a module does with others, its parameters, and its buffers."""
    return _made_functional(call, 2)


def _made_functional(call: Call, states: int) -> Value:
    module = call.args[0][0] if call.args else UNKNOWN
    if not isinstance(module, Instance) or module.node is None:
        return UNKNOWN
    module.used = True
    made = Instance("functional")
    made.args = [module, Const(states)]
    found: list[Value] = [made]
    for _ in range(states):
        held = Tensor(module.node)
        held.leaf = len(found) == 1  # the buffers are no leaves
        found.append(Seq("tuple", element=held))
    return Seq("tuple", found)


@methods("functional")
def computed_functionally(run: Interpreter, owner: Instance, name: str, call: Call) -> Value:
    """Calling it calls the module: `f(parameters, x)`, `f(parameters, buffers, x)`."""
    module, states = owner.args
    if name != "__call__" or not isinstance(states, Const):
        return UNKNOWN
    known = _with_state(run, call, module, call.args[: states.value])
    given = call.args[states.value :]
    return calls.apply(run, known, given, call.kwargs, call.spot, call.scope)


@model(*_names("stack_module_state"))
def stacked_state(run: Interpreter, call: Call) -> Value:
    """The parameters and the buffers of several modules: where these are, as leaves."""
    if not call.args:
        return UNKNOWN
    module = run.iterate(*call.args[0], call.scope)
    if not isinstance(module, Instance) or module.node is None:
        return UNKNOWN
    module.used = True
    leaf = Tensor(module.node)
    leaf.leaf = True
    return Seq("tuple", [Dict(element=leaf), Dict(element=Tensor(module.node))])


@model("torch.utils.checkpoint.checkpoint")
def checkpoint(run: Interpreter, call: Call) -> Value:
    """Call a function; it is called again in the backward pass."""
    if not call.args:
        return UNKNOWN
    own = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug")
    kwargs = {name: given for name, given in call.kwargs.items() if name not in own}
    return calls.apply(run, call.args[0][0], call.args[1:], kwargs, call.spot, call.scope)


@model("torch.jit.trace")
def trace(run: Interpreter, call: Call) -> Value:
    """Call a module or function with an example; the result is called as the original is."""
    if not call.args:
        return UNKNOWN
    given = _argument(call, 1, "example_inputs")
    if given is not None:
        calls.apply(run, call.args[0][0], _spread(given), {}, call.spot, call.scope)
    return call.args[0][0]


@model("torch.optim.lr_scheduler.LambdaLR", "torch.optim.lr_scheduler.MultiplicativeLR")
def by_function(run: Interpreter, call: Call) -> Value:
    """A scheduler that calls a function, or one for each group, with the epoch's number."""
    given = _argument(call, 1, "lr_lambda")
    if given is not None:
        value, where = given
        functions = value.members() if isinstance(value, Seq) else [value]
        for function in list(functions):
            calls.apply(run, function, [(SCALAR, where)], {}, call.spot, call.scope)
    made = Instance("scheduler", "torch.optim.lr_scheduler.LambdaLR")
    made.args = [value for value, _ in call.args]
    return made


@model("torch.nn.utils.parametrize.register_parametrization")
def parametrized(run: Interpreter, call: Call) -> Value:
    """A module that computes a parameter of another one, and becomes a part of it."""
    if len(call.args) < 3:
        return UNKNOWN
    owner, part = call.args[0][0], call.args[2][0]
    if isinstance(owner, Instance) and owner.node is not None:
        calls.apply(run, part, [(Tensor(owner.node), call.args[0][1])], {}, call.spot, call.scope)
        if isinstance(part, Instance) and part.family == "module":
            assignment.join_in(run, owner, part)
    return owner


_TREES = ("torch.utils._pytree", "torch.utils.pytree", "optree")


@model(*(f"{tree}.tree_map" for tree in _TREES))
def tree_map(run: Interpreter, call: Call) -> Value:
    """A function of each leaf of a structure; the same structure of what it gives."""
    if len(call.args) < 2:
        return UNKNOWN
    return _mapped(run, call, call.args[0][0], *call.args[1])


@model("torch.utils._pytree.tree_map_only")
def tree_map_only(run: Interpreter, call: Call) -> Value:
    """A function of each leaf of one kind; the others stay what they are."""
    if len(call.args) < 3:
        return UNKNOWN
    kind = call.args[0][0]
    if not (isinstance(kind, External) and kind.name in narrowing.TENSORS):
        return UNKNOWN
    return _mapped(run, call, call.args[1][0], *call.args[2], tensors=True)


def _mapped(
    run: Interpreter, call: Call, function: Value, value: Value, where: Location, depth: int = DEEP,
    tensors: bool = False,
) -> Value:  # fmt: skip
    def inner(member: Value) -> Value:
        return _mapped(run, call, function, member, where, depth - 1, tensors)

    if not depth:
        return UNKNOWN
    match value:
        case Seq():
            items = [inner(member) for member in value.items] if value.items is not None else None
            return Seq(value.kind, items, inner(value.element) if value.element else None)
        case Dict():
            made = Dict({key: inner(member) for key, member in value.items.items()})
            made.element = inner(value.element) if value.element is not None else None
            return made
        case Iter():
            return Iter(inner(value.element))
    if tensors and not isinstance(value, Tensor):
        return value
    return calls.apply(run, function, [(value, call.spot)], {}, call.spot, call.scope)
