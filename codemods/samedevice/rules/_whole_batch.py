"""Batches that have structure, which one function moves with all that is in them.

A flat batch is moved name by name, as a person writes it. Of lists in mappings, of records and of
what mixes many tensors with texts, each tensor would be moved where it is used, in the model too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import DeviceExpression
from samedevice.inference import Solution
from samedevice.inference.events import Bound, Drawn
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group
from samedevice.inference.values import Tensor
from samedevice.reading import syntax
from samedevice.repair import batch_movers
from samedevice.repair.movers import MoverName, Structure

#: More moves than a person would write one by one.
_MANY = 3


def mover_for(
    solution: Solution, found: list[Group[Drawn]], bound: Bound, device: DeviceExpression
) -> MoverName | None:
    """Return the function that moves the batch of some tensors where it has its name, if one can.

    It can where all that is in the batch is known, nothing in it has to stay on the CPU, and the
    program neither moves a part of it nor puts anything into it.
    """
    structures = _structures(solution, found)
    for structure in structures:
        if structure.unknown or any(_stays(solution, each) for each in structure.tensors):
            return None
    if any(group.first.perhaps or group.first.of_argument for group in found):
        return None
    if _is_filled(bound):
        return None
    return batch_movers(solution).named(bound.spot, structures, device)


def _structures(solution: Solution, found: list[Group[Drawn]]) -> list[Structure]:
    """Return what is in each of the batches that some tensors are parts of."""
    sites = [group.first for group in found]
    roots = dict.fromkeys(root(site) for site in sites if site.whole is not None)
    batches = [s.batch if s.within is not None else s.container for s in sites if s.whole is None]
    return [
        *(solution.structure_of_parts(whole) for whole in roots),
        *(solution.structure(each) for each in dict.fromkeys(batches) if each is not None),
    ]


def root(site: Drawn) -> Drawn:
    """Return the batch of unknown structure that a tensor is a part of, of a part, ..."""
    while isinstance(site.whole, Drawn):
        site = site.whole
    return site


def leaves(solution: Solution, found: list[Group[Drawn]], bound: Bound) -> bool:
    """Tell whether tensors of a batch are used in another function, which got the whole batch."""
    here = solution.programs.function_of(bound.spot)
    return any(
        solution.programs.function_of(entry) is not here
        for group in found
        if group.first.bound is None and group.first.node is not None
        for entry in solution.entries(group.first.node)
    )


def in_one_line(found: list[Group[Drawn]], bound: Bound, held: set[Drawn]) -> bool:
    """Tell whether one statement beside the batch can move what is to be moved, without help.

    Those in `held` can be moved with the container that holds them.
    """
    spots: set[ast.AST | None] = set()
    for group in found:
        site = group.first
        if site.bound is not None and site.bound.inside is bound.inside:
            spots.add(site.bound.spot.node)
        elif site in held and site.held is not None and site.held.inside is bound.inside:
            spots.add(site.held.spot.node)
        else:
            return False
    return len(spots) <= 1


def is_put_together(solution: Solution, found: list[Group[Drawn]], owner: Bound) -> bool:
    """Tell whether the attributes of an object can be moved where it has its name, and are so
    often used that it is worth it.

    What has to stay on the CPU, is private, or is set by the code around, is moved where it is
    used.
    """
    sites = [group.first for group in found]
    if _is_filled(owner) or any(site.attribute.startswith("_") for site in sites):
        return False
    if any(site.perhaps or site.of_argument or _stays_there(solution, site) for site in sites):
        return False
    uses = [solution.entries(site.node) for site in sites if site.node is not None]
    elsewhere = any(
        (solution.programs.function_of(spot) or solution.programs.tree(spot.path))
        is not owner.inside
        for spots in uses
        for spot in spots
    )
    return elsewhere or len(sites) > _MANY or any(len(spots) > 1 for spots in uses)


def are_many(solution: Solution, found: list[Group[Drawn]]) -> bool:
    """Tell whether tensors enter operations at more places than a person would edit."""
    spots = {
        entry.node
        for group in found
        if group.first.node is not None
        for entry in solution.entries(group.first.node)
    }
    return len(spots) > _MANY


def is_spread(solution: Solution, found: list[Group[Drawn]], bound: Bound) -> bool:
    """Tell whether a batch is handed on as keywords: `model(**batch)` has no place for a move."""
    return any(
        isinstance(entry.node, ast.Name) and entry.node.id == bound.name
        for group in found
        if group.first.node is not None
        for entry in solution.entries(group.first.node)
    )


def is_mapping(solution: Solution, spot: Location) -> bool:
    """Tell whether an expression is handed on as keywords: `model(**batch)`."""
    parent = solution.programs.parents(spot.path).get(spot.node)
    return isinstance(parent, ast.keyword) and parent.arg is None


def is_given_as_keywords(solution: Solution, found: list[Group[Drawn]], bound: Bound) -> bool:
    """Tell whether a batch of unknown structure is handed to a library's model as keywords.

    Then all in it are tensors, unless something else takes out of it what is none. What a model of
    the program is handed so may be something else.
    """
    whole = root(found[0].first)
    if whole is found[0].first or not all(_is_read(solution, spot) for spot in _loads(bound)):
        return False
    return not _keeps(solution, whole) and any(
        group.first.node is not None
        and all(is_mapping(solution, entry) for entry in solution.entries(group.first.node))
        for group in found
    )


def moves_itself(solution: Solution, found: list[Group[Drawn]]) -> bool:
    """Tell whether a batch is an object of a library that moves all that it holds."""
    whole = root(found[0].first)
    return whole.moves_itself and not _keeps(solution, whole)


def _keeps(solution: Solution, whole: Drawn) -> bool:
    """Tell whether a part of a batch of unknown structure stays on the CPU, or is moved already."""
    parts = (v for v in whole.parts.values() if isinstance(v, Tensor))
    return any(_stays(solution, part) for part in parts)


def _loads(bound: Bound) -> Iterator[Location]:
    """Return where the name of a batch is read: in its loop, if it has one."""
    loop = isinstance(bound.spot.node, (ast.For, ast.AsyncFor))
    for node in syntax.walk(bound.spot.node if loop else bound.inside):
        if isinstance(node, ast.Name) and node.id == bound.name and isinstance(node.ctx, ast.Load):
            yield Location(bound.spot.path, node)


def _is_read(solution: Solution, spot: Location) -> bool:
    """Tell whether a batch is handed on as keywords here, or one entry of it is read."""
    match solution.programs.parents(spot.path).get(spot.node):
        case ast.Subscript(slice=ast.Constant(), ctx=ast.Load()):
            return True
    return is_mapping(solution, spot)


def _stays(solution: Solution, tensor: Tensor) -> bool:
    """Tell whether a tensor of a batch has to stay on the CPU, or is moved by the program."""
    site = tensor.site
    return not isinstance(site, Drawn) or _stays_there(solution, site)  # no part of what is drawn


def _stays_there(solution: Solution, site: Drawn) -> bool:
    """Tell whether a tensor of a batch is read on the CPU, or moved by the program."""
    if site.node is None or site.moved:
        return True
    return solution.is_needed_on_host(site.node) or solution.serves_host(site.node)


def _is_filled(bound: Bound) -> bool:
    """Tell whether code puts something into a batch, or takes it out: others may see that."""
    for node in _writes(bound.inside):
        owner = node.value
        while isinstance(owner, (ast.Subscript, ast.Attribute)):
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id == bound.name:
            return True
    return False


def _writes(inside: ast.AST) -> Iterator[ast.Subscript | ast.Attribute]:
    for node in syntax.walk(inside):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            yield node
