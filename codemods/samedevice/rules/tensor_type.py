"""A tensor type of PyTorch 0.x says where a tensor lives: `torch.cuda.FloatTensor(...)`.

Why: `torch.cuda.FloatTensor` does not work without CUDA, so that old programs choose between two
types by hand. A dtype and a device say the same on every machine.

Example:

    Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
    valid = Tensor(8, 1).fill_(1.0)
    real = imgs.type(Tensor)

becomes

    valid = torch.empty(8, 1, device=device).fill_(1.0)
    real = imgs.to(device, torch.float32)

Fix safety: safe. On a CPU-only machine the same values are made with the same dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Edit, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Creation, LegacyCreated, Move, Placed, TensorMoved
from samedevice.inference.nodes import Location, Place
from samedevice.inference.objects import Scope
from samedevice.inference.sites import Group, SiteGroup
from samedevice.inference.values import ARRAY, Dict, Seq, Value
from samedevice.reading import syntax
from samedevice.repair import device_names
from samedevice.rules._build import NO_NAME, edit, finding, short
from samedevice.torchfacts import legacy_dtype

RULE = "tensor-type"
ERASURE = "legacy-constructor"
_OWN = "objects of this class get their type later, and may be on another device"
_ASKED = "callers choose the type, and may choose the one of the CPU"
_SPARSE = "what it is made of is not written in its call"
_SIZES = frozenset(("size", "len", "int", "numel", "dim"))


def find(solution: Solution) -> Iterator[Finding]:
    """Report constructions and casts by a type that has a place, and names of such types."""
    for group in solution.groups(LegacyCreated):
        if group.first.name.startswith("torch.cuda.") and not _has_its_twin(solution, group):
            yield _construction(solution, group)
    for made in solution.groups(Placed):
        found = _placed(solution, made)
        if found is not None:
            yield found
    for move in solution.groups(Move):
        if move.first.name == "type" and ".cuda." in move.first.type:
            yield _cast(solution, move)
    yield from _unread_aliases(solution)


def _message(solution: Solution, spot: Location) -> str:
    return f"`{short(solution.code(spot))}` chooses a device by a tensor type of PyTorch 0.x"


def _fix(name: DeviceExpression, *edits: Edit, alias: str = "", dtype: str = "") -> Fix:
    """Return a fix; `alias` is what the file calls the tensor type of `dtype`."""
    return Fix(
        (*edits, *name.edits), imports=name.imports, resolvers=name.resolvers, erasure=ERASURE,
        types=((alias, dtype),) if alias else (),
    )  # fmt: skip


# -- constructions --------------------------------------------------------------------------


def _construction(solution: Solution, group: Group[Creation]) -> Finding:
    """`torch.cuda.FloatTensor(...)`, perhaps by another name: sizes, or data."""
    spot, call = group.spot, group.spot.node
    if group.first.name.startswith("torch.cuda.sparse."):
        return _sparse(solution, group)
    torch = device_names(solution).imports.alias(spot.path, "torch")
    last = group.first.name.rpartition(".")[2]
    name = device_names(solution).device_for(group)
    own = isinstance(call, ast.Call) and _is_its_own(solution, group, call.func, name)
    asked = isinstance(call, ast.Call) and _is_asked_for(solution, group, call.func, name)
    name = None if own or asked else name
    repair: Fix | None = None
    if name is not None and torch and isinstance(call, ast.Call) and legacy_dtype(last):
        dtype = f"{torch}.{legacy_dtype(last)}"
        form = _form(group, call)
        if form == "size":
            edits = [edit(solution, spot, "callee", code=f"{torch}.empty")]
            if dtype != f"{torch}.float32" or solution.has_default_device:
                edits.append(edit(solution, spot, "keyword", name="dtype", value=dtype))
            edits.append(edit(solution, spot, "keyword", name="device", value=name.code))
        elif form == "data":
            edits = [
                edit(solution, spot, "callee", code=f"{torch}.tensor"),
                edit(solution, spot, "keyword", name="dtype", value=dtype),
                edit(solution, spot, "keyword", name="device", value=name.code),
            ]
        else:  # what is given is not known: the CPU's type decides, then the result is moved
            edits = [
                edit(solution, spot, "callee", code=f"{torch}.{last}"),
                edit(solution, spot, "method", code=f".to({name.code})"),
            ]
        repair = _fix(name, *edits, alias=_last_word(call.func), dtype=legacy_dtype(last))
    unfixed = _OWN if own else _ASKED if asked else NO_NAME
    return finding(solution, RULE, spot, _message(solution, spot), repair, unfixed=unfixed)


def _sparse(solution: Solution, group: Group[Creation]) -> Finding:
    """`torch.cuda.sparse.FloatTensor(indices, values)`: what it makes is where its values are."""
    spot, call = group.spot, group.spot.node
    torch = device_names(solution).imports.alias(spot.path, "torch")
    repair: Fix | None = None
    if torch and isinstance(call, ast.Call) and len(call.args) > 1 and not call.keywords:
        new = edit(solution, spot, "callee", code=f"{torch}.sparse_coo_tensor")
        repair = _fix(DeviceExpression(""), new)
    return finding(solution, RULE, spot, _message(solution, spot), repair, unfixed=_SPARSE)


def _has_its_twin(solution: Solution, group: Group[Creation]) -> bool:
    """Tell whether a branch for CUDA names the type in place, and another one makes the same for
    the CPU: half of the choice would go."""
    call = group.spot.node
    if not isinstance(call, ast.Call) or not all(site.under_device_test for site in group.sites):
        return False
    twin = ast.unparse(call).replace(".cuda.", ".")
    parents = solution.programs.parents(group.spot.path)
    node: ast.AST | None = call
    while node is not None and ".cuda." in ast.unparse(call.func):
        if isinstance(node, (ast.If, ast.IfExp)):
            arms = [*node.body, *node.orelse] if isinstance(node, ast.If) else [node]
            if any(twin in ast.unparse(each) for each in arms):
                return True
        node = parents.get(node)
    return False


def _last_word(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _is_its_own(
    solution: Solution, group: SiteGroup, kind: ast.expr, name: DeviceExpression | None
) -> bool:
    """Tell whether objects are told their type one by one, where `name` is the same for all."""
    func = group.first.scope.func
    if name is None or name.code.endswith(".device"):
        return False
    if func is None or func.cls is None or not isinstance(kind, (ast.Name, ast.Attribute)):
        return False
    return solution.is_set_later(func.cls, _last_word(kind))


def _is_asked_for(
    solution: Solution, group: SiteGroup, kind: ast.expr, name: DeviceExpression | None
) -> bool:
    """Tell whether a parameter of the function decides between a type and another one.

    So does one of the constructor for an object whose attribute is the type, or the module that has
    it: `self.tt = torch.cuda if cuda else torch`.
    """
    scope: Scope | None = group.first.scope
    while scope is not None and scope.func is None:
        scope = scope.outer  # a comprehension has names of its own
    if scope is None:
        return False
    match kind:
        case ast.Name(id=chosen):
            return _is_chosen_in(scope.node, chosen)
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")) as held):
            chosen = ast.unparse(held)
        case ast.Attribute(value=ast.Name(id="self")):
            chosen = ast.unparse(kind)
        case _:
            return False
    own = scope.func.cls if scope.func is not None else None
    if own is None or name is not None and name.code.startswith("self."):
        return False
    return any(
        isinstance(method, ast.FunctionDef) and _is_chosen_in(method, chosen)
        for method in own.node.body
    )


def _is_chosen_in(home: ast.AST, chosen: str) -> bool:
    """Tell whether a test of a parameter decides what a name or an attribute is in a function."""
    given = {a.arg for a in ast.walk(home) if isinstance(a, ast.arg)} - {"self"}
    for node in syntax.walk(home):
        match node:
            case ast.If(test=test, body=[*body], orelse=[*orelse]):
                decided = any(chosen in _aliased(each) for each in (*body, *orelse))
            case ast.Assign(targets=[target], value=ast.IfExp(test=test)):
                decided = ast.unparse(target) == chosen
            case _:
                continue
        if decided and any(isinstance(n, ast.Name) and n.id in given for n in ast.walk(test)):
            return True
    return False


def _placed(solution: Solution, group: SiteGroup) -> Finding | None:
    """`torch.FloatTensor([1.0], device=device)`: the old constructors know the CPU only."""
    spot, call = group.spot, group.spot.node
    torch = device_names(solution).imports.alias(spot.path, "torch")
    dtype = legacy_dtype(group.first.name.rpartition(".")[2])
    if not (dtype and torch and group.first.name.startswith("torch.")):
        return None
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return None
    if not isinstance(call.args[0], (ast.List, ast.Tuple, ast.ListComp)):
        return None  # sizes perhaps
    return finding(
        solution, RULE, spot,
        f"`{short(solution.code(spot))}` takes no device but the CPU",
        _fix(
            DeviceExpression(""),
            edit(solution, spot, "callee", code=f"{torch}.tensor"),
            edit(solution, spot, "keyword", name="dtype", value=f"{torch}.{dtype}"),
        ),
    )  # fmt: skip


def _form(group: Group[Creation], call: ast.Call) -> str:
    """Tell whether a constructor is given sizes or data, or "" where that is not known."""
    if call.keywords:
        return ""
    if not call.args or len(call.args) > 1 or isinstance(call.args[0], ast.Starred):
        return "size"
    argument = call.args[0]
    if _is_size(argument):
        return "size"
    values = {_data(site.args[0][0]) for site in group.sites if site.args}
    return "data" if values == {True} else ""


def _is_size(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.Attribute(attr="shape"):
            return True
        case ast.Subscript(value=inner):
            return _is_size(inner)
        case ast.BinOp(left=left, right=right):
            return _is_size(left) and _is_size(right)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _SIZES
    return False


def _data(value: Value) -> bool:
    if isinstance(value, Seq):
        return all(not isinstance(member, Dict) for member in value.members())
    return value is ARRAY


# -- casts ----------------------------------------------------------------------------------


def _cast(solution: Solution, group: Group[Move]) -> Finding:
    """`x.type(torch.cuda.FloatTensor)`: a move and a cast."""
    spot, call = group.spot, group.spot.node
    torch = device_names(solution).imports.alias(spot.path, "torch")
    name = device_names(solution).name_at(spot)
    given = call.args if isinstance(call, ast.Call) else []
    own = any(_is_its_own(solution, group, argument, name) for argument in given)
    asked = any(_is_asked_for(solution, group, argument, name) for argument in given)
    name = None if own or asked else name
    dtype = legacy_dtype(group.first.type.rpartition(".")[2])
    repair: Fix | None = None
    if name is not None and torch and isinstance(call, ast.Call) and dtype:
        there = _is_there(solution, group, name)
        name = DeviceExpression("") if there else name
        stays = there or _is_moved(call)
        said = f"{torch}.{dtype}" if stays else f"{name.code}, {torch}.{dtype}"
        repair = _fix(
            name,
            edit(solution, spot, "unwrap"),
            edit(solution, spot, "method", code=f".to({said})"),
            alias=_last_word(call.args[0]) if call.args else "",
            dtype=dtype,
        )
    unfixed = _OWN if own else _ASKED if asked else NO_NAME
    return finding(solution, RULE, spot, _message(solution, spot), repair, unfixed=unfixed)


def _is_there(solution: Solution, group: Group[Move], name: DeviceExpression) -> bool:
    """Tell whether what is cast is where callers have their tensors, and only they could say where:
    through a new parameter, or by the other one that is cast beside it."""
    spot = group.spot
    where = {
        solution.place(site.tensor.node)
        for moved in solution.groups_at(TensorMoved, spot.node)
        for site in moved.sites
        if site.tensor is not None
    }
    if not where or not where <= {Place.CENTRAL, Place.FOLLOWS}:
        return False
    if any(change.verb == "parameter" for change in name.edits):
        return True
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.BinOp(left=left, right=right):
            other = right if left is spot.node else left
            said = name.code.removesuffix(".device")
            return name.code != said and _cast_of(other) == said
    return False


def _cast_of(node: ast.expr) -> str:
    """Return the name of what is cast in `x.view(-1).type(kind)`, "" where nothing is."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="type")):
            while isinstance(value, (ast.Call, ast.Attribute)):
                value = value.func if isinstance(value, ast.Call) else value.value
            return value.id if isinstance(value, ast.Name) else ""
    return ""


def _is_moved(cast: ast.Call) -> bool:
    """Tell whether what is cast was moved right before: `x.cuda().type(...)`."""
    match cast.func:
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="cuda"))):
            return True
    return False


# -- names ----------------------------------------------------------------------------------


def _unread_aliases(solution: Solution) -> Iterator[Finding]:
    """Report names of CUDA's tensor types that nothing reads (any more)."""
    for path in solution.programs.files():
        source = solution.project.sources[path]
        if (
            ".cuda." not in source.text
            or "Tensor" not in source.text
            or solution.policy.managed(path)
        ):
            continue
        tree = solution.project.tree(path)
        if tree is None or solution.project.is_package(path):
            continue
        aliased: list[tuple[ast.stmt, set[str]]] = []
        known: set[str] = set()
        for statement in _statements(tree):
            names = _aliased(statement)
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
                    if other in known:
                        names = {name}  # `Tensor = FloatTensor`
            if names:
                known |= names
                aliased.append((statement, names))
        if not aliased:
            continue
        read = {
            node.id
            for node in syntax.walk(tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
        } | solution.programs.taken_from(path)
        for statement, names in aliased:
            if not names & read and "*" not in read:
                spot = Location(path, statement)
                yield finding(
                    solution, RULE, spot, f"nothing reads {', '.join(sorted(names))}",
                    Fix((edit(solution, spot, "delete"),), erasure=ERASURE),
                )  # fmt: skip


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Return the statements of a file, those inside a choice between types not by themselves."""
    inside: set[ast.AST] = set()
    for statement in syntax.statements(tree):
        if statement not in inside:
            yield statement
            if isinstance(statement, ast.If) and _aliased(statement):
                inside.update(syntax.statements(statement)[1:])


def _aliased(statement: ast.stmt) -> set[str]:
    """Return the names that a statement gives to tensor types, if it does nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_type(value):
            return {name}
        case ast.If(body=body, orelse=orelse) if orelse:
            found: set[str] = set()
            for inner in (*body, *orelse):
                names = _aliased(inner)
                if not names:
                    return set()
                found |= names
            if not any(isinstance(n, ast.Call) and n.args for n in syntax.walk(statement.test)):
                return found
    return set()


def _is_type(node: ast.expr) -> bool:
    """Tell whether an expression is one of CUDA's types, or the choice between it and the CPU's."""
    match node:
        case ast.IfExp(body=body, orelse=orelse) if _named_type(body) and _named_type(orelse):
            return ".cuda." in ast.unparse(node)
    return _named_type(node)


def _named_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and legacy_dtype(node.attr) != ""
