"""The device of a tensor at hand: of what callers hand in, of what a new one takes its type or its
shape from, and of what it meets next."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from samedevice import torchfacts
from samedevice.finding import DeviceExpression
from samedevice.inference import Solution
from samedevice.inference.events import Built, Creation, TensorMoved
from samedevice.inference.nodes import Location, Place
from samedevice.inference.reach import optional
from samedevice.inference.sites import Site
from samedevice.inference.values import UNKNOWN, Doubt, Tensor, Value, surely_tensor
from samedevice.reading import syntax
from samedevice.repair import resolvers, spoken
from samedevice.repair.asked import Asked, inputs, value_names
from samedevice.repair.imports import Imports

if TYPE_CHECKING:
    from samedevice.repair.devices import DeviceNames

#: Methods between a tensor that is made and the one that is meant.
_MOVES = frozenset(("cuda", "to", "type"))
#: Functions that take numbers beside tensors.
_OF_NUMBERS = frozenset(
    (
        "add", "atan2", "clamp", "copysign", "div", "divide", "eq", "float_power", "floor_divide",
        "fmod", "ge", "gt", "isclose", "isin", "ldexp", "le", "lerp", "lt", "mul", "multiply", "ne",
        "pow", "remainder", "rsub", "sub", "subtract", "true_divide", "where", "xlogy",
    )
)  # fmt: skip
_SHAPES = frozenset(("ndim", "new_zeros", "permute", "shape", "unsqueeze", "view"))
#: Methods that tensors have, and neither arrays nor modules.
_TENSORS_ONLY = frozenset(
    (
        "size", "unsqueeze", "permute", "contiguous", "detach", "expand", "expand_as", "new_zeros",
        "mul_", "div_", "add_", "sub_", "copy_", "masked_fill", "masked_fill_", "index_select",
        "topk", "t", "mm", "bmm", "matmul", "masked_select", "scatter_", "scatter_add_", "softmax",
        "log_softmax", "sigmoid", "numel", "index_add_", "clamp", "clamp_", "narrow", "type_as",
        "repeat_interleave", "unbind",
    )
)  # fmt: skip


def followed(asked: Asked) -> DeviceExpression | None:
    """Return the device of the tensor that callers hand in, which the value is to follow.

    Not that of one which the function moves itself: it says nothing about where that is.
    """
    names, name = asked.names, ""
    if asked.kind == "creation":
        name = _of_all(asked)
        if name in asked.moved_here:
            return None
        said = _as_made(asked, name)
        if said is not None:
            return said
    elif asked.follows and (names.reach.in_module(asked.scope) or not asked.moved):
        elsewhere = asked.moved | asked.moved_here
        known = [
            each
            for each in names.reach.followed(asked.scope)
            if each.split("[")[0] not in elsewhere
            and not names.reach.is_made_of(asked.moved, each, asked.scope)
            and not _is_itself(asked, each)
        ]
        # What it was made of is where it is already, perhaps; what it meets is meant.
        made_of = set() if asked.is_made else _made_of(asked.scope.node, asked.moved)
        name = min(known, key=lambda each: each.split("[")[0] in made_of, default="")
    if not name:
        return None
    return DeviceExpression(spoken.named(names.programs, asked.spot, f"{name}.device"))


def _as_made(asked: Asked, name: str) -> DeviceExpression | None:
    """Return the name for the device that a tensor gets which the function makes itself, and a
    creation follows: both say it in the same way."""
    held, func = asked.scope.lookup(name), asked.scope.func
    if func is None or not isinstance(held, Tensor) or not isinstance(held.site, Creation):
        return None
    line = getattr(asked.spot.node, "lineno", 0)
    for group in asked.names.creations_in.get(func.node, ()):
        if held.site in group.sites and getattr(group.spot.node, "lineno", line) < line:
            said = asked.names.device_for(group)
            return said if said is not None and said.code.isidentifier() else None
    return None


def _made_of(function: ast.AST, names: Collection[str]) -> set[str]:
    """Return the names of which a function computes what some names stand for."""
    found: set[str] = set()
    for node in syntax.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                found |= value_names(value)
    return found - set(names)


def _of_all(asked: Asked) -> str:
    """Return the tensor that a creation follows: one that gives its shape, say, or that it meets.

    Else, of several, the one that others follow which its function creates.
    """
    names, func = asked.names, asked.scope.func
    known, met = names.reach.followable(asked.group)
    if len(known) < 2 or func is None:
        return known[0] if known else ""
    if func.node not in names.met_in:
        others = (names.reach.followable(each) for each in names.creations_in.get(func.node, ()))
        names.met_in[func.node] = Counter(name for _, near in others for name in near)
    said = names.met_in[func.node]
    around = names.solution.statement_of(asked.spot) or asked.spot.node
    near = _said(known, asked.spot.node) or met or _said(known, around) or known
    return min(near, key=lambda name: (-said[name], known.index(name)))


def _said(tensors: Iterable[str], node: ast.AST) -> list[str]:
    """Return those of some tensors of which some code speaks."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return [tensor for tensor in tensors if tensor.partition("[")[0] in names]


def handed_in(asked: Asked) -> DeviceExpression | None:
    """Return the device of a tensor that every caller hands in from the device."""
    if asked.kind != "operand" or not asked.follows:
        return None
    without = _bare_names(asked.spot.node) if asked.is_made else asked.moved  # perhaps arrays
    for name in inputs(asked.names, asked.scope):
        if name.split("[")[0] in without | asked.moved_here:
            continue
        if not asked.names.reach.is_made_of(asked.moved, name, asked.scope):
            if not _is_itself(asked, name):
                return DeviceExpression(f"{name}.device")
    return None


def _is_itself(asked: Asked, name: str) -> bool:
    """Tell whether what is moved is what a name stands for, under another name: `y = x`."""
    groups = asked.names.solution.groups_at(TensorMoved, asked.spot.node)
    moved = [site.tensor for group in groups for site in group.sites]
    held = asked.scope.names.get(name)
    if not moved or not isinstance(held, Tensor):
        return False
    node = held.node.find()
    return all(each is not None and each.node.find() is node for each in moved)


def called_with(asked: Asked) -> DeviceExpression | None:
    """Return the device of what every caller hands in, and a module that is built here is called
    with, or handed on with."""
    match asked.names.solution.statement_of(asked.spot):
        case ast.Assign(targets=[ast.Name(id=made)], value=value) if is_chain(
            value, asked.spot.node
        ):
            pass
        case _:
            return None
    if not (isinstance(asked.first, Built) and asked.chooses and asked.scope.func is not None):
        return None
    beside: set[str] = set()
    for node in syntax.walk(asked.scope.node):
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            said = {each.id for each in (node.func, *given) if isinstance(each, ast.Name)}
            beside |= said if made in said else set()
    known = inputs(asked.names, asked.scope)
    name = next((name for name in known if name in beside and name not in asked.moved_here), "")
    return DeviceExpression(f"{name}.device") if name else None


def likely(asked: Asked) -> DeviceExpression | None:
    """Return the device of a parameter of which nothing is known but what the function does."""
    func = asked.scope.func
    if not asked.chooses or func is None or func.cls is not None:
        return None
    if isinstance(func.node, ast.Lambda):
        return None
    spare = optional(asked.scope) | asked.moved_here
    perhaps = [_perhaps_tensors(asked.names.solution, site) for site in asked.group.sites]
    for name in perhaps[0]:
        if name in spare or any(name not in others for others in perhaps):
            continue
        for node in syntax.walk(func.node):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=known), attr=attr)):
                    if known == name and attr in _TENSORS_ONLY:
                        return DeviceExpression(f"{name}.device")
    return None


def changed_in_place(asked: Asked) -> DeviceExpression | None:
    """Return the device of the tensor that a value changes where it is: `w[k] += x.cuda()`.

    That it is one shows in what the same block does with it.
    """
    statement = asked.names.solution.statement_of(asked.spot)
    match statement:
        case ast.AugAssign(
            target=(ast.Name() | ast.Attribute() | ast.Subscript()) as target, value=value
        ) if asked.spot.node in ast.walk(value):
            pass
        case _:
            return None
    code = ast.unparse(target)
    if asked.kind != "operand" or value_names(target) & (asked.moved_here | asked.moved):
        return None
    for node in syntax.walk_all(asked.names.programs.parents(asked.spot.path).block(statement)):
        match node:
            case ast.Call(func=ast.Attribute(value=changed, attr=attr)):
                if attr in _TENSORS_ONLY and ast.unparse(changed) == code:
                    return DeviceExpression(f"{code}.device")
    return None


def _perhaps_tensors(solution: Solution, site: Site) -> list[str]:
    """Return the parameters that nobody is seen to hand in: what they are only their use shows."""
    used = [
        name
        for name, node in site.tensors
        if "[" not in name and solution.place(node) is Place.FOLLOWS and not node.find().is_tensor
    ]
    return [*site.unknown, *used]


def met_next(asked: Asked) -> DeviceExpression | None:
    """Return the device of the tensor that a creation takes its type or its shape from, or
    that it meets next.

    What that is is known, or can be seen of its use, where a device would be defined else. Of two
    that are created and meet, neither says where the other belongs.
    """
    if not asked.follows:
        return None
    names, spot, scope = asked.names, asked.spot, asked.scope
    only_certain = _would_define(asked)
    scopes = names.interpreter.all_scopes.get(scope.node, [scope])
    described = list(described_by(spot.node, scope.node))
    beside = _at_once(names.solution, spot) if asked.kind == "creation" else ()
    for name, certain in (*described, *beside, *met_by(names.solution, spot)):
        held = [each.lookup(name) for each in scopes]
        if (name, certain) not in described and any(map(_is_created, held)):
            continue
        if only_certain and not (certain and scope.func is not None):
            continue
        if all(_is_there(names, value) or certain and _may_be(names, value) for value in held):
            return DeviceExpression(f"{name}.device")
    return None


def _would_define(asked: Asked) -> bool:
    """Tell whether a file has no device to name but one that would be defined in it."""
    if asked.module is not None:
        return False
    last = resolvers.shared(asked)
    return last is not None and any(each.module is None for each in last.resolvers)


def _may_be(names: DeviceNames, value: Value | None) -> bool:
    """Tell whether a value may be a tensor on the device, as far as is known."""
    known = isinstance(value, Tensor) and value.doubt is not Doubt.OTHER
    on_cpu = isinstance(value, Tensor) and names.solution.place(value.node) is Place.HOST
    return value is UNKNOWN or known and not on_cpu


def _is_there(names: DeviceNames, value: Value | None) -> bool:
    """Tell whether a value is a tensor on the device; `None` is none that has a shape."""
    return (
        isinstance(value, Tensor) and surely_tensor(value) and names.solution.on_device(value.node)
    )


def described_by(node: ast.AST, around: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a creation takes its type or its shape from.

    And whether only a tensor can be what it is: torch takes no type of an array, and settings,
    which may have one, have no shape in the code `around`.
    """
    shaped = {
        part.value.id
        for part in syntax.walk(around)
        if isinstance(part, ast.Attribute)
        and part.attr in _SHAPES
        and isinstance(part.value, ast.Name)
    }
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in _MOVES:
            break
        node = node.func.value
    if not isinstance(node, ast.Call):
        return
    for part in (*node.keywords, *node.args):
        match part.value if isinstance(part, ast.keyword) else part:
            case ast.Attribute(value=ast.Name(id=name), attr="dtype"):
                typed = isinstance(part, ast.keyword) and part.arg == "dtype"
                yield name, typed and name in shaped
            case (
                ast.Attribute(value=ast.Name(id=name), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"))
                | ast.Starred(value=ast.Attribute(value=ast.Name(id=name), attr="shape"))
            ):
                yield name, False


def _at_once(solution: Solution, spot: Location) -> Iterator[tuple[str, bool]]:
    """Yield the name that what is made at a place meets where it is made: `torch.ones(n) * x`."""
    end = solution.chain_end(spot)
    match solution.programs.parents(end.path).get(end.node):
        case ast.BinOp(left=left, right=right):
            other = right if left is end.node else left
            if isinstance(other, ast.Name):
                yield other.id, False


def met_by(solution: Solution, spot: Location) -> Iterator[tuple[str, bool]]:
    """Yield the names that what is made at a place meets first, where it is used.

    And whether only a tensor can be what it is.
    """
    statement = solution.statement_of(spot)
    match statement:
        case ast.Assign(targets=[ast.Name(id=made)], value=value) if is_chain(value, spot.node):
            pass
        case _:
            return
    names = _torch(solution.view(Imports), spot.path)
    bound: set[str] = set()  # too late: it is another value there, or none
    for later in solution.programs.parents(spot.path).follows(statement):
        said = [node for node in syntax.walk(later) if isinstance(node, ast.Name)]
        if any(node.id == made for node in said):
            for node in syntax.walk(later):
                for name, certain in _beside(node, made, names):
                    if name != made and name not in bound:
                        yield name, certain
            return
        bound |= {node.id for node in said if isinstance(node.ctx, ast.Store)}
        if not isinstance(later, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
            return  # another path may lead there


def is_chain(value: ast.AST, made: ast.AST) -> bool:
    """Tell whether a value is what is made, and what its methods give."""
    while value is not made:
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
            return False
        value = value.func.value
    return True


def _torch(imports: Imports, path: str) -> dict[str, str]:
    """Return how a file calls torch and its functions of networks."""
    known = ("torch", "torch.nn.functional")
    return {alias: name for name in known if (alias := imports.alias(path, name))}


def _beside(node: ast.AST, made: str, names: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the names that an operation has beside another one."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr) as func, args=args):
            fact = torchfacts.lookup(f"{names.get(syntax.dotted(func.value), '?')}.{attr}")
            given = [arg.id if isinstance(arg, ast.Name) else "" for arg in args]
            if fact is not None and made in given:
                for at, name in enumerate(given):
                    parameter = fact.parameter(at)
                    if name and parameter is not None and fact.must_agree(parameter):
                        yield name, attr not in _OF_NUMBERS
        case ast.BinOp(left=ast.Name(id=left), right=ast.Name(id=right)) if made in (left, right):
            yield right if left == made else left, False
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                value = value.func.value
            if name == made and isinstance(value, ast.Name):
                yield value.id, False


def _is_created(value: Value | None) -> bool:
    return isinstance(value, Tensor) and isinstance(value.site, Creation)


def _bare_names(node: ast.AST) -> set[str]:
    """Return the names of which an operand uses the values, and not only an attribute.

    What `zeros_like` and its kin take is a tensor.
    """
    found: set[str] = set()
    queue = [node]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_like"):
            queue += [node.func, *node.args[1:], *(keyword.value for keyword in node.keywords)]
        elif not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            queue += ast.iter_child_nodes(node)
    return found
