"""A `torch.device` is compared with a string, or two devices are compared with their index.

Why: `torch.device("cuda") == "cuda"` is False, and so is
`torch.device("cuda") == torch.device("cuda:0")`. Such a branch is never taken on a GPU machine.
The type is what is meant.

Example:

    if device == "cuda":

becomes

    if device.type == "cuda":

Fix safety: safe. On a CPU-only machine the comparison with an accelerator was False and stays so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Edit, Finding
from samedevice.places import Solution
from samedevice.places.events import Comparison
from samedevice.places.graph import Location
from samedevice.places.values import Const, Device, Seq, Value
from samedevice.rules._build import edit, finding, fix, short

#: What the type of a device may be.
KINDS = frozenset(("cpu", "cuda", "mps", "xpu", "hpu", "npu", "mlu", "musa", "xla", "meta"))


def find(solution: Solution) -> Iterator[Finding]:
    """Report comparisons that cannot be what is meant."""
    for group in solution.groups(Comparison):
        node = group.spot.node
        if not isinstance(node, ast.Compare) or len(node.comparators) != 1:
            continue
        left, right = group.first.left, group.first.right
        sides = [
            side
            for side, value, other in ((node.left, left, right), (node.comparators[0], right, left))
            if _is_device(value) and (_is_text(other) or _is_device(other))
        ]
        if not sides or (len(sides) == 2 and not _one_without_index(left, right)):
            continue
        if len(sides) == 2 and any(map(_is_computed, sides)):
            continue
        edits = [_typed(solution, Location(group.spot.path, side), side) for side in sides]
        yield finding(
            solution, "device-comparison", group.spot,
            f"`{short(solution.code(group.spot))}` compares a torch.device with "
            + ("another one's index" if len(sides) == 2 else "a string: it is never equal"),
            fix(DeviceExpression(""), *edits),
        )  # fmt: skip


def _typed(solution: Solution, spot: Location, side: ast.expr) -> Edit:
    """Return the edit from a device to its type, which `torch.device("cpu")` says itself."""
    match side:
        case ast.Call(args=[ast.Constant(value=str(kind)) as text], keywords=[]) if kind in KINDS:
            return edit(solution, spot, "replace", code=solution.code(Location(spot.path, text)))
    return edit(solution, spot, "method", code=".type")


def _is_device(value: Value) -> bool:
    """Tell whether a value is a torch.device; a parameter that nobody hands in may be none."""
    if not isinstance(value, Device) or value.text:
        return False
    return value.spot is None or not isinstance(value.spot.node, (ast.Name, ast.arg))


def _is_text(value: Value) -> bool:
    if isinstance(value, Seq):
        return bool(value.items) and all(_is_text(member) for member in value.members())
    # Another word ("auto") is what a caller may say in place of a device.
    return isinstance(value, Const) and value.value in KINDS


def _one_without_index(left: Value, right: Value) -> bool:
    """Tell whether one device is chosen in the program and the other read off a tensor."""
    assert isinstance(left, Device) and isinstance(right, Device)
    kinds = {_read_off(left), _read_off(right)}
    return kinds == {True, False}


def _is_computed(side: ast.expr) -> bool:
    """Tell whether a device is a member, or named by a text that is put together.

    Then which of several it is may be the question.
    """
    parts = ast.walk(side) if isinstance(side, ast.Call) else ()
    return any(isinstance(each, (ast.Subscript, ast.JoinedStr, ast.BinOp)) for each in parts)


def _read_off(device: Device) -> bool:
    node = device.spot.node if device.spot is not None else None
    return isinstance(node, ast.Attribute) and node.attr == "device"
