"""Project x what was found before -> what is found where the texts have changed since.

Somebody who types wants an answer at once, and an edit of one definition changes what is found
there; what it changes elsewhere may take the whole program to see. So only what has changed is
judged here, by all the code that calls it. It is right nearly always; `check` has the last word.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from . import lines, places
from .check import Memory, Seen, Step, judged, no_collection, select
from .config import Config
from .finding import Finding
from .lines import Lines
from .places.focus import Focus, Unit
from .project import Project
from .source import Source


def glance(
    project: Project, config: Config, memory: Memory, step: Step = lambda files: None
) -> list[Finding] | None:
    """Return what is wrong in `project`, judged only where it differs from what `memory` has seen.

    None where that is nothing, or where to judge it would take as long as `check` does. The fixes
    of findings that moved are left out.
    """
    if not memory.is_about(project, config):
        return None
    findings: list[Finding] = []
    differs = False
    with no_collection():
        for program in dict.fromkeys(project.programs[path] for path in project.about_torch):
            seen = memory.seen(program)
            found = _judged(project, config, program, seen, step) if seen is not None else None
            if seen is None or found is None:
                return None
            differs = differs or found is not seen.findings
            findings += found
    if not differs:
        return None
    return sorted(findings, key=lambda finding: (finding.path, finding.span, finding.rule))


def _judged(
    project: Project, config: Config, program: frozenset[str], seen: Seen, step: Step
) -> list[Finding] | None:
    changes: dict[str, _Change] = {}
    for path in program:
        old, new = seen.sources[path], project.sources[path]
        if new is not old and new.text != old.text:
            if project.tree(path) is None:
                return None
            changes[path] = _Change.between(old, new)
    if not changes:
        return seen.findings
    units: set[Unit] = set()
    for path, change in changes.items():
        for name in change.names:
            units |= {(path, name)} | seen.rest.callers.get((path, name), frozenset())
    work = seen.rest.work
    if 2 * sum(work.get(unit, 0) for unit in units) > sum(work.values()):
        return None
    solution = places.infer(project, program, step, Focus(frozenset(units), seen.rest))
    found = [
        finding
        for finding in judged(solution, select(config), config)
        if finding.path in changes and changes[finding.path].covers(finding.span.line)
    ]
    solution.release()
    tables = {path: change.lines for path, change in changes.items()}
    found += [
        finding
        for finding in lines.moved(seen.findings, tables)
        if finding.path not in changes or not changes[finding.path].covers(finding.span.line)
    ]
    return found


@dataclass(frozen=True)
class _Part:
    """A statement at the top level of a file; `name` is that of a definition."""

    name: str
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class _Change:
    """The definitions that differ ("" for the statements beside them), and where the lines are."""

    names: frozenset[str]
    ranges: tuple[tuple[int, int], ...]
    lines: Lines

    @classmethod
    def between(cls, old: Source, new: Source) -> _Change:
        """Compare two texts of a file."""
        before, after = _parts(old), _parts(new)
        table = lines.kept(old.text, new.text)
        names = frozenset(part.name for part in (*before, *after))
        if [part.name for part in before] != [part.name for part in after]:
            return cls(names | {""}, ((1, new.text.count("\n") + 1),), table)
        pairs = zip(before, after, strict=True)
        changed = [part for other, part in pairs if part.text != other.text]
        if any(not part.name for part in changed):
            return cls(names | {""}, ((1, new.text.count("\n") + 1),), table)
        ranges = tuple((part.first, part.last) for part in changed)
        return cls(frozenset(part.name for part in changed), ranges, table)

    def covers(self, line: int) -> bool:
        """Tell whether a line of the new text is in what differs."""
        return any(first <= line <= last for first, last in self.ranges)


def _parts(source: Source) -> list[_Part]:
    """Return the statements of a file, each with the comments above it."""
    text = source.text.split("\n")
    found: list[_Part] = []
    end = 0
    for node in source.tree.body:
        name = ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
        last = node.end_lineno or node.lineno
        code = "\n".join(text[end:last]).lstrip("\n")
        found.append(_Part(name, code, end + 1, last))
        end = last
    return found
