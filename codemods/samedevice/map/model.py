"""Project -> what a map shows: files with their marks, clashes, and how the files hang together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ..finding import UNDECIDED, Finding, Span
from ..inference.nodes import Place
from ..inference.trace import Event, Life, Trace, trace
from ..migration.check import is_wrong
from ..reading.project import Project
from ..reading.source import Source, SourceError

_ON_DEVICE = (Place.CENTRAL, Place.FIXED)


@dataclass(frozen=True)
class At:
    """A range in a file."""

    path: str
    span: Span


@dataclass(frozen=True)
class Clash:
    """Two values that meet in different places, or a finding about one.

    `origin` is where the place of the value was decided that is elsewhere, `meeting` where it meets
    the other, and `other` where that one's place was decided; None for what does not apply.
    """

    finding: Finding
    origin: At
    origin_place: Place
    meeting: At | None
    other: At | None
    other_place: Place


@dataclass
class File:
    """One file with what is known of it; `targets` are the files that it imports."""

    source: Source
    lives: list[Life]
    clashes: list[Clash] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The path as it was given."""
        return self.source.path

    @property
    def counts(self) -> Counter[Place]:
        """How many values are in each place."""
        return Counter(life.place for life in self.lives if life.kind != "device")

    @property
    def enters(self) -> list[Life]:
        """Where values are put on the device: moved there, or created there."""
        return [
            life for life in self.lives
            if life.place in _ON_DEVICE and (
                life.kind == "moved" and life.before not in _ON_DEVICE or life.kind == "created"
            )
        ]  # fmt: skip

    @property
    def leaves(self) -> list[Life]:
        """Where values are taken off the device."""
        return [
            life for life in self.lives
            if life.kind in ("moved", "read") and life.place is Place.HOST
            and life.before in (*_ON_DEVICE, Place.FOLLOWS)
        ]  # fmt: skip


@dataclass
class View:
    """One state of a project: its files in reading order, and what could not be read."""

    files: dict[str, File]
    errors: list[SourceError]

    @property
    def counts(self) -> Counter[Place]:
        """How many values are in each place."""
        return sum((file.counts for file in self.files.values()), Counter())

    @property
    def clashes(self) -> list[Clash]:
        """All clashes and findings, in reading order."""
        return [clash for file in self.files.values() for clash in file.clashes]


def view(project: Project, found: Iterable[Finding], only: Collection[str] = ()) -> View:
    """Infer all places of a project in which `check` has `found` something.

    With `only`, the programs (files connected by imports) that none of these files is in are left
    out.
    """
    files: dict[str, File] = {}
    wrong = [each for each in found if is_wrong(each) or each.rule == UNDECIDED]
    for part in project.parts():
        for program in dict.fromkeys(part.programs.values()):
            if only and program.isdisjoint(only):
                continue
            traced = trace(part, program)
            modules = _modules(traced)
            for path in program:
                if part.tree(path) is not None:
                    file = files[path] = File(part.sources[path], traced.lives(path))
                    file.modules = modules.get(path, [])
                    file.targets = sorted(part.imports.get(path, ()))
            for finding in wrong:
                if finding.path in program and finding.path in files:
                    files[finding.path].clashes.append(_clash(finding, traced, files[finding.path]))
    return View(dict(sorted(files.items())), project.errors)


def _modules(traced: Trace) -> dict[str, list[str]]:
    """Return the names of the classes of modules that each file defines."""
    found: dict[str, list[str]] = {}
    for klass in traced.solution.interpreter.classes:
        if klass.family == "module":
            found.setdefault(klass.scope.path, []).append(klass.node.name)
    return found


def _clash(finding: Finding, traced: Trace, file: File) -> Clash:
    """Find the two sides of what a finding is about."""
    here = At(finding.path, finding.span)
    for origin in finding.origins[:1]:
        there = At(origin.path, origin.span)
        if _overlap(here, there):
            break
        operands = traced.meetings(there.path, there.span)
        if operands:
            return _sides(finding, here, there, operands)
        operands = traced.meetings(here.path, here.span)
        if operands:
            return _sides(finding, there, here, operands)
    operands = traced.meetings(here.path, here.span)
    for span, _, chain in operands:
        step = _deciding(chain)
        if span == here.span and step is not None:
            return _sides(finding, At(step.path, step.span), here, operands)
    for life in file.lives:  # what has to be on the CPU meets nothing else
        step = _deciding(life.chain)
        if life.place in (*_ON_DEVICE, Place.FOLLOWS) and step is not None:
            if _overlap(At(file.path, life.span), here):
                return Clash(finding, At(step.path, step.span), life.place, here, None, life.place)
    return Clash(finding, here, Place.HOST, None, None, Place.CENTRAL)


def _sides(
    finding: Finding, origin: At, meeting: At,
    operands: Sequence[tuple[Span, Place, tuple[Event, ...]]],
) -> Clash:  # fmt: skip
    """Tell the operand whose place was decided at `origin` from the other."""
    own = Place.HOST
    other: tuple[At, Place] | None = None
    for _, place, chain in operands:
        step = _deciding(chain)
        if any(_overlap(At(one.path, one.span), origin) for one in chain):
            own = place
        elif step is not None and (other is None or place in _ON_DEVICE):
            other = At(step.path, step.span), place
    if other is None:
        return Clash(finding, origin, own, meeting, None, Place.CENTRAL)
    return Clash(finding, origin, own, meeting, *other)


def _deciding(chain: Sequence[Event]) -> Event | None:
    """Return the step of a chain that put the value where it is."""
    steps = [step for step in chain if step.what != "device chosen"]
    return steps[-1] if steps else None


def _overlap(left: At, right: At) -> bool:
    a, b = left.span, right.span
    if left.path != right.path:
        return False
    return (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (
        a.end_line, a.end_column,
    )  # fmt: skip


def marked(before: View, after: View | None, paths: Iterable[str]) -> list[str]:
    """Return the files that have something to show: a value, or a finding."""
    return [
        path for path in paths
        if any(
            view is not None and path in view.files
            and (view.files[path].lives or view.files[path].clashes)
            for view in (before, after)
        )
    ]  # fmt: skip
