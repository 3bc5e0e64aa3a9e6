"""The answer of the inference, as rules ask for it."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar, cast

from samedevice import torchfacts
from samedevice.finding import Finding, Origin, Span
from samedevice.inference import apart, escapes, instances, rivals, taken, uncalled, unexplained
from samedevice.inference.answers import Answers, is_parameter
from samedevice.inference.certainty import Watcher
from samedevice.inference.events import (
    Built,
    Creation,
    Drawn,
    GivenDevice,
    HostDemand,
    ModuleMoved,
    PlainContainer,
    PlainTensor,
)
from samedevice.inference.focus import PartialAnalysis
from samedevice.inference.interpret import Interpreter
from samedevice.inference.missing import IN_CONTAINERS, NOTHING_MISSING, Missing, lacking_of, stays
from samedevice.inference.nodes import Clash, Location, Place, PlaceVar
from samedevice.inference.open_events import GivenAway, Handed, MetKept, Undecided
from samedevice.inference.policy import Policy
from samedevice.inference.programs import Programs
from samedevice.inference.reach import InReach
from samedevice.inference.sites import Group, Site, SiteGroup, perhaps_number
from samedevice.inference.values import Const
from samedevice.reading import syntax
from samedevice.reading.project import Project

#: Rules about what stays on the CPU and meets the device.
_LEFT_BEHIND = frozenset(
    (
        "batch-not-moved",
        "device-not-passed",
        "generator-device",
        "not-moved-to-cpu",
        "layers-apart",
        "loss-not-moved",
        "module-left-behind",
        "module-not-moved",
        "module-on-the-cpu",
        "modules-in-plain-container",
        "numpy-boundary",
        "pinned-to-cpu",
        "tensor-not-a-buffer",
        "tensor-not-on-input-device",
        "tensor-without-device",
    )  # fmt: skip
)


#: What makes something that is on the CPU until it is moved.
_MADE = (Drawn, Creation, Built)

_View = TypeVar("_View")
_Event = TypeVar("_Event", bound=Site)
_KINDS: dict[type[Site], tuple[type[Site], ...]] = {}


def _kinds(event: type[_Event]) -> tuple[type[_Event], ...]:
    """Return a class of events and those made from it, as they are defined."""
    known = _KINDS.get(event)
    if known is None:
        inner = (kind for each in event.__subclasses__() for kind in _kinds(each))
        known = _KINDS[event] = (event, *inner)
    return cast("tuple[type[_Event], ...]", known)


class Solution(Answers):
    """Where everything in a project lives.

    `programs` knows the files, `reach` what code at a place can name, and `policy` what is meant
    where a program leaves places open.
    """

    def __init__(self, project: Project, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.project = project
        self.told = interpreter.focus.rest if interpreter.focus is not None else None
        self._groups: dict[type[Site], list[SiteGroup]] = {}
        self._by_node: dict[type[Site], dict[ast.AST, list[SiteGroup]]] = {}
        self._views: dict[object, object] = {}
        self.programs = Programs(project, interpreter.program)
        self.reach = InReach(self)
        self.policy = Policy(self)
        self._group()
        self.policy.settle()

    def view(self, make: Callable[[Solution], _View]) -> _View:
        """Return what another room derives from this solution: made once, and kept as long as the
        solution."""
        if make not in self._views:
            self._views[make] = make(self)
        return cast(_View, self._views[make])

    def _group(self) -> None:
        by_place: dict[tuple[type[Site], ast.AST], SiteGroup] = {}
        for site in self.interpreter.sites:
            key = (type(site), site.spot.node)
            group = by_place.get(key)
            if group is None:
                group = by_place[key] = SiteGroup(site.spot)
                self._groups.setdefault(type(site), []).append(group)
            group.sites.append(site)

    def judges(self, path: str) -> bool:
        """Tell whether code of a file was evaluated: with a focus, of some only."""
        return self.told is None or path in self.interpreter.files

    @property
    def watcher(self) -> Watcher:
        """What noted what arrives at expressions, of a solution that was to watch."""
        assert isinstance(self.interpreter, Watcher)
        return self.interpreter

    def release(self) -> None:
        """Take the solution apart, so that its memory is free at once; it cannot be used any more.

        Its parts refer to each other, and would wait for the collection of garbage otherwise.
        """
        self.interpreter.release()
        vars(self).clear()

    def all_groups(self, event: type[_Event]) -> Iterator[Group[_Event]]:
        """Return the places of an event, those that are left alone too."""
        for kind in _kinds(event):
            yield from cast("list[Group[_Event]]", self._groups.get(kind, []))

    def groups(self, event: type[_Event]) -> Iterator[Group[_Event]]:
        """Return the places of an event that may be changed, in the order of evaluation."""
        for group in self.all_groups(event):
            if group.first.in_worker or self._is_managed(group):
                continue
            if isinstance(group.first, _MADE):
                wanted = [site for site in group.sites if not site.stays]
                if not wanted:
                    continue
                if len(wanted) < len(group.sites):
                    group = Group(group.spot, wanted)
            yield group

    def _is_managed(self, group: Group[_Event]) -> bool:
        """Tell whether others decide what is there: a library that moves modules moves no plain
        tensor of one, and none that its methods make."""
        plain, path = isinstance(group.first, PlainTensor), group.spot.path
        of_moved = all(instances.method_of_moved(site) is not None for site in group.sites)
        plain |= isinstance(group.first, Creation) and of_moved
        return self.policy.managed(path) and not (plain and self.programs.moves_modules(path))

    def groups_at(self, event: type[_Event], node: ast.AST) -> Sequence[Group[_Event]]:
        """Return the places of an event that are this node and may be changed: one, or none."""
        if event not in self._by_node:
            self._by_node[event] = {}
            for group in self.groups(event):
                self._by_node[event].setdefault(group.spot.node, []).append(group)
        return cast("list[Group[_Event]]", self._by_node[event].get(node, []))

    def hosted_groups(self, event: type[_Event]) -> Iterator[Group[_Event]]:
        """Return the places of an event in code of datasets and workers."""
        for group in self.all_groups(event):
            if group.first.in_worker and not self.policy.managed(group.spot.path):
                yield group

    def defaulted(self, node: PlaceVar) -> bool:
        """Tell whether a value is where a parameter's default put it, for want of an argument."""
        return node.find() in self._by_default

    @cached_property
    def _by_default(self) -> set[PlaceVar]:
        return {
            site.node.find()
            for group in self.all_groups(GivenDevice)
            for site in group.sites
            if site.node is not None
            and isinstance(site.device[0], Const)
            and self.left_out(site.device[0]) is not None
        }

    def serves_host(self, node: PlaceVar) -> bool:
        """Tell whether a value is also read where only host memory can be."""
        return node.find() in self._read_on_host

    @cached_property
    def _read_on_host(self) -> set[PlaceVar]:
        return {
            site.node.find()
            for group in self.all_groups(HostDemand)
            for site in group.sites
            if site.node is not None
        }

    def place_of(self, group: SiteGroup) -> Place:
        """Return the strongest requirement on where the value of a site is."""
        places = {self.place(site.node) for site in group.sites}
        for place in (Place.CENTRAL, Place.FOLLOWS, Place.HOST):
            if place in places:
                return place
        return Place.UNKNOWN

    def clashes(self) -> Iterator[tuple[Clash, Location]]:
        """Return the values that are certainly elsewhere and enter an operation on the device.

        Each comes with the outermost expression through which it enters: the argument of a call
        rather than the parameter inside the function.
        """
        for clash in self.graph.clashes:
            spot = self.entry(clash.node, clash.spot, clash.meet.function)
            if not self.policy.managed(spot.path) and not self._on_hearsay(clash):
                yield clash, spot

    def other_side(self, clash: Clash) -> Location:
        """Return the outermost expression through which the other operand of a clash enters."""
        meet = clash.meet
        left = meet.left.find() is clash.node.find()
        spot = meet.right_spot if left else meet.left_spot
        return self.entry(clash.other, spot, meet.function)

    def _on_hearsay(self, clash: Clash) -> bool:
        """Tell whether only a parameter without known callers makes this a clash."""
        places = (self.place(clash.node), self.place(clash.other))
        if Place.FOLLOWS not in places or clash.meet.function is None:
            return False
        scope = self.interpreter.scopes.get(clash.meet.function)  # type: ignore[call-overload]
        if scope is None:
            return False
        return not self.reach.in_module(scope) or self.reach.left_on_host(scope)

    def operands(self, path: str, first: int, last: int) -> list[tuple[Location, PlaceVar]]:
        """Return the operands that meet in lines `first` to `last` of a file, in reading order."""
        found: dict[ast.AST, tuple[Location, PlaceVar]] = {}
        for node in self.graph.nodes:
            for meet in (*node.meets, *node.indexes):
                for spot, operand in ((meet.left_spot, meet.left), (meet.right_spot, meet.right)):
                    line = getattr(spot.node, "lineno", 0)
                    if spot.path == path and first <= line <= last:
                        found[spot.node] = (spot, operand)
        return sorted(found.values(), key=lambda pair: self.span(pair[0]))

    def undecided(self) -> Iterator[SiteGroup]:
        """Return the places where something meets the device of which nothing is known.

        What a module's method hands on of its arguments is left to those who call it; no graph is.
        """
        for group in self.groups(Undecided):
            for site in group.sites:
                if site.callers_unknown or self.place(site.node) is not Place.CENTRAL:
                    continue
                func = site.scope.func
                method = func is not None and self.reach.module_of(site.scope) is not None
                handed_on = func and method and is_parameter(group.spot.node, func.node)
                if not handed_on or site.has_device:
                    yield group
                    break
        yield from self._perhaps_modules()
        yield from self._given_away()
        met = (apart.handed, apart.met, apart.read, apart.not_followed)
        for ask in (*met, unexplained.undecided, escapes.undecided):
            yield from ask(self)
        yield from self.policy.trained_unseen()
        yield from self._perhaps_numbers()

    def kept(self) -> Iterator[Group[MetKept]]:
        """Return what was kept from an earlier call, and meets what is elsewhere in this one."""
        yield from apart.kept(self)

    def rival(self, path: str, codes: Collection[str]) -> str:
        """Return an option that decides a device of a file's program beside what code reads."""
        return rivals.rival(self, path, codes)

    def left_to_callers(self) -> Iterator[SiteGroup]:
        """Return the places where something meets the device that only others decide.

        Unseen callers do, or a trainer of a library. No conversion waits for them: what is called
        runs as it did.
        """
        yield from (group for group in uncalled.met(self) if escapes.left_to_callers(self, group))
        yield from taken.met(self)

    def _perhaps_modules(self) -> Iterator[SiteGroup]:
        """Return what is called with data of the device, in a program that is for the CPU so far.

        If it is a module, nobody moves it.
        """
        for group in self.groups(Handed):
            known = (site for site in group.sites if not site.callers_unknown)
            if group.spot.path in self.policy.converting:
                if any(self.place(site.node) is Place.CENTRAL for site in known):
                    yield group

    def _given_away(self) -> Iterator[SiteGroup]:
        """Return the calls that keep a program for the CPU from being converted.

        They hand a module to a library, and what that calls it with is not known.
        """
        groups = list(self.groups(GivenAway))
        files = self.policy.kept_back() if groups else ()
        yield from (group for group in groups if group.spot.path in files)

    def _perhaps_numbers(self) -> Iterator[SiteGroup]:
        """Return what was loaded onto the CPU and meets the device, if it is no number."""
        seen: set[ast.AST] = set()
        for clash in self.graph.clashes:
            for node, spot, other in (
                (clash.meet.left, clash.meet.left_spot, clash.meet.right),
                (clash.meet.right, clash.meet.right_spot, clash.meet.left),
            ):
                if not perhaps_number(node) or spot.node in seen:
                    continue
                seen.add(spot.node)
                site = self.reach.site_at(spot)
                if site is not None and not self.policy.managed(spot.path):
                    yield SiteGroup(spot, [replace(site, node=other)])

    def incomplete(self, findings: Sequence[Finding]) -> list[Missing]:
        """Return for each finding what keeps its scripts from being converted.

        A script for the CPU moves to the device whole or not at all: nothing of it may be
        undecided, or stay on the CPU for want of a repair. Scripts are tied by the code that they
        share as far as its fixes name the device. What follows its input suits the CPU as well.
        """
        missing = self._missing(findings)
        if not missing:
            return [NOTHING_MISSING] * len(findings)
        runs = [
            (files, {where: script for path in missing if path in files for where in missing[path]})
            for script, files in self.programs.scripts()
        ]
        named = [
            self.policy.converting & found.fix.named_in() if found.fix is not None else set()
            for found in findings
        ]
        ties = dict.fromkeys(frozenset(paths) for paths in named if paths)  # in their order
        size = -1
        while size != (size := sum(len(lacking) for _, lacking in runs)):
            for paths in ties:
                tied = [lacking for files, lacking in runs if files & paths]
                every = {where: by for lacking in tied for where, by in lacking.items()}
                for lacking in tied:
                    lacking.update(every)
        return [
            lacking_of(
                [lacking for files, lacking in runs if files & (paths or {found.path})], paths
            )
            for found, paths in zip(findings, named, strict=True)
        ]

    def _missing(self, findings: Iterable[Finding]) -> dict[str, list[str]]:
        """Return for each file for the CPU what is not decided in it, or has no repair."""
        if not self.policy.converting:
            return {}
        places = [
            (group.spot.path, getattr(group.spot.node, "lineno", 0)) for group in self.undecided()
        ]
        places += [
            (found.path, found.span.line)
            for found in findings
            if found.rule in _LEFT_BEHIND and stays(found)
        ]
        places += self._contained(findings)
        missing: dict[str, list[str]] = {}
        for path, line in places:
            if path in self.policy.converting:
                missing.setdefault(path, []).append(self.project.sources[path].where(line))
        return missing

    def _contained(self, findings: Iterable[Finding]) -> list[tuple[str, int]]:
        """Return where modules are put into containers, and neither code nor a fix moves them."""
        repaired = {
            (found.path, found.span.line)
            for found in findings
            if found.rule == IN_CONTAINERS and found.fix is not None and found.fix.safe
        }
        places = [
            (group.spot.path, getattr(group.spot.node, "lineno", 0))
            for group in self.groups(PlainContainer)
            if group.first.left_behind()
        ]
        return [place for place in places if place not in repaired]

    def span(self, spot: Location) -> Span:
        """Return the range of an expression or statement."""
        return self.project.sources[spot.path].span(spot.node)

    def code(self, spot: Location) -> str:
        """Return an expression as it is written."""
        return self.project.sources[spot.path].segment(spot.node)

    def statement_of(self, spot: Location) -> ast.stmt | None:
        """Return the innermost statement that an expression is in, or the statement itself."""
        parents = self.programs.parents(spot.path)
        node: ast.AST | None = spot.node
        while node is not None and not isinstance(node, ast.stmt):
            node = parents.get(node)
        return node

    def chain_end(self, spot: Location) -> Location:
        """Return the end of a chain of methods that only look at the value; a leaf stays one."""
        parents, node = self.programs.parents(spot.path), spot.node
        while True:
            attribute = parents.get(node)
            call = parents.get(attribute) if attribute is not None else None
            if not (
                isinstance(attribute, ast.Attribute)
                and isinstance(call, ast.Call)
                and call.func is attribute
            ):
                return Location(spot.path, node)
            fact = torchfacts.tensor_method(attribute.attr)
            looks = fact is not None and fact.kind == "view" and fact.out in ("tensor", "self")
            if not looks or attribute.attr == "requires_grad_":
                return Location(spot.path, node)
            node = call

    def origin(self, node: PlaceVar | None, text: str) -> tuple[Origin, ...]:
        """Return where a value's place comes from."""
        if node is None:
            return ()
        root = node.find()
        spot = root.reason or root.pin_spot or (root.spots[0] if root.spots else None)
        known = spot is not None and spot.path in self.project.sources
        if spot is None or not known or not hasattr(spot.node, "lineno"):
            return ()
        return (Origin(spot.path, self.span(spot), text),)

    def returned(self, group: SiteGroup) -> bool:
        """Tell whether what is made at a place is what its function returns, to known callers."""
        func = group.first.scope.func
        if func is None or isinstance(func.node, ast.Lambda):
            return False
        if not all(self.on_device(s.node) and s.scope.call is not None for s in group.sites):
            return False
        match self.statement_of(group.spot):
            case ast.Return(value=value):
                return value is group.spot.node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                uses = [n for n in syntax.walk(func.node) if isinstance(n, ast.Name)]
                stored = sum(n.id == name and isinstance(n.ctx, ast.Store) for n in uses)
                ends = [n.value for n in syntax.walk(func.node) if isinstance(n, ast.Return)]
                return (
                    value is group.spot.node
                    and stored == 1
                    and all(isinstance(end, ast.Name) and end.id == name for end in ends)
                )
        return False

    def moves_itself(self, group: SiteGroup) -> bool:
        """Tell whether a method moves its own module, or a part of it."""
        if not isinstance(group.first, ModuleMoved):
            return False
        module = self.reach.module_of(group.first.scope)
        return module is not None and module in group.first.module.wholes()


def infer(
    project: Project,
    program: frozenset[str] | None = None,
    step: Callable[[int], None] = lambda files: None,
    focus: PartialAnalysis | None = None,
    *,
    watch: bool = False,
) -> Solution:
    """Find where everything in a project lives. Nothing of it is imported or run.

    With `program`, one of the values of `project.programs`, only for those files: no other file
    affects the places there. `step` is called now and then with about how many more files are done;
    what it raises ends the inference. A `focus` leaves out what it does not name. With `watch`,
    `Solution.doubts` can be asked.
    """
    enabled = gc.isenabled()
    gc.disable()  # all that is made here lives until the answer does
    try:
        interpreter = (Watcher if watch else Interpreter)(project, program, focus)
        interpreter.step = step
        try:
            interpreter.run()
        except BaseException:
            interpreter.release()  # nobody waits for it: typing goes on
            raise
        return Solution(project, interpreter)
    finally:
        if enabled:
            gc.enable()
