"""What decides between values: `and`, `or`, `not`, `a if b else c`, and what a test gives."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samedevice.inference import narrowing, operators, settled
from samedevice.inference.dispatch import evaluates
from samedevice.inference.events import ArmTaken, DeviceChosen, DeviceOf
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Class, External, Func, Instance, Scope, Union
from samedevice.inference.values import (
    ARRAY,
    DEVICE,
    HOW_MANY,
    NONE,
    SCALAR,
    UNKNOWN,
    ChosenIndex,
    CliOption,
    Const,
    Device,
    DeviceTest,
    Dict,
    Scalar,
    Tensor,
    Value,
)
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: Functions, not types: `torch.cuda.synchronize`.
_OF_CUDA = re.compile(r"torch\.cuda\.[a-z_]+")


@evaluates(ast.BoolOp)
def _boolean_operation(run: Interpreter, node: ast.BoolOp, scope: Scope) -> Value:
    match node:
        case (
            ast.BoolOp(op=ast.Or(), values=[ast.BoolOp(op=ast.And(), values=[test, moved]), _])
            | ast.BoolOp(op=ast.And(), values=[test, moved])
        ):
            chosen = _and_or(run, node, test, moved, scope) or _named_and_or(run, node, scope)
            if chosen is not None:
                return chosen
    values = [run.eval(part, scope) for part in node.values]
    flags = [v for v in values if isinstance(v, DeviceTest)]
    if len({flag.positive for flag in flags}) > 1:
        return SCALAR  # there is an accelerator, but it is not to be used
    if len(flags) < len(values) and any(flag.of_value for flag in flags):
        return SCALAR  # something else decides as well, and no user chose that as a device
    if flags and isinstance(node.op, ast.And):
        for part, value in zip(node.values, values, strict=True):
            if type(value) is Const and value.value is False and not is_switch(part, value, scope):
                return value  # the call declines it
        choice = len(flags) < len(values) or any(flag.choice for flag in flags)
        asked = frozenset[object]().union(*(flag.deciders for flag in flags))
        others = (p for p, v in zip(node.values, values, strict=True) if _decides(v))
        return DeviceTest(
            flags[0].positive, asks=any(flag.asks for flag in flags), choice=choice,
            deciders=asked.union(others),
        )  # fmt: skip
    if flags and all(isinstance(v, DeviceTest) or truth(v) is False for v in values):
        return flags[0]
    if isinstance(node.op, ast.Or):
        first, last = values[0], values[-1]
        if isinstance(first, Const) and not first.value:
            return last
        if first is HOW_MANY and truth(last):
            return SCALAR  # `torch.cuda.device_count() or 1`: never 0
        if isinstance(first, Scalar) and type(last) is Const and DEVICE.fullmatch(str(last.value)):
            return CliOption(last.value, last.spot)  # `os.environ.get("DEVICE") or "cuda"`
    joined: Value | None = None
    for value in values:
        joined = run.join(joined, value)
    return joined if joined is not None else UNKNOWN


def _and_or(
    run: Interpreter, node: ast.BoolOp, test: ast.expr, moved: ast.expr, scope: Scope
) -> Value | None:
    """Return the value of `use_cuda and x.cuda() or x`, as old as Python 2.4."""
    if not isinstance(moved, ast.Call):
        return None
    flag = run.eval(test, scope)
    if not (isinstance(flag, DeviceTest) and flag.positive):
        return None
    run.guarded += 1
    value = run.eval(moved, scope)
    run.guarded -= 1
    if not isinstance(value, (Tensor, Instance, Union)):
        return None
    spot = Location(scope.path, node)
    run.record(ArmTaken(spot, None, scope, positive=True, asks=flag.asks, choice=flag.choice))
    return value


def _named_and_or(run: Interpreter, node: ast.BoolOp, scope: Scope) -> Value | None:
    """Return the device that `flag and "cuda" or "cpu"` names."""
    match node:
        case ast.BoolOp(
            op=ast.Or(),
            values=[
                ast.BoolOp(values=[test, ast.Constant() as taken]),
                ast.Constant() as other,
            ],
        ):
            spot = Location(scope.path, node)
            flag = asking(run.eval(test, scope))
            device = _either_device(run, run.eval(taken, scope), run.eval(other, scope), spot)
        case _:
            return None
    if device is not None and not isinstance(flag, DeviceTest):
        settled.note(run, node, scope)
    return device


def _decides(value: Value) -> bool:
    """Tell whether a part of a test about devices is no such test, and is not known to hold."""
    return not isinstance(value, DeviceTest) and truth(value) is not True


@evaluates(ast.UnaryOp)
def _unary_operation(run: Interpreter, node: ast.UnaryOp, scope: Scope) -> Value:
    value = run.eval(node.operand, scope)
    if isinstance(node.op, ast.Not):
        value = asking(value)
        if isinstance(value, DeviceTest):
            return value.when(not value.positive)
        known = truth(value)
        return SCALAR if known is None else Const(not known)
    own = operators.unary(run, node.op, value, Location(scope.path, node), scope)
    if own is not None:
        return own
    if isinstance(value, Tensor):
        return Tensor(value.node, scalar=value.scalar)
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(-value.value) if isinstance(node.op, ast.USub) else value
    return value if value is ARRAY or isinstance(value, Scalar) else UNKNOWN


def is_switch(test: ast.expr, value: Value, scope: Scope) -> bool:
    """Tell whether a test asks a named constant: users edit those, so both branches count."""
    match test:
        case ast.UnaryOp(operand=inner):
            return is_switch(inner, value, scope)
        case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant()]):
            return isinstance(value, Const) and _is_global(name, scope)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            owner = scope.self_value
            own = isinstance(owner, Instance) and attr in owner.attrs
            told = own and speaks_of_devices(attr)
            return isinstance(value, Const) and not told  # the call that made it says what it is
    if isinstance(test, ast.Name) and isinstance(value, Const) and value.value is None:
        return _is_global(test.id, scope)  # what a call leaves out is no switch
    if is_given(test, value, scope):
        return False  # each call says what it is
    return isinstance(test, (ast.Name, ast.Attribute)) and isinstance(value, Const)


def is_given(test: ast.expr, value: Value, scope: Scope) -> bool:
    """Tell whether a test asks what a call gives for a parameter of the function that it is in.

    None says that it is left out.
    """
    if isinstance(value, Const) and value.value is None:
        return False
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return is_given(inner, value, scope)
        case ast.Name(id=name):
            func = scope.function()
            return func is not None and name in syntax.parameters(func.node)
    return False


def _is_wanted(test: ast.expr, value: Value, scope: Scope) -> bool:
    """Tell whether a call says that a function is to use the GPU: `x.cuda() if gpu else x`."""
    said = isinstance(test, ast.Name) and is_given(test, value, scope)
    return said and truth(value) is True and speaks_of_devices(test)


def _is_global(name: str, scope: Scope) -> bool:
    """Tell whether a name belongs to a file, and is no parameter."""
    level: Scope | None = scope
    while level is not None and name not in level.names:
        level = level.outer
    return level is not None and level.outer is None and not name.startswith("__")


@evaluates(ast.IfExp)
def _conditional(run: Interpreter, node: ast.IfExp, scope: Scope) -> Value:
    test = asking(run.eval(node.test, scope))
    if isinstance(test, DeviceTest):
        taken, other = (node.body, node.orelse) if test.positive else (node.orelse, node.body)
        spot = Location(scope.path, node)
        asks = test.asks or test.of_value
        taking = ArmTaken(spot, None, scope, positive=test.positive, asks=asks, choice=test.choice)
        run.record(taking)
        run.guarded += 1
        decided, run.deciders = run.deciders, run.deciders | test.deciders
        value = run.eval(taken, scope)
        run.guarded, run.deciders = run.guarded - 1, decided
        if isinstance(value, External) and _OF_CUDA.fullmatch(value.name):
            return UNKNOWN  # it is called only where there is what it is for
        if isinstance(value, Const) and isinstance(value.value, bool):
            # `True if torch.cuda.is_available() else False`
            return test.when(value.value)
        if isinstance(value, Const) and type(value.value) is int and _is_negative(other):
            return ChosenIndex(value.value, value.spot)
        if isinstance(value, Const) and isinstance(value.value, str):
            match = DEVICE.fullmatch(value.value)
            followed = _where_it_is(run, node, True, scope) if match else None
            if followed is not None:
                return followed
            if match:
                made = run.graph.node(Location(scope.path, node))
                run.graph.pin(made, Place.CENTRAL, Location(scope.path, node))
                run.record(DeviceChosen(Location(scope.path, node), made, scope))
                return Device(made, Location(scope.path, node), text=True, resolved=True)
        if isinstance(value, Device):
            followed = _where_it_is(run, node, value.text, scope)
            if followed is not None:
                return followed
            number, rank = value.number, value.rank
            value = Device(value.node, value.spot, text=value.text, resolved=True, rank=rank)
            value.number = number
            value.partial = _is_negative(other)  # which old libraries take for the CPU
        if isinstance(value, Dict) and isinstance(other, ast.Dict):
            return _with_none(value, other)
        return value
    settled.note(run, node, scope)
    if _is_wanted(node.test, test, scope):
        run.guarded += 1
        value = run.eval(node.body, scope)
        run.guarded -= 1
        return value
    known = None if is_switch(node.test, test, scope) else truth(test)
    if is_given(node.test, test, scope) and not speaks_of_devices(node.test):
        known = None  # both are made for somebody
    if known is True:
        return run.eval(node.body, scope)
    if known is False:
        return run.eval(node.orelse, scope)
    left = _arm_of(run, node.test, True, node.body, scope)
    right = _arm_of(run, node.test, False, node.orelse, scope)
    device = _either_device(run, left, right, Location(scope.path, node))
    either = device if device is not None else run.join(left, right)
    says = truth(test)
    return either if says is None else run.as_written(either, left if says else right)


def _with_none(value: Dict, other: ast.Dict) -> Dict:
    """Return a mapping with None for the keys that only the other arm has.

    `torch.load(path, **({} if cuda else {"map_location": "cpu"}))` is told where there is no CUDA.
    """
    only = {key.value: NONE for key in other.keys if isinstance(key, ast.Constant)}
    return value.of({**only, **value.items}, value.element, value.spot)


def _is_negative(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _arm_of(run: Interpreter, test: ast.expr, positive: bool, arm: ast.expr, scope: Scope) -> Value:
    """Return the value of one arm, where the names that the test asks about are narrowed."""
    match test:
        case ast.Call(args=[ast.Name(id=name), *_]) | ast.Compare(left=ast.Name(id=name)):
            held = scope.names.get(name)
        case _:
            held = None
    if not isinstance(held, Tensor):
        return run.eval(arm, scope)
    narrowing.narrow(run, test, scope, positive)
    value = run.eval(arm, scope)
    scope.names[name] = held
    return value


def _where_it_is(run: Interpreter, node: ast.IfExp, text: bool, scope: Scope) -> Device | None:
    """Return the device that `"cuda" if x.is_cuda else "cpu"` means: where `x` is."""
    asked = node.test
    while isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not):
        asked = asked.operand
    if not (isinstance(asked, ast.Attribute) and asked.attr == "is_cuda"):
        return None
    owner = run.eval(asked.value, scope)
    if not isinstance(owner, Tensor):
        return None
    found = Device(owner.node, Location(scope.path, node), text=text, resolved=True)
    spot = Location(scope.path, node)
    run.record(DeviceOf(spot, owner.node, scope, "is_cuda", of=asked.value, device=found))
    return found


def _either_device(run: Interpreter, left: Value, right: Value, spot: Location) -> Device | None:
    """`"cuda" if flag else "cpu"` with a flag of any kind chooses the central device."""
    texts = [v.value for v in (left, right) if isinstance(v, Const)]
    if len(texts) == 2 and all(isinstance(t, str) for t in texts):
        if any(t == "cpu" for t in texts) and any(DEVICE.fullmatch(t) for t in texts):
            node = run.graph.node(spot)
            run.graph.pin(node, Place.CENTRAL, spot)
            return Device(node, spot, text=True, resolved=True)
    return None


def truth(value: Value) -> bool | None:
    """Return what a test is known to be."""
    if isinstance(value, CliOption):
        return None
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (Instance, Func, Class, Device)):
        return True
    return None


def asking(value: Value) -> Value:
    """Return what a value says as a test: how many devices there are, whether there are any."""
    return DeviceTest() if value is HOW_MANY else value


def counted(op: ast.cmpop, number: Value) -> DeviceTest | None:
    """Return what a comparison of how many devices there are with a number says of them."""
    match op, number:
        case (ast.Gt() | ast.NotEq(), Const(value=0)) | (ast.GtE(), Const(value=1)):
            return DeviceTest()
        case (ast.Eq() | ast.LtE(), Const(value=0)) | (ast.Lt(), Const(value=1)):
            return DeviceTest(False)
    return None
