"""Options that speak of CUDA, and do not choose where the program computes.

`--use_cuda` of a program whose model goes to CUDA whatever it says: the user has some work done in
another way with it, or keeps results on the CPU. It is not what chooses the device.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samedevice.inference import choices, demands
from samedevice.inference.events import ArmTaken, BranchTaken, ModuleMoved, TensorMoved
from samedevice.inference.sites import Group, SiteGroup
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution


def saying_how(solution: Solution) -> frozenset[str]:
    """Return the files of the programs whose options choose no device.

    An option chooses it where a model is moved under it, or where it gives a name for a device. It
    does not where every model goes to CUDA without it, and so do other tensors, or what it says no
    to is taken back to the CPU. A model in `DataParallel` is enough: that refuses one on the CPU
    where there is CUDA. A loss has nothing that moves, so that its move tells of no choice.
    """
    hides = solution.programs.hides_some
    offers = solution.interpreter.offers
    offering = {spot.path for spot in offers if not hides(spot.path, spot.node)}
    if not offering:
        return frozenset()
    decisions: list[SiteGroup] = [
        group
        for groups in (solution.all_groups(BranchTaken), solution.all_groups(ArmTaken))
        for group in groups
        if any(site.choice for site in group.sites)
    ]
    naming = {group.spot.path for group in decisions if decides(group.spot.node)}
    modules = [group for group in solution.all_groups(ModuleMoved) if group.first.name == "cuda"]
    tensors = [group for group in solution.all_groups(TensorMoved) if group.first.name == "cuda"]
    naming |= {group.spot.path for group in modules if _is_guarded(group) and _has_state(group)}
    unguarded = [group for group in modules if not _is_guarded(group)]
    always = {group.spot.path for group in unguarded}
    beside = {group.spot.path for group in unguarded if _is_spread(group)}
    beside |= {group.spot.path for group in tensors if not _is_guarded(group)}
    beside |= {group.spot.path for group in decisions if _takes_back(group.spot.node)}
    found: set[str] = set()
    choosing: set[str] = set()
    for script, files in solution.programs.scripts():
        if files & offering:
            indexed = choices.indexes(solution.interpreter, script)
            apart = files & always and files & beside and not (files & naming or indexed)
            (found if apart else choosing).update(files)
    return frozenset(found - choosing)


def _is_guarded(group: SiteGroup) -> bool:
    return all(site.under_device_test for site in group.sites)


def _has_state(group: Group[ModuleMoved]) -> bool:
    """Tell whether what is moved has something that moves, as far as it is known."""
    return any(
        site.module.fact is None or site.module.cls is not None or site.module.stateful
        for site in group.sites
    )


def _is_spread(group: Group[ModuleMoved]) -> bool:
    return any(whole.spread for site in group.sites for whole in site.module.wholes())


def decides(node: ast.AST) -> bool:
    """Tell whether a branch gives the name of a device, or makes one."""
    parts: list[ast.AST] = [node] if isinstance(node, ast.IfExp) else list(syntax.walk(node))
    given = [
        value
        for part in parts
        for value in (
            (part.body, part.orelse) if isinstance(part, ast.IfExp)
            else (part.value,) if isinstance(part, (ast.Assign, ast.Return)) else ()
        )
    ]  # fmt: skip
    for value in given:
        match value:
            case ast.Constant(value=str(text)) if text.startswith("cuda"):
                return True
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]) if "cuda" in text:
                return True
            case ast.Call(func=ast.Attribute(attr="device") | ast.Name(id="device")):
                return True
    return False


def _takes_back(node: ast.AST) -> bool:
    """Tell whether the arm of a branch without CUDA takes something to the CPU."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "cpu"
        for part in syntax.walk_all(node.orelse)
    )


def says_how(tree: ast.Module | None, node: ast.AST) -> bool:
    """Tell whether a test says how something is done, and not where: both arms move to a GPU."""
    return tree is not None and node in _saying_how(tree)


@syntax.per_node
def _saying_how(tree: ast.Module) -> frozenset[ast.If]:
    """Return the branches of a file of which both arms move to a GPU.

    What follows a branch that leaves its block is its other arm.
    """
    found: set[ast.If] = set()
    for outer in syntax.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(outer, name, None)
            block = block if isinstance(block, list) else []  # that of a lambda is an expression
            for at, node in enumerate(block):
                if isinstance(node, ast.If) and _moves_anyway(node.body):
                    left = not node.orelse and demands.leaves(node.body)
                    if _moves_anyway(block[at + 1 :] if left else node.orelse):
                        found.add(node)
    return frozenset(found)


def _moves_anyway(body: list[ast.stmt]) -> bool:
    """Tell whether statements move something to a GPU, whatever a test in them says of devices."""
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) if speaks_of_devices(test):
                continue
            case ast.BoolOp(op=ast.And(), values=[test, *_]) if speaks_of_devices(test):
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                continue
            case ast.Call(func=ast.Attribute(attr="cuda")):
                return True
        queue += ast.iter_child_nodes(node)
    return False
