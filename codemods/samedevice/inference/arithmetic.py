"""Values that meet in an operation: arithmetic and comparisons."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from samedevice.inference import (
    arrays,
    choices,
    conditions,
    devices,
    narrowing,
    operators,
    spelled,
    unexplained,
)
from samedevice.inference.dispatch import evaluates
from samedevice.inference.events import Comparison, Creation, CudaOnly, Drawn, ProcessCall
from samedevice.inference.nodes import Location, PlaceVar
from samedevice.inference.objects import Func, Instance, Scope
from samedevice.inference.open_events import WhereAsked
from samedevice.inference.values import (
    ARRAY,
    DEVICE,
    DIVIDES,
    HOW_MANY,
    SCALAR,
    UNKNOWN,
    ChosenIndex,
    CliOption,
    Const,
    Device,
    DeviceTest,
    Dict,
    Doubt,
    ProcessIndex,
    Scalar,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter


@evaluates(ast.BinOp)
def _binary_operation(run: Interpreter, node: ast.BinOp, scope: Scope) -> Value:
    left, right = run.eval(node.left, scope), run.eval(node.right, scope)
    if isinstance(left, Const) and isinstance(left.value, str):
        if devices.INDEXED.fullmatch(left.value) and isinstance(node.op, (ast.Add, ast.Mod)):
            return devices.indexed(run, node, right, scope)
        if isinstance(node.op, ast.Add):
            named = spelled.spelled([left, right], Location(scope.path, node))
            if named is not None:
                return named
        if isinstance(node.op, ast.Mod):
            return SCALAR
    if isinstance(left, ProcessIndex) and isinstance(node.op, ast.Mod):
        spot = Location(scope.path, node.right)
        counted = run.record(ProcessCall(spot, None, scope, "count", args=[], kwargs={}))
        run.snapshot(counted, scope)
        return left  # among the devices of its machine
    if right is HOW_MANY and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        run.record(CudaOnly(Location(scope.path, node.right), None, scope, DIVIDES))
    own = operators.binary(run, node.op, left, right, Location(scope.path, node), scope)
    if own is None:
        own = arrays.operated(run, node, left, right, scope)
    if own is not None:
        return own
    matrices = isinstance(node.op, ast.MatMult)
    unexplained.met(run, left, Location(scope.path, node.left), right, scope, matrices)
    unexplained.met(run, right, Location(scope.path, node.right), left, scope, matrices)
    value = binary(run, 
        left, Location(scope.path, node.left), right, Location(scope.path, node.right),
        Location(scope.path, node), False,
    )  # fmt: skip
    if matrices and isinstance(value, Tensor):
        multiplied(run, (left, right), value.node, Location(scope.path, node), scope)
    return value


def made_here(values: Iterable[Value], scope: Scope) -> bool:
    """Tell whether one of the operands was created by the code that computes with it."""
    return any(
        isinstance(value, Tensor) and isinstance(value.site, Creation) and value.site.scope is scope
        for value in values
    )


def multiplied(
    run: Interpreter, operands: Iterable[Value], node: PlaceVar, spot: Location, scope: Scope
) -> None:
    """Note a product of matrices: it is worth a device where its code makes an operand."""
    if not (run.in_worker or run.symbolic or run.in_constructor):
        run.computing.add(spot.path)
    if made_here(operands, scope):
        _seed(run, node, spot, scope)


def compute_intensive(run: Interpreter, node: PlaceVar, spot: Location, scope: Scope) -> None:
    """Note an operation that is worth an accelerator: it takes gradients."""
    if not (run.in_worker or run.symbolic or run.in_constructor):
        run.learning.add(spot.path)
    _seed(run, node, spot, scope)


def _seed(run: Interpreter, node: PlaceVar, spot: Location, scope: Scope) -> None:
    if run.in_worker:
        run.host_work.add(spot.node)
    elif not run.symbolic and not run.in_constructor:
        run.computing.add(spot.path)
        run.seeds.append((node, spot, scope, run.unit[0]))


def binary(
    run: Interpreter,
    left: Value,
    left_spot: Location,
    right: Value,
    right_spot: Location,
    spot: Location,
    in_place: bool,
) -> Value:
    """Return the result of an elementwise operation of two values."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        both = run.operate([(left, left_spot), (right, right_spot)], spot, True, in_place)
        return both.made_of(left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        found, other = (left, right) if isinstance(left, Tensor) else (right, left)
        assert isinstance(found, Tensor)
        if other is ARRAY and not found.node.find().is_tensor:
            return ARRAY
        made = Tensor(found.node, scalar=found.scalar)
        if other is UNKNOWN and not found.node.find().is_tensor:
            made = run.derived(found, spot)  # of what it is used as, either may be the reason
            made.scalar = found.scalar
        made.doubt, made.opaque = found.doubt, found.opaque
        made.row = found.row and isinstance(other, (Const, Scalar))
        if found.opaque and not found.node.find().is_tensor:
            made.site = found.site  # a number of a loaded file, perhaps
        return made
    if left is ARRAY or right is ARRAY:
        return ARRAY
    if isinstance(left, Seq) and isinstance(right, Seq):
        if left.items is not None and right.items is not None:
            return Seq(left.kind, left.items + right.items)
        element = left.element
        for member in (*(left.items or ()), *right.members()):
            element = run.join(element, member)
        return Seq(left.kind, None, element)
    if isinstance(left, Seq):
        element = None
        for member in left.members():
            element = run.join(element, member)
        return Seq(left.kind, None, element)
    if isinstance(left, Dict) and isinstance(right, Dict):
        merged = Dict({**left.items, **right.items}, left.element, spot)
        if right.element is not None:
            merged.element = run.join(left.element, right.element)
        return merged
    if left is UNKNOWN and right is UNKNOWN:
        return UNKNOWN
    return SCALAR if right is not UNKNOWN else UNKNOWN


def operate(
    run: Interpreter, operands: list[tuple[Tensor, Location]], spot: Location, elementwise: bool,
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
                run.graph.index(
                    first.node,
                    first_spot,
                    other.node,
                    other_spot,
                    spot,
                    run.function(),
                    "number",
                )
    elif elementwise and all(t.scalar for t, _ in operands):
        meeting = operands[:1]
    for other, other_spot in meeting[1:]:
        run.graph.meet(first.node, first_spot, other.node, other_spot, spot, run.function())
    if elementwise and all(t.scalar for t, _ in operands):
        meeting = operands
    if any(t.node.find().is_tensor for t, _ in operands):
        for tensor, _ in operands:
            site = tensor.site
            if isinstance(site, Drawn) and not site.perhaps:
                tensor.node.find().is_tensor = True  # no list or text of a batch is computed with
    nodes = {id(t.node.find()): t.node for t, _ in meeting}
    node = first.node
    if len(nodes) > 1:
        node = run.graph.node(spot)
        node.is_tensor = any(t.node.find().is_tensor for t, _ in meeting)
        for source in nodes.values():
            run.graph.flow(source, node)
    made = Tensor(node, scalar=all(t.scalar for t, _ in operands))
    made.row = elementwise and not made.scalar and all(t.row or t.scalar for t, _ in operands)
    return made


@evaluates(ast.Compare)
def _comparison(run: Interpreter, node: ast.Compare, scope: Scope) -> Value:
    asked = narrowing.is_type(run, node, scope)
    if asked is not None:
        return asked
    left = run.eval(node.left, scope)
    values = [run.eval(part, scope) for part in node.comparators]
    device = next((v for v in (left, *values) if isinstance(v, Device)), None)
    if device is not None:
        return compare_device(run, node, left, values, scope)
    if len(values) == 1:
        known = _compare_two(run, node, left, values[0], scope)
        if known is not None:
            return known
    result: Value = SCALAR
    for right, part in zip(values, node.comparators, strict=True):
        unexplained.met(run, left, Location(scope.path, node.left), right, scope)
        unexplained.met(run, right, Location(scope.path, part), left, scope)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            result = binary(run, 
                left, Location(scope.path, node.left), right, Location(scope.path, part),
                Location(scope.path, node), False,
            )  # fmt: skip
        elif left is ARRAY or right is ARRAY:
            result = ARRAY
    return result


def _compare_two(
    run: Interpreter, node: ast.Compare, left: Value, right: Value, scope: Scope
) -> Value | None:
    """Return what a comparison of two values says, None where they just meet."""
    op = node.ops[0]
    own = operators.compared(run, op, left, right, Location(scope.path, node), scope)
    if own is not None:
        return own
    if isinstance(left, ChosenIndex) and (means := index_means(node)) is not None:
        return DeviceTest(means)
    if isinstance(left, CliOption) or isinstance(right, CliOption):
        return compare_option(run, node, left, right, scope)
    if isinstance(right, Const) and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        if isinstance(left, DeviceTest) and right.value in (0, 1):  # `args.cuda == 1`
            same = bool(right.value) == isinstance(op, (ast.Eq, ast.Is))
            return left.when(left.positive == same)
    if left is HOW_MANY and (asked := conditions.counted(op, right)) is not None:
        return asked
    if isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
        return _identity(left, right, isinstance(op, ast.Is))
    if isinstance(left, Const) and isinstance(right, Const):
        if isinstance(op, ast.Eq):
            return Const(left.value == right.value)
        if isinstance(op, ast.NotEq):
            return Const(left.value != right.value)
    return None


def _identity(left: Value, right: Value, positive: bool) -> Value:
    """Return what `left is None` says, if that is known."""
    if isinstance(right, Const) and right.value is None:
        if isinstance(left, Const):
            return Const((left.value is None) == positive)
        if isinstance(left, (Tensor, Instance, Seq, Device, Dict, Func)):
            if not isinstance(left, Tensor) or (
                left.node.find().is_tensor and left.doubt is Doubt.NONE
            ):
                return Const(not positive)
    return SCALAR


def compare_option(
    run: Interpreter, node: ast.Compare, left: Value, right: Value, scope: Scope
) -> Value:
    """Return what a test of a command-line option says: about the device, perhaps."""
    other = right if isinstance(left, CliOption) else left
    means = index_means(node)
    if means is not None and isinstance(left, CliOption):
        asked = choices.unconverted(node.left) or node.left
        if choices.is_index(run, ast.unparse(asked), left, scope.path):
            return DeviceTest(means, asks=False, choice=True)
    if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and (
        isinstance(other, Const) and isinstance(other.value, str)
    ):
        equal = isinstance(node.ops[0], ast.Eq)
        if other.value == "cpu":
            return DeviceTest(not equal)
        if DEVICE.fullmatch(other.value):
            return DeviceTest(equal)
        if other.value.lower() in ("gpu", "cuda", "cpu"):  # no device has such a name
            return DeviceTest(equal == (other.value.lower() != "cpu"), asks=False, choice=True)
    return SCALAR


def compare_device(
    run: Interpreter, node: ast.Compare, left: Value, values: list[Value], scope: Scope
) -> Value:
    """Return what a comparison of devices says: whether the accelerator is used, often."""
    right = values[0]
    if isinstance(left, Device) and left.number and left.of_value:  # `x.get_device() >= 0`
        means = index_means(node)
        asked = DeviceTest(means is not False)
        asked.of_value = True
        run.record(WhereAsked(Location(scope.path, node), left.node, scope))
        return asked if means is not None else SCALAR
    text = next(
        (v.value for v in (left, right) if isinstance(v, Const) and isinstance(v.value, str)),
        None,
    )
    run.record(Comparison(Location(scope.path, node), None, scope, left=left, right=right))
    equal = isinstance(node.ops[0], (ast.Eq, ast.Is, ast.In))
    if isinstance(left, Device) and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and text is None:
        return SCALAR if left.partial else _identity(left, right, equal)
    if text is not None and len(values) == 1:
        if isinstance(left, Device) and left.of_value:
            run.record(WhereAsked(Location(scope.path, node), left.node, scope))
        if text.startswith("cpu"):
            return DeviceTest(not equal)
        if DEVICE.fullmatch(text):
            return DeviceTest(equal)
    return SCALAR


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
