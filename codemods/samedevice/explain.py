"""What a pasted traceback says about a project, without running it.

The message is classified first: many that look like it are no matter of devices. Then the statement
is found, its operands get the places that inference finds and torch saw, and the findings that
explain the clash are listed, those of the statement before all others.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from . import inference
from .finding import UNDECIDED, Finding, Origin
from .inference.events import (
    Built,
    Cloned,
    Copied,
    Creation,
    Drawn,
    FirstItem,
    GeneratorMade,
    HostRead,
    Loaded,
    PlainTensor,
)
from .inference.nodes import Location, Place, PlaceVar
from .inference.solution import Solution
from .migration.check import check, is_wrong
from .prove import topics, tracebacks
from .prove.clash import Frame, Kind, Message
from .prove.topics import Topic
from .reading.config import Config
from .reading.project import Project
from .reading.source import Source

_MEETING = frozenset(
    {
        "batch-not-moved", "device-not-passed", "generator-device", "layers-apart",
        "legacy-constructor", "load-without-map-location", "loss-not-moved", "module-left-behind",
        "module-not-moved", "modules-in-plain-container", "dropped-move", "numpy-boundary",
        "pinned-to-cpu", "tensor-not-a-buffer", "tensor-not-on-input-device", "tensor-type",
        "tensor-without-device", "undecided",
    }
)  # fmt: skip
_NAMED = frozenset(
    {
        "hard-coded-device", "cuda-only-api", "amp-tied-to-cuda", "cuda-branch",
        "device-default-at-import", "processes-tied-to-cuda", "resolver-for-cuda-only",
        "tensor-type",
    }
)  # fmt: skip

#: Which rules find what a message of a kind can come from.
CAUSES: dict[Kind, frozenset[str]] = {
    "mismatch": _MEETING,
    "numpy": frozenset({"not-moved-to-cpu"}),
    "lengths": frozenset({"lengths-on-device"}),
    "indices": _MEETING,
    "generator": frozenset({"generator-device"}),
    "storage": _MEETING,
    "replicas": _MEETING,
    "load": frozenset({"load-without-map-location"}) | _NAMED,
    "fork": frozenset({"dataset-touches-device"}),
    "pin": frozenset({"dataset-touches-device"}),
    "missing": _NAMED,
    "ordinal": _NAMED,
}

# Names that torch's kernels have for what a module is given, and for what it holds itself.
_GIVEN = frozenset({"mat1", "input", "index", "indices", "vec1"})
_HELD = frozenset({"mat2", "weight", "bias", "mat", "running_mean", "running_var", "parameter"})

#: Kinds of sites that decide where a value is.
_SOURCES = (
    Creation, Loaded, Drawn, FirstItem, PlainTensor, Built, Cloned, Copied, GeneratorMade,
)  # fmt: skip


@dataclass(frozen=True)
class Meeting:
    """An operand of the statement that failed: its code, its place and where that comes from.

    `certain` is false where nothing puts it there and it only has to be. `told` is true where
    torch's message says where it is, and the code that was read does not.
    """

    code: str
    place: Place
    origins: tuple[Origin, ...]
    certain: bool = True
    told: bool = False

    @property
    def on_device(self) -> bool | None:
        """Whether it is on a device; None where that is not known."""
        if self.place in (Place.UNKNOWN, Place.FOLLOWS):
            return None
        return self.certain and self.place is not Place.HOST


@dataclass(frozen=True)
class Explanation:
    """What a traceback says about a project.

    `topic` is what the message is about; of what is no matter of devices only the statement is
    told. `path` and `line` are the statement; both are empty when no frame is in the project.
    `findings` are those that explain it, the nearest first, and `elsewhere` those that can raise
    such a message, where none is near. `doubt` says what of the message the code does not show.
    """

    exception: str
    message: str
    topic: Topic = "device"
    path: str = ""
    line: int = 0
    code: str = ""
    operands: tuple[Meeting, ...] = ()
    findings: tuple[Finding, ...] = ()
    elsewhere: tuple[Finding, ...] = ()
    doubt: str = ""


def explain(text: str, project: Project, config: Config) -> Explanation | None:
    """Explain a pasted traceback, or a message alone; None when there is neither in `text`."""
    told = tracebacks.read(text)
    if told is None:
        return None
    topic = topics.topic(told.exception, told.text or text)
    found = Explanation(told.exception, told.text, topic)
    framed = list(_framed(told, project))
    if framed:
        path, first, last = framed[0]
        code = project.sources[path].line(first).strip()
        found = replace(found, path=path, line=first, code=code)
    if topic != "device":
        return found
    findings = check(project, config, whole=True)
    if framed:
        found = _of_statement(found, told.message, framed[0], project, findings)
    elif all(_is_of_library(frame.file) for frame in told.frames):
        return replace(found, elsewhere=tuple(_able(findings, told.message)))
    if found.findings or not framed:
        return found
    program = project.programs.get(found.path, frozenset((found.path,)))
    callers = [f for _, first, last in framed[1:] for f in _about(findings, _, first, last)]
    able = [f for f in _able(findings, told.message) if f.path in program]
    near = [finding for finding in callers if finding in able]
    return replace(found, elsewhere=tuple(dict.fromkeys([*near, *able])))


def _framed(told: tracebacks.Traceback, project: Project) -> Iterator[tuple[str, int, int]]:
    """Yield file, first and last line of the project's statements, the innermost first."""
    for frame in reversed(told.frames):
        if frame.cell is not None:
            yield from _in_a_cell(frame, project)
            continue
        path = _same_file(frame, project)
        if path is None:
            continue
        lines = tracebacks.statement(project.sources[path].text, frame.line, frame.text)
        if lines is not None:
            yield path, *lines


def _in_a_cell(frame: Frame, project: Project) -> Iterator[tuple[str, int, int]]:
    """Yield the statement of a frame in a notebook: by its cell, or else by its text.

    Jupyter tells the execution count of a cell, which changes when the notebook is run again. Its
    line and its text are enough where one place of the project has them.
    """
    if not frame.file.startswith("<") and (path := _same_file(frame, project)) is not None:
        source = project.sources[path]
        line = source.line_of((frame.cell or 0) - 1, frame.line)
        places = [(path, line)] if line is not None else []
    else:
        wanted = "".join(frame.text.split())
        places = [
            (path, number)
            for path, source in project.sources.items()
            if wanted and source.is_notebook
            for number, text in enumerate(source.text.split("\n"), 1)
            if "".join(text.split()) == wanted
            if (cell := source.cell_of(number)) is not None and cell[1] == frame.line
        ]
    if len(places) == 1:
        path, line = places[0]
        lines = tracebacks.statement(project.sources[path].text, line, frame.text)
        if lines is not None:
            yield path, *lines


def _same_file(frame: Frame, project: Project) -> str | None:
    """Return the project's file that a frame of another machine speaks of.

    Of several by the same name, the one that has the frame's line counts, then the one that is
    nearest to the top.
    """
    wanted = frame.file.replace("\\", "/").split("/")[::-1]
    found: dict[str, int] = {}
    for path in project.sources:
        same = 0
        for one, other in zip(wanted, posixpath.normpath(path).split("/")[::-1], strict=False):
            if one != other:
                break
            same += 1
        if same:
            found[path] = same
    most = max(found.values(), default=0)
    alike = [path for path, same in found.items() if same == most]
    if len(alike) > 1:
        alike = [path for path in alike if _has_line(frame, project.sources[path])] or alike
    return min(alike, key=lambda path: posixpath.normpath(path).count("/"), default=None)


def _has_line(frame: Frame, source: Source) -> bool:
    """Tell whether a file has a frame's text in the line that the frame names."""
    line = frame.line if frame.cell is None else source.line_of(frame.cell - 1, frame.line)
    if line is None or not 0 < line <= len(source.starts):
        return False
    return "".join(source.line(line).split()) == "".join(frame.text.split())


def _is_of_library(file: str) -> bool:
    return "-packages/" in file.replace("\\", "/")


def _able(findings: Iterable[Finding], message: Message | None) -> Iterator[Finding]:
    """Yield the findings that can raise a message."""
    rules = CAUSES.get(message.kind, frozenset()) if message is not None else _MEETING
    for finding in findings:
        if finding.rule in rules and (is_wrong(finding) or finding.rule == UNDECIDED):
            yield finding


def _about(findings: list[Finding], path: str, first: int, last: int) -> Iterator[Finding]:
    """Yield the findings in these lines, then those whose reasons are in them."""
    here = [f for f in findings if f.path == path and first <= f.span.line <= last]
    yield from here
    for found in findings:
        if found not in here and any(
            origin.path == path and first <= origin.span.line <= last for origin in found.origins
        ):
            yield found


# -- the operands of a statement --------------------------------------------------------------


def _of_statement(
    found: Explanation,
    message: Message | None,
    where: tuple[str, int, int],
    project: Project,
    findings: list[Finding],
) -> Explanation:
    """Say what meets in a statement, and why it is where it is."""
    path, first, last = where
    solution = inference.infer(project, project.programs.get(path))
    operands = solution.operands(path, first, last)
    read: list[tuple[Location, PlaceVar]] = []
    if message is not None and message.kind == "numpy":
        read = list(_read_by_the_host(solution, path, first, last))
    meetings = {spot.node: _meeting(solution, spot, node) for spot, node in (*operands, *read)}
    for spot, _ in read:  # torch read it there, whatever the code before it is to become
        if meetings[spot.node].on_device is False:
            meetings[spot.node] = Meeting(
                solution.code(spot), Place.CENTRAL, (), certain=True, told=True
            )
    if message is not None:
        meetings = _as_told(solution, meetings, path, message)
    about = [*_about(findings, path, first, last), *_at_origins(findings, meetings.values())]
    return replace(
        found,
        operands=tuple(meetings.values()),
        findings=tuple(dict.fromkeys(about)),
        doubt=_doubt(meetings.values(), message),
    )


def _at_origins(findings: list[Finding], meetings: Iterable[Meeting]) -> Iterator[Finding]:
    """Yield the findings where an operand was made that stays on the CPU."""
    made = {
        (origin.path, origin.span.line)
        for meeting in meetings
        if meeting.on_device is False
        for origin in meeting.origins
    }
    yield from (f for f in findings if (f.path, f.span.line) in made and is_wrong(f))


def _read_by_the_host(
    solution: Solution, path: str, first: int, last: int
) -> Iterator[tuple[Location, PlaceVar]]:
    for group in solution.groups(HostRead):
        node = group.first.node
        if node is not None and group.spot.path == path:
            if first <= getattr(group.spot.node, "lineno", 0) <= last:
                yield group.spot, node


def _meeting(solution: Solution, spot: Location, node: PlaceVar) -> Meeting:
    place = solution.place(node)
    certain = place is Place.UNKNOWN or solution.certain(node)
    made = () if certain and place is not Place.HOST else _made(solution, node)
    decided = made or solution.origin(node, "it got its device here")
    return Meeting(solution.code(spot), place, decided, certain)


def _made(solution: Solution, node: PlaceVar) -> tuple[Origin, ...]:
    """Return where a value that stays on the CPU was made, if that is one place."""
    roots = {node.find(), *(source.find() for source in node.find().flows_from)}
    spots = {
        (group.spot.path, solution.span(group.spot))
        for kind in _SOURCES
        for group in solution.groups(kind)
        if any(site.node is not None and site.node.find() in roots for site in group.sites)
    }
    return tuple(Origin(path, span, "it is made here") for path, span in spots)[: len(spots) == 1]


def _as_told(
    solution: Solution, meetings: dict[ast.AST, Meeting], path: str, message: Message
) -> dict[ast.AST, Meeting]:
    """Return the operands where torch saw them, as far as it names them."""
    if message.kind != "mismatch" or len(message.operands) != 2:
        return meetings
    named = next((operand for operand in message.operands if operand.name), None)
    other = next((operand for operand in message.operands if operand is not named), None)
    if named is None or other is None or named.name not in _GIVEN | _HELD:
        return meetings
    calls = [
        call
        for node in meetings
        if isinstance(call := solution.programs.parents(path).get(node), ast.Call)
        and call.func is node
    ]
    if len(calls) != 1:
        return meetings
    given, held = (named, other) if named.name in _GIVEN else (other, named)
    told = {calls[0].func: held.device, **dict.fromkeys(calls[0].args[:1], given.device)}
    return {
        node: _placed(meeting, told[node]) if node in told else meeting
        for node, meeting in meetings.items()
    }


def _placed(meeting: Meeting, device: str) -> Meeting:
    if meeting.on_device is (device != "cpu"):
        return meeting
    place = Place.HOST if device == "cpu" else Place.CENTRAL
    return replace(meeting, place=place, origins=(), certain=True, told=True)


def _doubt(meetings: Iterable[Meeting], message: Message | None) -> str:
    """Return what torch saw and the code does not show."""
    if message is None or message.kind not in ("mismatch", "indices"):
        return ""
    devices = {operand.device for operand in message.operands}
    sides = {meeting.on_device for meeting in meetings}
    if len(devices) < 2 or "cpu" not in devices or len(sides) > 1 or None in sides:
        return ""
    if not sides:
        return f"torch saw {' and '.join(sorted(devices))}, and the code shows one device only here"
    where = "on the device" if sides == {True} else "on the CPU"
    return f"torch saw {' and '.join(sorted(devices))}, and the code puts all of them {where}"


__all__ = ["CAUSES", "Explanation", "Meeting", "explain"]
