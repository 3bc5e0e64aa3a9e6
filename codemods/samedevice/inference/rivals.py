"""Options that say where a program computes, beside another one that does, too.

`--device` decides where the model goes, and `--cuda` whether the data do: where they differ, the
program is not what its user meant, and no edit of one of them makes it so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from samedevice.inference.events import Placing
from samedevice.inference.nodes import Location
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: Names that are followed to what they were given, to see which option a test reads.
_HOPS = 2


def rival(solution: Solution, path: str, codes: Collection[str]) -> str:
    """Return an option that decides a device of a file's program, and that code does not read.

    "" if there is none: the code chooses the device by the same option.
    """
    files = solution.programs.of(path)
    others = [each for each in solution.view(_options) if each.path in files]
    if not others:
        return ""
    read = _read(solution, path, set(codes))
    words = {word for code in read for word in re.findall(r"[\w.]+", code)}
    words = {word for word in words if "." in word or word in codes}
    for other in others:
        named = any(re.search(rf"\b{other.name}\b", code) for code in read)
        if not named and not any(re.search(rf"\b{re.escape(w)}\b", other.code) for w in words):
            return other.name
    return ""


class _Option(NamedTuple):
    """An option that decides a device: its file, and the code that makes the device of it."""

    path: str
    name: str
    code: str


def _options(solution: Solution) -> list[_Option]:
    """Return the options by which the programs move or make something."""
    found: dict[_Option, None] = {}
    for group in solution.all_groups(Placing):
        for device in (site.device for site in group.sites):
            if device is None or device.of_value or device.rank is not None:
                continue
            own = [device.spot] if device.spot is not None else []
            code = ast.unparse(own[0].node) if own else ""
            for spot in (*own, *device.node.find().spots):
                found.update((_Option(spot.path, d, code), None) for d in _dest(solution, spot))
    return list(found)


def _dest(solution: Solution, spot: Location) -> Iterator[str]:
    """Yield the attribute under which an option is read whose default an expression is."""
    parents = solution.programs.parents(spot.path)
    keyword = parents.get(spot.node)
    call = parents.get(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(call, ast.Call) or not syntax.dotted(call.func).endswith("add_argument"):
        return
    assert isinstance(keyword, ast.keyword)
    if keyword.arg != "default":
        return
    for given in call.keywords:
        if given.arg == "dest" and isinstance(given.value, ast.Constant):
            yield str(given.value.value)
            return
    names = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
    name = next((each for each in names if each.startswith("--")), names[0] if names else "")
    if name:
        yield name.lstrip("-").replace("-", "_")


def _read(solution: Solution, path: str, codes: set[str]) -> set[str]:
    """Return expressions, and what the names and attributes in them are given in the file."""
    found, new = set[str](), codes
    given = _given(solution.programs.tree(path))
    for _ in range(_HOPS):
        found |= new
        parts = {
            ast.unparse(node)
            for code in new
            for node in ast.walk(ast.parse(code, mode="eval"))
            if isinstance(node, (ast.Name, ast.Attribute))
        }
        new = {value for part in parts for value in given.get(part, ())} - found
    return found | new


@syntax.per_node
def _given(tree: ast.Module) -> dict[str, list[str]]:
    """Return what names and attributes are given in a file, as it is written."""
    found: dict[str, list[str]] = {}
    for statement in syntax.statements(tree):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    found.setdefault(ast.unparse(target), []).append(ast.unparse(statement.value))
    return found
