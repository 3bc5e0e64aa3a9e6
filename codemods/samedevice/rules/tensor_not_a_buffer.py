"""A module keeps a tensor in a plain attribute, so it stays behind when the module moves.

Why: `Module.to` moves parameters and buffers, nothing else. A mask, a positional table or a set of
anchors in a plain attribute stays on the CPU and fails in `forward`. As a buffer it moves along;
`persistent=False` keeps it out of the state dict, so that old checkpoints still load.

Example:

    self.mask = torch.tril(torch.ones(n, n))

becomes

    self.register_buffer("mask", torch.tril(torch.ones(n, n)), persistent=False)

Fix safety: safe. The attribute has the same value under the same name, and the state dict keeps
its keys.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice import torchfacts
from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Creation, PlainTensor, SetLater
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Instance
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, fix, meeting, wanted
from samedevice.rules._create import perhaps_number
from samedevice.rules._shown import shown

#: What modules have beside their methods.
_OF_MODULES = frozenset(("T_destination", "call_super_init", "dump_patches", "training"))


def find(solution: Solution) -> Iterator[Finding]:
    """Report tensors in plain attributes of modules that meet the device."""
    for group in solution.groups(PlainTensor):
        if not wanted(solution, group):
            continue
        if all(
            solution.certain(site.value.node) and solution.on_device(site.value.node)
            for site in group.sites
        ):
            continue  # it was put on the device before it was stored
        if all(_is_number(solution, site) for site in group.sites):
            continue
        if any(site.trained for site in group.sites):
            # A buffer is replaced when the module moves; the optimizer would keep the old tensor.
            if not all(site.value.scalar for site in group.sites):
                yield finding(
                    solution, "tensor-not-a-buffer", group.spot,
                    f"`self.{group.first.name}` is trained but no parameter: it stays on the CPU "
                    "when the module moves",
                    None, origins=meeting(solution, group),
                    unfixed="it has to become an nn.Parameter, which changes the state dict",
                )  # fmt: skip
            continue
        chain = _in_a_row(solution, group)
        if chain and group.spot.node is not chain[-1] and _last_is_told(solution, chain[-1]):
            continue
        found = finding(
            solution, "tensor-not-a-buffer", group.spot,
            f"`self.{group.first.name}` is a plain attribute: it stays on the CPU when the module "
            "moves",
            _register(solution, group, chain), origins=meeting(solution, group),
            unfixed="the attribute is assigned in more than one place, or not by a plain "
            "statement, may be something else than a tensor, or is defined by the class",
        )  # fmt: skip
        yield shown(solution, found, (site.node for site in group.sites))


def _is_number(solution: Solution, site: PlainTensor) -> bool:
    """Tell whether a tensor is made of a parameter alone that is a number by default.

    It has no dimensions, and meets tensors anywhere.
    """
    made, func = site.value.site, site.scope.func
    if not isinstance(made, Creation) or func is None or not perhaps_number(solution, made):
        return False
    given = made.args[0][1].node if made.args else None
    default = syntax.defaults(func.node.args).get(given.id) if isinstance(given, ast.Name) else None
    return isinstance(default, ast.Constant) and isinstance(default.value, (int, float))


def _register(solution: Solution, group: Group[PlainTensor], chain: list[ast.Assign]) -> Fix | None:
    """Return what registers the attribute where it is first assigned; later values stay one."""
    statement = chain[0] if chain else _none_before(solution, group) or group.spot.node
    pairs = syntax.attributes_set(statement)
    names = {site.name for site in group.sites}
    if not all(solution.holds_only_tensors(group.first.scope, name) for name in names):
        return None  # a buffer takes nothing else
    if any(_is_taken(group, name) for name in names):
        return None
    if not pairs or not chain and not all(_set_once(solution, group, name) for name in names):
        return None
    lines = [_assigned(solution, group.spot.path, *pair, names) for pair in pairs]
    place = Location(group.spot.path, statement)
    change = edit(solution, place, "replace_statement", code="\n".join(lines))
    return fix(DeviceExpression(""), change)


def _is_taken(group: Group[PlainTensor], name: str) -> bool:
    """Tell whether an object has something under a name before its method stores a tensor there:
    no buffer can be registered then.

    That is what its classes define, those of torch included, and what a base's `__init__` stored.
    """
    if torchfacts.module_method(name) is not None or name in _OF_MODULES:
        return True
    func, owners = group.first.scope.func, {site.owner.cls for site in group.sites}
    for klass in (each for owner in owners if owner is not None for each in owner.mro()):
        if name in klass.names:
            return True
        for method in klass.node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                if func is None or method is not func.node and func.cls is not klass:
                    if any(_is_store(node, name) for node in syntax.walk(method)):
                        return True
    return False


def _is_store(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)


def _assigned(
    solution: Solution, path: str, target: ast.Attribute, value: ast.expr, names: set[str]
) -> str:
    """Return the assignment of one attribute, as a buffer if it is one of these names."""
    code, owner = solution.code(Location(path, value)), ast.unparse(target.value)
    if target.attr not in names:
        return f"{owner}.{target.attr} = {code}"
    return f'{owner}.register_buffer("{target.attr}", {code}, persistent=False)'


def _set_once(solution: Solution, group: Group[PlainTensor], name: str) -> bool:
    """Tell whether an attribute is set once by `__init__`, and by other methods to new tensors.

    What they store there is a buffer then, too, and is created where the module is. `self.x += y`
    changes the tensor that is there. Another method than `__init__` registers it only while the
    module is built: later, what it makes would be on the CPU again.
    """
    func = group.first.scope.func
    nones = {each.targets[0] for each in _nones(solution, group)}
    stores = [each for each in _stores(group.first.owner, name) if each not in nones]
    if func is None or getattr(func.node, "name", "") != "__init__":
        return len(stores) == 1 and solution.reach.builds(group.first.scope)
    if len(stores) == 1:
        return True
    here = set(syntax.walk(func.node))
    statements = [
        solution.statement_of(Location(group.spot.path, store))
        for store in stores
        if store not in here
    ]
    made = [each.value for each in statements if isinstance(each, ast.Assign)]
    changed = [each for each in statements if isinstance(each, ast.AugAssign)]
    return len(made) + len(changed) == len(stores) - 1 and all(
        isinstance(value, ast.Constant)
        and value.value is None
        or bool(solution.groups_at(Creation, value))
        or _is_computed(solution, group.spot.path, value)
        for value in made
    )


def _none_before(solution: Solution, group: Group[PlainTensor]) -> ast.Assign | None:
    """Return the statement that stores None before the tensor: a buffer begins as None there."""
    first = next(iter(_nones(solution, group)), None)
    line = getattr(group.spot.node, "lineno", 0)
    return (
        first
        if first is not None and first.lineno < line and not _beside(solution, group, first)
        else None
    )


def _nones(solution: Solution, group: Group[PlainTensor]) -> list[ast.Assign]:
    """Return the statements `self.x = None` of `__init__`, one before the tensor is stored at
    most, and those in place of that: in the other arms of an `if`.

    Empty if there is another one: behind it, the attribute would be no buffer any more.
    """
    site = group.first
    func = site.scope.func
    if func is None or getattr(func.node, "name", "") != "__init__":
        return []
    stores = _stores(site.owner, site.name)
    found = [
        each
        for each in syntax.statements(func.node)
        if isinstance(each, ast.Assign)
        and len(each.targets) == 1
        and each.targets[0] in stores
        and isinstance(each.value, ast.Constant)
        and each.value.value is None
    ]
    before = [each for each in found if not _beside(solution, group, each)]
    body = func.node.body if not isinstance(func.node, ast.Lambda) else []
    if len(before) > 1 or not set(before).issubset(syntax.certain(body)):
        return []
    return found


def _beside(solution: Solution, group: Group[PlainTensor], other: ast.stmt) -> bool:
    """Tell whether a statement is in another arm of an `if` that the place is in."""
    parents = solution.programs.parents(group.spot.path)
    inner: ast.AST = group.spot.node
    outer = parents.get(inner)
    while outer is not None:
        if isinstance(outer, ast.If):
            arm = outer.orelse if inner in outer.body else outer.body
            if any(other in syntax.walk(each) for each in arm):
                return True
        inner, outer = outer, parents.get(outer)
    return False


def _is_computed(solution: Solution, path: str, value: ast.expr) -> bool:
    """Tell whether a method stores what is certainly a tensor, and where the module is."""
    statement = solution.statement_of(Location(path, value))
    later = [
        site
        for group in (solution.groups_at(SetLater, statement) if statement is not None else ())
        for site in group.sites
    ]
    return bool(later) and all(
        site.node is not None
        and solution.is_tensor(site.node)
        and solution.evidence.is_there(site.node)
        for site in later
    )


def _in_a_row(solution: Solution, group: Group[PlainTensor]) -> list[ast.Assign]:
    """Return the plain statements that assign an attribute more than once, all in `__init__`.

    Each has to store a tensor: a buffer takes nothing else. Empty if it is assigned elsewhere, too.
    """
    site = group.first
    func = site.scope.func
    if func is None or isinstance(func.node, ast.Lambda) or func.node.name != "__init__":
        return []
    stores = _stores(site.owner, site.name)
    found = [
        statement
        for statement in syntax.certain(func.node.body)
        if isinstance(statement, ast.Assign)
        and any(target in stores for target in statement.targets)
        and len(syntax.attributes_set(statement)) == 1
        and solution.groups_at(PlainTensor, statement)
    ]
    return found if len(found) == len(stores) > 1 else []


def _last_is_told(solution: Solution, last: ast.Assign) -> bool:
    return any(wanted(solution, group) for group in solution.groups_at(PlainTensor, last))


def _stores(owner: Instance, attr: str) -> list[ast.Attribute]:
    """Return where the class assigns the attribute."""
    if owner.cls is None:
        return []
    return [
        node
        for klass in owner.cls.mro()
        for node in syntax.walk(klass.node)
        if isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
    ]
