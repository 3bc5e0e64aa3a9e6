"""Where every expression of a file lives, and the sites behind it: for showing, not for judging.

`infer` keeps what rules ask for. A trace is the same evaluation that also keeps what each
expression gave and what that was made from, so that a value can be followed back through calls and
files to the site that decided its place.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from samedevice.finding import Span
from samedevice.inference.events import (
    Cloned,
    Copied,
    Creation,
    GeneratorMade,
    GivenDevice,
    Placed,
    Placing,
)
from samedevice.inference.focus import PartialAnalysis
from samedevice.inference.marks import MADE, MOVES, Marks
from samedevice.inference.nodes import ON_DEVICE, Agree, Location, Place, PlaceVar
from samedevice.inference.objects import Instance, Union
from samedevice.inference.sites import Site
from samedevice.inference.solution import Solution
from samedevice.inference.tracer import Tracer, members
from samedevice.inference.values import Device, Dict, Seq, Tensor, Value
from samedevice.inference.whereabouts import Whereabouts, is_moved, node_of
from samedevice.reading.project import Project

#: Sites of a chain that are told.
_LONGEST = 8

#: How a place is told to people, after "is" and "moved".
WORDS = {
    Place.HOST: "on the CPU",
    Place.CENTRAL: "on the project's device",
    Place.FIXED: "on a device that the code names",
    Place.FOLLOWS: "where its input is",
    Place.UNKNOWN: "in a place that is not known",
}

#: The same in a word or two, for labels.
NAMES = {
    Place.HOST: "CPU", Place.CENTRAL: "device", Place.FIXED: "pinned", Place.FOLLOWS: "as input",
    Place.UNKNOWN: "unknown",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """What happened to a value at one site, and where the value was then."""

    what: str
    place: Place
    path: str
    span: Span
    code: str


@dataclass(frozen=True)
class Life:
    """Where the value of one expression lives.

    `kind`: "tensor", "module", "generator", "device", or what a site does: "created", "moved", ...
    `place` is where it is as the code is written, `wanted` where it has to be if that is elsewhere;
    `device` is the name of a second device. `varies`: callers differ, so `place` is "follows".
    `before` is where the value of a move or a read was.
    """

    span: Span
    kind: str
    place: Place
    wanted: Place | None
    device: str
    varies: bool
    chain: tuple[Event, ...]
    before: Place | None = None


class Trace:
    """The places of a program's expressions; `solution` is what rules would be asked about."""

    def __init__(self, project: Project, tracer: Tracer) -> None:
        self.solution = Solution(project, tracer)
        self._tracer = tracer
        self._sites: dict[ast.AST, Site] = {}
        for site in tracer.sites:
            known = self._sites.get(site.spot.node)
            if known is None or type(known) not in (*MADE, *MOVES):
                self._sites[site.spot.node] = site
        self._where = Whereabouts(self.solution, tracer, self._sites)
        self.place = self._where.place
        self.places = self._where.places
        self.paths = self._where.paths
        self.possible = self._where.possible
        self._chains: dict[Value, tuple[Event, ...]] = {}

    def lives(self, path: str) -> list[Life]:
        """Return the tensors, modules, moves and devices of a file, in reading order.

        Their spans do not overlap.
        """
        tree = self.solution.project.tree(path)
        if tree is None:
            return []
        marks = Marks(self.solution.project, path, self._tracer.seen, self._sites)
        found = [life for node, kind, span in marks.find(tree)
                 if (life := self._life(node, kind, span)) is not None]  # fmt: skip
        return sorted(found, key=lambda life: life.span)

    def meetings(self, path: str, span: Span) -> list[tuple[Span, Place, tuple[Event, ...]]]:
        """Return the operands of the operation at a place: where each is written, and its chain.

        `span` may also be that of one operand: then its operation is meant.
        """
        found: dict[tuple[str, Span], tuple[Span, Place, tuple[Event, ...]]] = {}
        for meet in self._meets.get((path, span), ()):
            for side in (meet.left_spot, meet.right_spot):
                if not hasattr(side.node, "lineno"):
                    continue
                where = self.solution.span(side)
                for value in self._tracer.seen.get(side.node, ())[:1]:
                    found[side.path, where] = where, self.place(value), self.chain(value)
        return list(found.values())

    @cached_property
    def _meets(self) -> dict[tuple[str, Span], list[Agree]]:
        """The meetings by operation and by operand."""
        found: dict[tuple[str, Span], list[Agree]] = {}
        done: set[int] = set()
        for node in self.solution.graph.nodes:
            for meet in (*node.meets, *node.indexes):
                if id(meet) in done:
                    continue
                done.add(id(meet))
                for spot in {meet.operation, meet.left_spot, meet.right_spot}:
                    if hasattr(spot.node, "lineno"):
                        found.setdefault((spot.path, self.solution.span(spot)), []).append(meet)
        return found

    # -- places -----------------------------------------------------------------------------

    # -- chains -----------------------------------------------------------------------------

    def chain(self, value: Value) -> tuple[Event, ...]:
        """Return the sites behind the place of a value, the earliest first."""
        known = self._chains.get(value)
        if known is None:
            known = self._chains[value] = tuple(self._walk(value))[:_LONGEST][::-1]
        return known

    def _walk(self, value: Value) -> Iterator[Event]:
        """Tell the sites that a value went through, the latest first, up to where it was made."""
        done: set[Value] = set()
        told: set[ast.AST] = set()
        open_ = [value]  # the last is the most likely to say why the place is what it is
        while open_:
            at = open_.pop()
            if at in done:
                continue
            done.add(at)
            if isinstance(at, Instance):
                yield from self._module_steps(at, told)
                return
            spot, _ = self._tracer.births.get(at, (None, ()))
            site = self._where.site(at)
            if isinstance(at, Device):
                if spot is not None:
                    yield self._step("device chosen", self.place(at), spot)
            elif site is not None and type(site) in (*MADE, *MOVES):
                if site.spot.node not in told:
                    told.add(site.spot.node)
                    yield from self._chosen(at, site)
                    yield self._step(MADE.get(type(site), "moved"), self.place(at), site.spot)
                if type(site) in MADE and not isinstance(site, (Cloned, Copied)):
                    return
                open_.clear()
            elif spot is not None and isinstance(spot.node, ast.arg):
                yield self._step("handed in", self.place(at), spot)
                return
            open_ += self._before(at)

    def _before(self, at: Value) -> list[Value]:
        """Return the sources of a value, last the one that its place comes from most likely."""
        if isinstance(at, (Seq, Dict, Union)):
            return members(at)[:1]
        node, place = node_of(at), self.place(at)

        def likely(source: Value) -> tuple[bool, bool, bool]:
            other = node_of(source)
            same = node is not None and other is not None and node.find() is other.find()
            return self.place(source) is place, source in self._tracer.births, same

        return sorted(self._where.sources(at), key=likely)

    def _module_steps(self, module: Instance, told: set[ast.AST]) -> Iterator[Event]:
        """Tell, the latest first, where a module or what holds it was moved and built."""
        moves = next((whole.moves for whole in module.wholes() if whole.moves), [])
        for spot in moves[::-1][:2]:
            if spot.node not in told and isinstance(spot.node, ast.expr):
                told.add(spot.node)
                root = module.node.find() if module.node is not None else None
                if root is not None and root.pin_spot is not None:
                    if isinstance(root.pin_spot.node, ast.expr) and root.pin_spot.node not in told:
                        told.add(root.pin_spot.node)
                        if not _inside(root.pin_spot, spot):
                            yield self._step("device chosen", self.place(module), root.pin_spot)
                yield self._step("moved", self.place(module), spot)
        if module.site is not None:
            place = Place.HOST if moves else self.place(module)
            yield self._step("built", place, module.site.spot)

    def _chosen(self, value: Value, site: Site) -> Iterator[Event]:
        """Tell where the device was chosen that a value was put on."""
        if not isinstance(site, (Placing, GivenDevice)):
            return
        node = node_of(value)
        spot = node.find().pin_spot if node is not None else None
        if spot is not None and isinstance(spot.node, ast.expr) and not _inside(spot, site.spot):
            yield self._step("device chosen", self.place(value), spot)

    def _step(self, what: str, place: Place, spot: Location) -> Event:
        code = self.solution.code(spot)
        return Event(what, place, spot.path, self.solution.span(spot), code)

    # -- what is shown ------------------------------------------------------------------------

    def _life(self, node: ast.AST, kind: str, span: Span) -> Life | None:
        values = self._tracer.seen.get(node, [])
        site = self._sites.get(node)
        if not values and kind == "device" and site is not None and site.node is not None:
            values = [Device(site.node, site.spot)]
        values = _kept([value for value in values if self._is_shown(value)])
        if kind == "read":
            values = [v for v in values if self.place(v) in (*ON_DEVICE, Place.FIXED)]
        if not values:
            return None
        places = {p: value for value in reversed(values) for p in self.places(node, value)}
        if len(places) > 1:
            places.pop(Place.UNKNOWN, None)
        place, value = next(reversed(places.items()))
        varies = len(places) > 1
        chains = [self.chain(one) for one in reversed(places.values())]
        root = node_of(value)
        steps = tuple(dict.fromkeys(step for chain in chains for step in chain))
        name = root.find().name if root is not None and place is Place.FIXED else ""
        if kind == "read":
            return Life(span, kind, Place.HOST, None, "", False, steps, place)
        moved = isinstance(value, Instance) and place is not self.place(value)
        wanted = self._wanted(value, place) if not (varies or moved) else None
        before: Place | None = None
        if kind == "moved":
            before = next((self.place(source) for source in self._where.sources(value)), None)
            before = Place.HOST if isinstance(value, Instance) and before is None else before
        return Life(
            span, kind or _kind(value), Place.FOLLOWS if varies else place, wanted, name, varies,
            steps, before,
        )  # fmt: skip

    def _wanted(self, value: Value, place: Place) -> Place | None:
        """Return where a value has to be, if that is not where it is."""
        node = node_of(value)
        inferred = self.solution.place(node)
        if isinstance(value, Instance) and place is Place.FOLLOWS:
            return None
        if inferred is place or inferred is Place.UNKNOWN or node is None:
            return Place.CENTRAL if self.solution.clashing(node) else None
        return inferred

    def _is_shown(self, value: Value) -> bool:
        """Tell whether a value is known to be a tensor or module rather than only used like one."""
        node = node_of(value)
        if node is None:
            inner = members(value)
            return self.place(value) is not Place.UNKNOWN and all(map(self._is_shown, inner))
        if isinstance(value, (Instance, Device)) or self._is_tensor(node.find()):
            return True
        return self.place(value) in (Place.CENTRAL, Place.HOST, Place.FIXED)

    def _is_tensor(self, root: PlaceVar) -> bool:
        """Tell whether a value is a tensor: it is used with one, or asked for its device."""
        if root.is_tensor or root in self._tensors:
            return True
        others = (
            (meet.right if meet.left.find() is root else meet.left).find() for meet in root.meets
        )
        return any(other.is_tensor or other in self._tensors for other in others)

    @cached_property
    def _tensors(self) -> set[PlaceVar]:
        """What is a tensor although the inference, for which use is no proof, is not sure."""
        found = {
            site.node.find()
            for site in self._tracer.sites
            if site.node is not None and isinstance(site, (Creation, GeneratorMade, Placed))
        }
        for value, (_, parts) in self._tracer.births.items():
            if isinstance(value, Device):
                found.update(part.node.find() for part in parts if isinstance(part, Tensor))
        return found


def trace(
    project: Project, program: frozenset[str] | None = None, of_tests: bool = False,
    step: Callable[[int], None] | None = None, focus: PartialAnalysis | None = None,
) -> Trace:  # fmt: skip
    """Evaluate a project, or one program of it, as `infer` does, and keep what everything gave.

    `of_tests`: also what a project's tests hand to the code that they share with it. `step` and
    `focus` are as in `infer`.
    """
    enabled = gc.isenabled()
    gc.disable()  # all that is made here lives until the answer does
    try:
        tracer = Tracer(project, program, of_tests, focus)
        if step is not None:
            tracer.step = step
        tracer.run()
        return Trace(project, tracer)
    finally:
        if enabled:
            gc.enable()


def _kind(value: Value) -> str:
    if isinstance(value, Union):
        return _kind(value.options[0])
    if isinstance(value, Device):
        return "device"
    if isinstance(value, (Seq, Dict)):
        return "tensors"
    if isinstance(value, Instance):
        return "module" if value.family in ("module", "owned") else value.family or "module"
    return "tensor"


def _kept(values: list[Value]) -> list[Value]:
    """Leave out layers that a list in a loop forgot: others that were built there have a place."""
    forgotten = [
        value
        for value in values
        if isinstance(value, Instance)
        and value.site is not None
        and value.site.in_constructor
        and not is_moved(value)
        and value.parent is None
    ]
    return [value for value in values if value not in forgotten] or values


def _inside(inner: Location, outer: Location) -> bool:
    return inner.path == outer.path and any(node is inner.node for node in ast.walk(outer.node))


__all__ = ["WORDS", "Event", "Life", "Trace", "trace"]
