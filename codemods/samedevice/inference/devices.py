"""What stands for a device: literals, numbers of processes, arguments of `.to(...)`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samedevice.inference import unexplained
from samedevice.inference.events import Indexed, Literal, UndefinedDevice
from samedevice.inference.markers import markers
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import External, Scope
from samedevice.inference.open_events import UnknownDevice
from samedevice.inference.values import (
    DEVICE,
    UNKNOWN,
    Arg,
    CliOption,
    Const,
    Device,
    ProcessIndex,
    Scalar,
    Tensor,
    Texts,
    Value,
)
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

#: A device's name before its index is put in.
INDEXED = re.compile(r"(cuda|xpu|mps|npu|hpu|mlu|musa):(%d|%s|%i|\{0?(?::d)?\})?")
#: Where launchers (torchrun, SLURM, Open MPI, Intel MPI) tell a process its number.
RANKS = frozenset(
    ["LOCAL_RANK", "RANK", "SLURM_LOCALID", "SLURM_PROCID", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "PMI_RANK"]
)  # fmt: skip
_ACCELERATORS = ("cuda", "xpu", "npu", "mps", "hpu", "mlu", "musa")
#: Names of what knows the program's device.
_HOLDERS = re.compile(
    r"(?i)(arg|opt|option|conf|config|cfg|param|hparam|flag|setting|const|constant|hp)s?$|"
    r"^(self|cls|c|p|g)$|(model|net|network|module|agent|policy|trainer|learner|runner|fabric|"
    r"accelerator|engine|context|state)$"
)
#: What devices have, and texts that name one.
_OF_DEVICES = frozenset(("type", "index", *dir(str)))
_DTYPE = re.compile(r"torch\.(float|double|half|bfloat|int|long|short|uint|bool|complex)\w*")


def indexed(
    run: Interpreter, node: ast.expr, index: Value, scope: Scope, *, text: bool = True
) -> Device:
    """Return the device that an expression with an index names (`f"cuda:{gpu}"`)."""
    spot = Location(scope.path, node)
    found = Device(run.graph.node(spot), spot, text=text)
    run.graph.pin(found.node, Place.CENTRAL, spot)
    if isinstance(index, ProcessIndex):
        found.rank = index
        of_rank(run, index, spot)
    run.snapshot(run.record(Indexed(spot, found.node, scope, device=found)), scope)
    return found


def asked_for(run: Interpreter, spot: Location) -> Device:
    """Return what the function gives that the user wants to decide the device."""
    found = Device(run.graph.node(spot), spot, resolved=True)
    run.graph.pin(found.node, Place.CENTRAL, spot)
    return found


def of_rank(run: Interpreter, rank: ProcessIndex, spot: Location) -> Device:
    """Return the device that the number of a process means."""
    if rank.device is None:
        rank.device = Device(run.graph.node(spot), spot, resolved=True)
        rank.device.rank = rank
        run.graph.pin(rank.device.node, Place.CENTRAL, spot)
    return rank.device


def as_device(
    run: Interpreter, value: Value, spot: Location, scope: Scope, *, sure: bool
) -> Device | None:
    """Return the device that a value means where a device is expected.

    `sure`: nothing but a device can stand here. Returns None for no device (`None`, a dtype).
    """
    match value:
        case Device():
            other = value.otherwise
            if other is not None:
                device_literal(run, other.value, other, spot, scope)
            if value.spot is not None:
                run.meant.add(value.spot.node)
            return value
        case ProcessIndex():
            return of_rank(run, value, spot)
        case Tensor():
            known = value.node.find().is_tensor or _has_more_than_a_device(spot.node, scope.node)
            if not value.names_device and (sure or not known):
                value.names_device = True
                renamed(value, spot, scope)
            value.node.find().is_tensor = True
            return Device(value.node, spot, resolved=True, of_value=True)
        case Const(value=None) | Const(value=bool()):
            return None
        case Const(value=str() as text):
            return device_literal(run, text, value, spot, scope)
        case Const(value=int() as index):
            return device_literal(run, f"cuda:{index}", value, spot, scope)
        case External(name=name) if _DTYPE.fullmatch(name):
            return None
        case Scalar() if not sure and says_dtype(spot):
            return None  # `x.to(y.dtype)`
    return _unknown(run, value, spot, scope, sure)


def _unknown(
    run: Interpreter, value: Value, spot: Location, scope: Scope, sure: bool
) -> Device | None:
    """Return the device that something means of which little is known."""
    if isinstance(value, Texts) and not asks(run, spot.path):
        for each in value.options:
            if DEVICE.fullmatch(str(each.value)):
                device_literal(run, str(each.value), each, each.spot or spot, scope)
    if sure or isinstance(value, Scalar) or _speaks_of_device(run, spot.node):
        if value is UNKNOWN and isinstance(spot.node, ast.Name):
            undefined(run, spot, scope)
        node = run.graph.node(spot)
        node.is_tensor = False
        known = sure or _speaks_of_device(run, spot.node)
        known = known and not _of_something(spot.node, scope)
        if known and unexplained.is_of_call(value, spot.node, scope):
            if not (isinstance(value, Texts) or asks(run, spot.path)):
                run.record(UnknownDevice(spot, None, scope))
        run.graph.pin(node, Place.CENTRAL if known else Place.UNKNOWN, spot)
        found = Device(node, spot, resolved=True)
        found.counted = isinstance(value, Scalar)
        return found
    return None


def asks(run: Interpreter, path: str) -> bool:
    """Tell whether a program asks the machine, the environment or a user about something."""
    program = run.project.programs.get(path, frozenset((path,)))
    return any(markers(run.project, other).asks for other in program)


def _has_more_than_a_device(name: ast.AST, function: ast.AST) -> bool:
    """Tell whether a function uses what it moves something to as it uses tensors."""
    return isinstance(name, ast.Name) and name.id in _computed_with(function)


@syntax.per_node
def _computed_with(function: ast.AST) -> frozenset[str]:
    """Return the names that a function computes with, or of which it asks what no device has."""
    found: set[str] = set()
    for node in syntax.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr not in _OF_DEVICES:
                found.add(name)
            case ast.BinOp(left=ast.Name(id=name)) | ast.BinOp(right=ast.Name(id=name)):
                found.add(name)
            case ast.Subscript(value=ast.Name(id=name)):
                found.add(name)
    return frozenset(found)


def renamed(value: Tensor, spot: Location, scope: Scope) -> None:
    """Bind a name again, now that its value is known to name a device."""
    if isinstance(spot.node, ast.Name):
        level: Scope | None = scope
        while level is not None and level.names.get(spot.node.id) is not value:
            level = level.outer
        if level is not None:
            level.names[spot.node.id] = value


def undefined(run: Interpreter, spot: Location, scope: Scope) -> None:
    """Note a name that stands for a device and is bound nowhere yet."""
    assert isinstance(spot.node, ast.Name)
    name = spot.node.id
    level: Scope | None = scope
    while level is not None:
        if name in level.names:
            return
        level = level.outer
    run.record(UndefinedDevice(spot, None, scope, name))


def _of_something(node: ast.AST, scope: Scope) -> bool:
    """Tell whether this is the device of something unknown, by a name or not: of a tensor,
    perhaps."""
    match scope.answers.get(node.id, node) if isinstance(node, ast.Name) else node:
        case ast.Attribute(value=ast.Name(id=name), attr="device"):
            return not _HOLDERS.search(name)
    return False


def _speaks_of_device(run: Interpreter, node: ast.AST) -> bool:
    text = ""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        text = node.attr
    elif isinstance(node, ast.Name):
        text = node.id
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        text = str(node.slice.value)
    chosen = run.project.resolver_function.partition(":")[2]
    return "device" in text.lower() or (chosen != "" and text == chosen)


def device_literal(
    run: Interpreter, text: str, value: Const, spot: Location, scope: Scope
) -> Device | None:
    """Return the device that a string or index names, one for each place it is written."""
    if isinstance(value, CliOption):
        if value.device is None:
            chosen = run.graph.node(value.spot or spot)
            by_default = text if text.startswith("cpu") else ""
            run.graph.pin(chosen, Place.CENTRAL, value.spot or spot, by_default)
            run.by_default.append(chosen)
            value.device = Device(chosen, value.spot, text=True, resolved=True)
            if value.spot is not None and DEVICE.fullmatch(str(value.value)):
                # A user who does not choose gets a device that the machine may not have.
                run.stored_literals.add(value.spot.node)
                default = run.record(Literal(value.spot, chosen, scope, text, value=value))
                default.under_device_test = False
        return value.device
    origin = value.spot or spot
    # There it stays, whatever others want of it.
    if text.startswith("cpu") and (run.shown or run.tests.running is not None):
        there = run.graph.node(origin)
        run.graph.pin(there, Place.HOST, origin, text)
        return Device(there, origin, text=True)
    known = run.consumed.get(origin.node)
    if known is not None:
        return known
    node = run.graph.node(origin)
    found = Device(node, origin, text=True)
    match = DEVICE.fullmatch(text)
    if match:
        if match[2] and int(match[2]) > 0:
            run.graph.pin(node, Place.FIXED, origin, text)
        else:
            run.graph.pin(node, Place.CENTRAL, origin, text)
    elif text.startswith("cpu"):
        named = origin.node in run.named_literals or value in run.left_out
        if named and not run.guarded:
            run.cpu_devices.append(found)
        else:
            run.graph.pin(node, Place.HOST, origin, text)
    elif text == "meta":
        run.graph.pin(node, Place.FIXED, origin, text)
    else:
        return None
    run.consumed[origin.node] = found
    site = Literal(origin, node, scope, text, value=value, workers=run.workers)
    run.snapshot(run.record(site), scope)
    return found


def moved_to(
    run: Interpreter,
    name: str,
    args: list[Arg],
    kwargs: dict[str, Arg],
    spot: Location,
    scope: Scope,
) -> Device | None:
    """Return the device that `.to(...)`, `.cuda(...)`, `.cpu()` or `.type(...)` names."""
    if name == "cpu":
        node = run.graph.node(spot)
        run.graph.pin(node, Place.HOST, spot)
        return Device(node, spot)
    given = kwargs.get("device") or kwargs.get("device_id")
    if name in _ACCELERATORS:
        first = given or (args[0] if args else None)
        if first is not None and not (
            isinstance(first[0], Const) and isinstance(first[0].value, (bool, type(None)))
        ):
            found = as_device(run, *first, scope, sure=True)
            if found is not None:
                if isinstance(first[0], Scalar) or first[0] is UNKNOWN:
                    run.offers.append(spot)  # somebody chooses a GPU by its number
                return found
        node = run.graph.node(spot)
        run.graph.pin(node, Place.CENTRAL, spot, name)
        return Device(node, spot)
    if name == "type":
        said = legacy_type(args)
        if not said:
            return None
        node = run.graph.node(spot)
        run.graph.pin(node, Place.CENTRAL if ".cuda." in said else Place.HOST, spot)
        return Device(node, spot)
    if given is not None:
        return as_device(run, *given, scope, sure=True)
    if args:
        return as_device(run, *args[0], scope, sure=False)
    other = kwargs.get("other")
    return as_device(run, *other, scope, sure=True) if other is not None else None


def says_dtype(spot: Location) -> bool:
    """Tell whether an expression means a type rather than a device."""
    return "type" in syntax.dotted(spot.node)


def legacy_type(args: list[Arg]) -> str:
    """Return the tensor type that `.type(...)` names ("torch.cuda.FloatTensor"), or ""."""
    return tensor_type(args[0][0]) if args else ""


def tensor_type(value: Value) -> str:
    """Return the tensor type that a default is set to ("torch.DoubleTensor"), or ""."""
    name = value.name if isinstance(value, External) else ""
    if isinstance(value, Const) and isinstance(value.value, str):
        name = value.value
    return name if name.startswith("torch.") and name.endswith("Tensor") else ""
