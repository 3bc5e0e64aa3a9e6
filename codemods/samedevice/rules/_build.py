"""What most rules share: a finding about a place in the code, and the edits that move a value."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterable

from samedevice.finding import DeviceExpression, Edit, Finding, Fix, Origin, Verb
from samedevice.inference.events import Indexed, Literal, device_of
from samedevice.inference.nodes import Location
from samedevice.inference.sites import SiteGroup
from samedevice.inference.solution import Solution
from samedevice.inference.values import Device
from samedevice.reading import syntax
from samedevice.repair import device_names, words

#: What a test about devices has in it.
_DEVICES = re.compile(r"cuda|gpu|mps|xpu|npu|hpu|cpu|device", re.IGNORECASE)

#: Why a finding without a fix has none.
MIXED = "some callers hand in arrays: use a function of torch where it gets a tensor"
NO_NAME = "no variable here holds the device, and no parameter is certainly a tensor"


def tests_devices(test: ast.expr) -> bool:
    """Tell whether a test is about devices, by its words."""
    return _DEVICES.search(ast.unparse(test)) is not None


def edit(solution: Solution, spot: Location, verb: Verb, **args: str) -> Edit:
    """Return an edit of the expression or statement at `spot`."""
    return Edit(spot.path, solution.span(spot), verb, tuple(args.items()))


def fix(name: DeviceExpression, *edits: Edit, safe: bool = True, reason: str = "") -> Fix:
    """Return a fix whose edits speak of the device by `name`."""
    return Fix((*edits, *name.edits), safe, reason, imports=name.imports, resolvers=name.resolvers)


def argument(solution: Solution, call: ast.AST, parameter: str, name: DeviceExpression) -> str:
    """Return a device as a call hands it to a parameter: as a text where the function wants one."""
    if name.text:
        return name.code
    said = [
        words.as_text(node, parameter, name.code)
        for _, node in solution.functions_called(call)
        if parameter in syntax.parameters(node)
    ]
    return said[0] if len(set(said)) == 1 else name.code


def to_device(solution: Solution, spot: Location, name: DeviceExpression) -> list[Edit]:
    """Return the edits that turn the call `x.cuda(...)` into `x.to(device, ...)`."""
    assert isinstance(spot.node, ast.Call)
    rest = "".join(
        f", {k.arg}={solution.code(Location(spot.path, k.value))}"
        for k in spot.node.keywords
        if k.arg not in (None, "device", "device_id")
    )
    return [
        edit(solution, spot, "unwrap"),
        edit(solution, spot, "method", code=f".to({name.code}{rest})"),
    ]


#: A GPU by a number that is written out.
_NUMBERED = re.compile(r"cuda:\d")


def goes_to(solution: Solution, group: SiteGroup) -> DeviceExpression | None:
    """Return the name of the program's one device if `.cuda(...)` goes there, else None.

    That is where it names no GPU, the first one, or the one that the user chose; where its argument
    stands for the device, it is that.
    """
    central, chosen = False, False
    call = group.spot.node
    assert isinstance(call, ast.Call)
    match [*call.args, *(k.value for k in call.keywords if k.arg in ("device", "device_id"))]:
        case []:
            central = True
        case [ast.Constant(value=0)]:
            central = not any(solution.groups(Indexed))
        case [ast.Name() | ast.Attribute() as index]:
            device = device_of(group.first)
            spot = device.spot if device is not None else None
            literals = solution.groups_at(Literal, spot.node) if spot else ()
            literal = next(iter(literals), None)
            code = ast.unparse(index)
            if literal is None and _names_device(solution, group.spot, code):
                return DeviceExpression(code)  # `.cuda(d)` goes where `.to(d)` does
            if literal is None:
                central = chosen = solution.policy.decided_by(group.spot.path, code)
            elif literal.first.name == "cuda:0":
                stored = solution.is_stored(literal.spot.node)
                if stored and not literal.first.under_device_test:
                    return DeviceExpression(
                        ast.unparse(index), text=True
                    )  # which becomes the device
                central = not any(solution.groups(Indexed))
    if not central:
        return None
    name = device_names(solution).name_at(group.spot, itself=solution.moves_itself(group))
    if chosen and name is not None and not _is_of_index(solution, group.spot, name):
        return None
    return name


def _is_of_index(solution: Solution, spot: Location, name: DeviceExpression) -> bool:
    """Tell whether the device that a name stands for is the one whose number the user chose.

    The first GPU, which another definition names, is none of that number.
    """
    if name.edits or name.resolvers or name.code.endswith("].device"):
        return True
    site = solution.reach.site_at(spot)
    held = [v for code, v, _ in site.devices if code == name.code] if site is not None else []
    if not held:
        return not name.imports  # it follows a tensor
    for value in held:
        if not isinstance(value, Device) or value.spot is None:
            continue
        made = ast.unparse(value.spot.node)
        words = {n.id for n in ast.walk(value.spot.node) if isinstance(n, ast.Name)}
        words |= {n.attr for n in ast.walk(value.spot.node) if isinstance(n, ast.Attribute)}
        if _NUMBERED.search(made) and not any("gpu" in word or "dev" in word for word in words):
            return False
    return True


def _names_device(solution: Solution, spot: Location, code: str) -> bool:
    """Tell whether an expression holds a `torch.device` where a value is moved.

    That is no parameter: `.cuda(None)` moves, and `.to(None)` does not.
    """
    site = solution.reach.site_at(spot)
    if site is None:
        return False
    given = {part.arg for part in ast.walk(site.scope.node) if isinstance(part, ast.arg)}
    return code.partition(".")[0] not in given - {"self"} and any(
        known == code and isinstance(held, Device) and held.resolved and not held.text
        and not held.partial
        and held.planned is None and held.rank is None
        for known, held, _ in site.devices
    )  # fmt: skip


def finding(
    solution: Solution,
    rule: str,
    spot: Location,
    message: str,
    repair: Fix | None,
    *,
    origins: Iterable[Origin] = (),
    unfixed: str = "",
) -> Finding:
    """Return a finding about the expression or statement at `spot`."""
    return Finding(
        spot.path,
        solution.span(spot),
        rule,
        message,
        tuple(origins),
        repair,
        unfixed if repair is None else "",
    )


def with_comment(solution: Solution, spot: Location, code: str) -> str:
    """Return `code`, which takes the place of a statement, with the comment at its line's end."""
    source = solution.project.sources[spot.path]
    span = source.span(spot.node)
    end = source.offset(span.end_line, span.end_column)
    comment = source.text[end:].partition("\n")[0].rstrip()
    return code + comment if comment.lstrip().startswith("#") else code


def short(code: str, width: int = 40) -> str:
    """Return code on one line, cut to a length that fits a message."""
    line = " ".join(code.split())
    return line if len(line) <= width else line[: width - 3] + "..."


def written_in_place(solution: Solution, spot: Location) -> bool:
    """Tell whether an operation writes into an operand: `x.add_(y)`, `x += y`.

    A copy on the device would be written in its place, and be lost.
    """
    parents = solution.programs.parents(spot.path)
    outer = parents.get(spot.node)
    if isinstance(outer, ast.AugAssign):
        return outer.target is spot.node
    if not isinstance(outer, ast.Attribute) or outer.attr.endswith("__"):
        return False
    call = parents.get(outer)
    return outer.attr.endswith("_") and isinstance(call, ast.Call) and call.func is outer


def meeting(solution: Solution, group: SiteGroup) -> list[Origin]:
    """Return where the value of a site meets the device."""
    for site in group.sites:
        if solution.on_device(site.node):
            return list(solution.origin(site.node, "it meets the device here"))
    return []


def wanted(solution: Solution, group: SiteGroup) -> bool:
    """Tell whether some evaluation of a site has to be on the device."""
    return any(solution.on_device(site.node) for site in group.sites)


class _Unmoved(ast.NodeTransformer):
    def __init__(self, is_move: Callable[[ast.Call], bool]) -> None:
        self.is_move = is_move

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and self.is_move(node):
            return node.func.value
        return node


def unmoved(node: ast.AST, is_move: Callable[[ast.Call], bool]) -> ast.AST:
    """Return a copy of a node in which the moves are gone and what is moved stays."""
    return _Unmoved(is_move).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


def idle(statement: ast.AST) -> bool:
    """Tell whether a statement does nothing: `x`, `x = x`."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Name() | ast.Attribute() | ast.Subscript()):
            return True
        case ast.Assign(targets=[target], value=value):
            return ast.unparse(target) == ast.unparse(value)
    return False
