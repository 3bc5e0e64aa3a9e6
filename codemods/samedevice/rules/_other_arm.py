"""What a program loads only where there is a device: the other arm of a test says where else."""

from __future__ import annotations

import ast

from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading.wording import speaks_of_devices

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_other_arm(solution: Solution, spot: Location) -> bool:
    """Tell whether a test of the device decides on a load, and the other arm says where it loads
    the same to."""
    parents = solution.programs.parents(spot.path)
    part: ast.AST | None = spot.node
    while part is not None and not isinstance(part, _FUNCTION):
        inner, part = part, parents.get(part)
        if isinstance(part, ast.If | ast.IfExp) and speaks_of_devices(part.test):
            arms = [(a if isinstance(a, list) else [a]) for a in (part.body, part.orelse)]
            others = [arm for arm in arms if inner not in arm and inner is not part.test]
            if any(_loads_same(each, spot.node) for arm in others for each in arm):
                return True
    return False


def _loads_same(code: ast.AST, load: ast.AST) -> bool:
    """Tell whether some code loads what another call loads, and says where to."""
    return isinstance(load, ast.Call) and any(
        isinstance(node, ast.Call)
        and any(keyword.arg == "map_location" for keyword in node.keywords)
        and ast.dump(node.func) == ast.dump(load.func)
        and list(map(ast.dump, node.args[:1])) == list(map(ast.dump, load.args[:1]))
        for node in ast.walk(code)
    )
