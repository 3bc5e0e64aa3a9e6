"""How code at a place names the device that it should use."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property

from samedevice.finding import DeviceExpression, Edit
from samedevice.inference import Solution
from samedevice.inference.events import BranchTaken, Creation, LegacyCreated
from samedevice.inference.nodes import Location
from samedevice.inference.sites import Group, Site, SiteGroup
from samedevice.inference.values import Device, DeviceTest, PlannedDefinition
from samedevice.reading import syntax
from samedevice.repair import own_object, processes, ranking, spoken, words
from samedevice.repair.asked import Asked
from samedevice.repair.imports import Imports
from samedevice.repair.resolvers import Resolvers


class DeviceNames:
    """Names for devices: the best that can stand at a place (see `ranking`)."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.project = solution.project
        self.interpreter = solution.interpreter
        self.programs = solution.programs
        self.reach = solution.reach
        self.imports = solution.view(Imports)
        self.resolvers = solution.view(Resolvers)
        #: How often what a function creates meets each tensor that it is handed.
        self.met_in: dict[ast.AST, Counter[str]] = {}

    def device_for(self, group: SiteGroup) -> DeviceExpression | None:
        """Return how a place that creates a tensor names the device that this should be on."""
        if own_object.waits_for_library(group.first):
            return None
        return ranking.best(Asked(self, group, "creation"))

    def name_at(self, spot: Location, *, itself: bool = False) -> DeviceExpression | None:
        """Return how an operand names the device it has to go to.

        `itself`: it is the module whose code this is, which cannot follow its own parameters.
        """
        site = self.reach.site_at(spot)
        if site is None:
            return None
        return ranking.best(Asked(self, SiteGroup(spot, [site]), "operand", itself))

    def central_for(self, group: SiteGroup) -> DeviceExpression | None:
        """Return the nearest name for the central device, for what follows no tensor."""
        return ranking.best(Asked(self, group, "other"))

    def built_at(self, site: Site) -> DeviceExpression | None:
        """Return the device's name for a part that the module which is built does not take along.

        Where the module itself is by then says nothing: it moves later.
        """
        return own_object.for_a_part(self, site)

    def of_process(self, site: Site) -> DeviceExpression | None:
        """Return the name of this process's device at a place, to be defined where there is none.

        None where nothing at the place says which process it is.
        """
        return processes.device_of(self, site)

    def asks_for_cuda(self, group: Group[BranchTaken], name: str) -> bool:
        """Tell whether what a branch asks says that there is CUDA, or will: another branch
        asks the same, and gives way to a device that is defined by it."""
        for site in group.sites:
            test = site.scope.lookup(name)
            if not isinstance(test, DeviceTest):
                return False
            planned = test.decides.planned if test.decides is not None else None
            if not test.asks and not (planned and planned.switch and self._is_asked(planned)):
                return False
        return True

    def _is_asked(self, planned: PlannedDefinition) -> bool:
        """Tell whether a branch beside a definition asks the switch that this would set."""
        return any(
            each.spot.path == planned.spot.path
            and isinstance(each.spot.node, ast.If)
            and ast.unparse(each.spot.node.test) == planned.switch
            for each in self.solution.groups(BranchTaken)
        )

    def as_said(self, code: str, site: Site) -> DeviceExpression:
        """Return a device as a place names it."""
        return spoken.as_said(self, code, site)

    def creation_edit(self, group: Group[Creation], name: DeviceExpression) -> Edit:
        """Return the edit that puts a creation on the device: `device=` where the API has it."""
        node = group.spot.node
        called = isinstance(node, ast.Call)
        known = group.first.fact.device and not isinstance(group.first, LegacyCreated)
        if not called and syntax.dotted(node) == group.first.name:
            # `map(torch.tensor, arrays)`
            code = f"{self.solution.code(group.spot)}(data"
            code += f", device={name.code})" if known else f").to({name.code})"
            replaced = (("code", f"lambda data: {code}"),)
            return Edit(group.spot.path, self.solution.span(group.spot), "replace", replaced)
        if called and known:
            given = (("name", "device"), ("value", name.code))
            return Edit(group.spot.path, self.solution.span(group.spot), "keyword", given)
        end = self.solution.span(self.solution.chain_end(group.spot))
        return Edit(group.spot.path, end, "method", (("code", f".to({name.code})"),))

    @cached_property
    def creations_in(self) -> dict[ast.AST, list[Group[Creation]]]:
        """The creations in each function, kind by kind."""
        found: dict[ast.AST, list[Group[Creation]]] = {}
        for group in self.solution.groups(Creation):
            if group.first.scope.func is not None:
                found.setdefault(group.first.scope.func.node, []).append(group)
        return found

    def _may_be_text(self, name: DeviceExpression, spot: Location) -> bool:
        """Tell whether a device comes from a parameter that says no type, and that nobody is seen
        to give: it may be a text, which has none."""
        site = self.reach.site_at(spot)
        held = {code: value for code, value, _ in site.devices}.get(name.code) if site else None
        if not isinstance(held, Device) or held.spot is None:
            return False
        given = held.spot.node
        return isinstance(given, ast.arg) and given.annotation is None

    def kind_of(self, name: DeviceExpression, torch: str, spot: Location) -> str:
        """Return the expression for a device's type ("cuda", "cpu"), or "" where it may have none.

        That is a string without torch's name to convert it, or a parameter that may be None, or a
        text. A string that has no index for certain is its own type.
        """
        if any(edit.verb == "parameter" for edit in name.edits):
            return ""  # callers outside of the project leave it out
        parents = self.programs.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spec = node.args
                optional = [a.arg for a in spec.args[len(spec.args) - len(spec.defaults) :]]
                if name.code in (*optional, *(a.arg for a in spec.kwonlyargs)):
                    return ""
            node = parents.get(node)
        known = words.kind_at(self.programs.tree(spot.path), parents, spot.node, name.code)
        if known:
            return known
        if not name.text:
            return "" if self._may_be_text(name, spot) else f"{name.code}.type"
        if words.is_word(self.programs.tree(spot.path), parents, spot.node, name.code):
            return name.code
        return f"{torch}.device({name.code}).type" if torch else ""
