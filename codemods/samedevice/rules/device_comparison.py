"""A `torch.device` stands where its type is meant: in a comparison, or given to `autocast`.

Why: `torch.device("cuda") == "cuda"` is False, and so is
`torch.device("cuda") == torch.device("cuda:0")`. Such a branch is never taken on a GPU machine.
The type is what is meant. `torch.autocast` refuses a `torch.device`: its type is what it takes.
A comparison that was never true may guard such a call, so both are repaired together.

Example:

    if device == "cuda":

becomes

    if device.type == "cuda":

Fix safety: safe. On a CPU-only machine the comparison with an accelerator was False and stays so,
and `autocast` with a `torch.device` raised. A comparison with the CPU is unsafe: it becomes True
there, and what it guards runs for the first time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Edit, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Amp, Comparison
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.inference.values import Const, Device, Seq, Value
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, fix, short

RULE = "device-comparison"
#: What the type of a device may be.
KINDS = frozenset(("cpu", "cuda", "mps", "xpu", "hpu", "npu", "mlu", "musa", "xla", "meta"))


def find(solution: Solution) -> Iterator[Finding]:
    """Report comparisons and calls of `autocast` that cannot be what is meant."""
    calls = {
        group.spot: typed for group in solution.groups(Amp) if (typed := _called(solution, group))
    }
    for spot, typed in calls.items():
        yield finding(
            solution, RULE, spot,
            f"`{short(solution.code(spot))}` is given a torch.device; it takes the type of one",
            Fix(typed),
        )  # fmt: skip
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
        if len(sides) == 2 and (any(map(_is_computed, sides)) or _moves_then(solution, group)):
            continue
        if len(sides) == 2 and (_names_cpu(left) or _names_cpu(right)):
            continue  # the device of a tensor on the CPU has no index
        edits = [_typed(solution, Location(group.spot.path, side), side) for side in sides]
        for call, more in calls.items():  # what the comparison may switch on
            edits += more if call.path == group.spot.path else ()
        yield finding(
            solution, RULE, group.spot,
            f"`{short(solution.code(group.spot))}` compares a torch.device with "
            + ("another one's index" if len(sides) == 2 else "a string: it is never equal"),
            _fix(edits, for_cpu=len(sides) == 1 and (_names_cpu(left) or _names_cpu(right))),
        )  # fmt: skip


def _called(solution: Solution, group: SiteGroup) -> tuple[Edit, ...]:
    """Return the edit of a call of `autocast` that is given a torch.device, if it is."""
    kinds = [site.kind for site in group.sites if isinstance(site, Amp)]
    call = group.spot.node
    if not isinstance(call, ast.Call) or not group.first.name.endswith("autocast"):
        return ()
    if not kinds or not all(kind is not None and _is_device(kind) for kind in kinds):
        return ()
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    side = given.get("device_type", call.args[0] if call.args else None)
    return () if side is None else (_typed(solution, Location(group.spot.path, side), side),)


def _fix(edits: list[Edit], for_cpu: bool) -> Fix:
    if for_cpu:
        reason = "on the CPU the comparison becomes True, and what it guards runs from then on"
        return fix(DeviceExpression(""), *edits, safe=False, reason=reason)
    return fix(DeviceExpression(""), *edits)


def _names_cpu(value: Value) -> bool:
    """Tell whether a text, one of several, or a device that is written out is the CPU."""
    if isinstance(value, Seq):
        return any(map(_names_cpu, value.members()))
    if isinstance(value, Device):
        node = value.spot.node if value.spot is not None else None
        given = node.args[:1] if isinstance(node, ast.Call) else []
        return any(isinstance(each, ast.Constant) and each.value == "cpu" for each in given)
    return isinstance(value, Const) and value.value == "cpu"


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
    return kinds == {True, False} and not any(map(_has_number, (left, right)))


def _has_number(device: Device) -> bool:
    """Tell whether a device is written out with its index: `torch.device("cuda:0")`, which is what
    a tensor there says, too."""
    node = device.spot.node if device.spot is not None else None
    if not isinstance(node, (ast.Call, ast.Constant)):
        return False
    if isinstance(node, ast.Call) and len(node.args) > 1:
        return True
    said = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    named = [text for text in said if isinstance(text, str) and text.partition(":")[0] in KINDS]
    accelerators = [text for text in named if text != "cpu"]
    return bool(accelerators) and all(":" in text for text in accelerators)


def _is_computed(side: ast.expr) -> bool:
    """Tell whether a device is a member, or named by a text that is put together.

    Then which of several it is may be the question.
    """
    parts = ast.walk(side) if isinstance(side, ast.Call) else ()
    return any(isinstance(each, (ast.Subscript, ast.JoinedStr, ast.BinOp)) for each in parts)


def _moves_then(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether a value is moved where its device is another one: a move too many does no harm.

    `if x.device != device: x = x.to(device)`.
    """
    branch = solution.programs.parents(group.spot.path).get(group.spot.node)
    node = group.spot.node
    if not isinstance(branch, ast.If) or branch.orelse or not isinstance(node, ast.Compare):
        return False
    compared = {ast.unparse(node.left), *map(ast.unparse, node.comparators)}
    moves = [
        call.args[0]
        for statement in branch.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and syntax.dotted(call.func).endswith(".to") and call.args
    ]
    return bool(moves) and {ast.unparse(each) for each in moves} <= compared


def _read_off(device: Device) -> bool:
    node = device.spot.node if device.spot is not None else None
    return isinstance(node, ast.Attribute) and node.attr == "device"
