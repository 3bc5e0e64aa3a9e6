"""The result of moving a tensor is dropped.

Why: `module.to(device)` moves in place, `tensor.to(device)` does not: it returns another tensor.
As a statement it does nothing. Neither does a loop that gives what it moves to its own name: the
container keeps what it had.

Example:

    x.to(device)

    for name, value in batch.items():
        value = value.to(device)

becomes

    x = x.to(device)
    for name, value in batch.items():
        batch[name] = value.to(device)

Fix safety: safe. On a CPU-only machine `.to(device)` returns the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression, Finding, Fix
from samedevice.inference import Solution
from samedevice.inference.events import Dropped
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding, fix, short

#: Methods that give what they are called on, perhaps elsewhere.
_MOVES = ("to", "cpu", "cuda")
#: What only a module is asked for.
_OF_MODULES = frozenset(
    ("children", "eval", "load_state_dict", "modules", "named_modules", "named_parameters")
    + ("parameters", "state_dict", "train", "zero_grad")
)


@syntax.per_node
def _modules(tree: ast.Module) -> frozenset[str]:
    """Return what a file asks for what only modules have, as it names them."""
    found: set[str] = set()
    for node in syntax.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _OF_MODULES:
            owner = node.value
            while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
                if owner.func.attr not in _MOVES:
                    break
                owner = owner.func.value
            found.add(syntax.dotted(owner))
    return frozenset(found - {""})


def find(solution: Solution) -> Iterator[Finding]:
    """Report statements that move a tensor and keep nothing."""
    for group in solution.groups(Dropped):
        statement = group.spot.node
        if isinstance(statement, ast.Assign):
            yield _member(solution, group, statement)
        if len(group.sites) == 0 or not isinstance(statement, ast.Expr):
            continue
        call = statement.value
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        if syntax.dotted(receiver) in _modules(solution.programs.tree(group.spot.path)):
            continue
        repair = None
        # A rebinding of a leaf would be no leaf: its creation is what has to change.
        leaf = any(site.leaf for site in group.sites)
        if not leaf and isinstance(receiver, (ast.Name, ast.Attribute, ast.Subscript)):
            target = solution.code(Location(group.spot.path, receiver))
            value = solution.code(Location(group.spot.path, call))
            change = edit(solution, group.spot, "replace_statement", code=f"{target} = {value}")
            repair = fix(DeviceExpression(""), change)
        yield finding(
            solution, "dropped-move", group.spot,
            f"`{short(solution.code(group.spot))}` returns a moved tensor that nothing keeps",
            repair,
            unfixed="it needs gradients: create it on the device" if leaf
            else "the moved tensor has no name that could keep it",
        )  # fmt: skip


def _member(solution: Solution, group: Group[Dropped], statement: ast.Assign) -> Finding:
    """Report a loop that moves the members of a container, which keeps those that it had."""
    parents = solution.programs.parents(group.spot.path)
    loop = parents.get(statement)
    while loop is not None and not isinstance(loop, ast.For):  # a block in it
        loop = parents.get(loop)
    repair: Fix | None = None
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=key), _]),
            iter=ast.Call(func=ast.Attribute(value=held, attr="items"))
            | ast.Call(args=[ast.Name() | ast.Attribute() as held]),
        ) if isinstance(held, (ast.Name, ast.Attribute)):
            code = f"{solution.code(Location(group.spot.path, held))}[{key}]"
            target = Location(group.spot.path, statement.targets[0])
            repair = fix(DeviceExpression(""), edit(solution, target, "replace", code=code))
    return finding(
        solution, "dropped-move", group.spot,
        f"`{short(solution.code(group.spot))}` moves a member of a container, which keeps the one "
        "that it has",
        repair, unfixed="the container has no name here",
    )  # fmt: skip
