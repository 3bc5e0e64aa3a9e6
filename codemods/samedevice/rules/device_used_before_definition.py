"""A device is used under a name that nothing has defined yet.

Why: snippets are pasted without the line that defines `device`, or it stands further down.

Example:

    model = Net().to(device)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

becomes

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    model = Net().to(device)

In a method of an object that has a device under that name, `self.device` is what is meant.

Fix safety: safe. The program could not run before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.finding import Finding, Fix, Resolver
from samedevice.inference import Solution
from samedevice.inference.events import UndefinedDevice
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.rules._build import edit, finding


def find(solution: Solution) -> Iterator[Finding]:
    """Report names of devices that are bound later or nowhere."""
    done: set[tuple[str, str]] = set()
    for group in solution.groups(UndefinedDevice):
        name = group.first.name
        held = _held(solution, group.spot, name)
        if held:
            own = Fix((edit(solution, group.spot, "replace", code=held),))
            yield finding(
                solution, "device-used-before-definition", group.spot,
                f"`{name}` is defined nowhere; the object has it: `{held}`", own,
            )  # fmt: skip
            continue
        if (group.spot.path, name) in done:
            continue
        done.add((group.spot.path, name))
        later = _definitions(solution, group.spot.path, name)
        repair: Fix | None = None
        edits = tuple(
            edit(solution, Location(group.spot.path, statement), "delete") for statement in later
        )
        if len(later) <= 1:
            repair = Fix(edits, resolvers=(Resolver(group.spot.path, name),))
        yield finding(
            solution, "device-used-before-definition", group.spot,
            f"`{name}` is used as a device "
            + ("before it is defined" if later else "but defined nowhere"),
            repair, unfixed="it is defined in more than one place",
        )  # fmt: skip


def _held(solution: Solution, spot: Location, name: str) -> str:
    """Return the device that the object of a method has, if it has it by that very name.

    Or by that of its options, and its class says so elsewhere: `self.args.device`.
    """
    if not isinstance(spot.node, ast.Name) or _definitions(solution, spot.path, name):
        return ""
    site = solution.reach.site_at(spot)
    if site is None:
        return ""
    known = {code for code, value, _ in site.devices if solution.reach.is_central(value)}
    known |= {code for code, _, _ in site.devices if code == f"self.{name}"}
    func = site.scope.func
    around = func.cls.node if func is not None and func.cls is not None else None
    said = [
        ast.unparse(node)
        for node in (syntax.walk(around) if around is not None else ())
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    ]
    held = [code for code in said if code in known and code.endswith(f".{name}")]
    return f"self.{name}" if f"self.{name}" in known else next(iter(held), "")


def _definitions(solution: Solution, path: str, name: str) -> list[ast.stmt]:
    tree = solution.project.tree(path)
    return [
        statement
        for statement in (tree.body if tree is not None else ())
        if isinstance(statement, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
    ]
