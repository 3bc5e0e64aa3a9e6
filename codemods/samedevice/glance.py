"""Project x what was found before -> what is found where the texts have changed since.

A user who types wants an answer at once, and an edit of one definition changes what is found
there; what it changes elsewhere may take the whole program to see. So only what has changed is
judged here, by all the code that calls it. It is right nearly always; `check` has the last word.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from . import lines, places, syntax
from .check import Memory, Seen, Step, in_reading_order, judged, no_collection, select
from .config import Config
from .finding import Finding
from .lines import Lines
from .places.focus import PartialAnalysis, Target
from .project import Project
from .source import Source

_WORD = re.compile(r"[^\W\d]\w*")


def glance(
    project: Project, config: Config, memory: Memory, step: Step = lambda files: None
) -> list[Finding] | None:
    """Return what is wrong in `project`, judged only where it differs from what `memory` has seen.

    None where that is nothing, or where to judge it would take as long as `check` does. The fixes
    of findings that moved are left out.
    """
    if not memory.is_about(project, config) or project.is_large():
        return None
    findings: list[Finding] = []
    differs = False
    with no_collection():
        for program in dict.fromkeys(project.programs[path] for path in project.about_torch):
            seen = memory.seen(program)
            if seen is None:
                return None
            found = _judged(project, config, program, seen, step)
            if found is None:
                return None
            differs = differs or found is not seen.findings
            findings += found
    if not differs:
        return None
    return in_reading_order(findings)


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
    if seen.rest is None:
        return None
    units: set[Target] = set()
    for path, change in changes.items():
        for name in change.names:
            units |= {(path, name)} | seen.rest.callers.get((path, name), frozenset())
    work = seen.rest.work
    if 2 * sum(work.get(unit, 0) for unit in units) > sum(work.values()):
        return None
    solution = places.infer(project, program, step, PartialAnalysis(frozenset(units), seen.rest))
    found = [one for one in judged(solution, select(config), config) if _touched(one, changes)]
    solution.release()
    tables = {path: change.lines for path, change in changes.items()}
    kept = lines.moved(seen.findings, tables)
    return found + [one for one in kept if not _touched(one, changes)]


def _touched(finding: Finding, changes: Mapping[str, _Change]) -> bool:
    """Tell whether a finding, at its place in the text of now, is in what an edit touches."""
    change, line = changes.get(finding.path), finding.span.line
    return change is not None and any(first <= line <= last for first, last in change.ranges)


@dataclass(frozen=True, eq=False)
class _Part:
    """A statement at the top level of a file; `name` is that of a definition."""

    node: ast.stmt
    name: str
    text: str
    first: int
    last: int

    @property
    def imports(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    def names(self, *, read: bool) -> set[str]:
        """Return the names that it binds and, with `read`, those that it reads."""
        if self.name:
            return {self.name}
        found: set[str] = set()
        for node in syntax.walk(self.node):
            if isinstance(node, ast.Name) and (read or isinstance(node.ctx, ast.Store)):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """All names that stand in it, and other words."""
        return frozenset(_WORD.findall(self.text))


@dataclass(frozen=True)
class _Change:
    """What an edit of a file touches, and where the lines are that it had.

    `names` are those of definitions, with "" for the statements beside them, and `ranges` the lines
    of all these.
    """

    names: frozenset[str]
    ranges: tuple[tuple[int, int], ...]
    lines: Lines

    @classmethod
    def between(cls, old: Source, new: Source) -> _Change:
        """Compare two texts of a file.

        Touched is what differs, and what mentions a name that a statement which differs binds or
        may change. That of a definition which differs counts in statements only: who calls it is
        known.
        """
        before, after = _parts(old), _parts(new)
        gone, come = _without(before, after), _without(after, before)
        bound = {
            name
            for part in (*before, *after)
            if not part.imports
            for name in part.names(read=False)
        }
        differ = {part.name for part in gone} & {part.name for part in come}
        affected: set[str] = set()
        for part in (*gone, *come):
            if not part.name or part.name not in differ:
                names = part.names(read=True)
                affected |= names if part.imports else names & bound
        touched = dict.fromkeys(come)
        while True:
            more = [
                part
                for part in after
                if (names := affected if part.name else affected | differ)
                and part not in touched
                and not names.isdisjoint(part.words)
            ]
            if not more:
                break
            touched |= dict.fromkeys(more)
            affected = affected.union(*(part.names(read=False) for part in more if not part.name))
        ranges = tuple((part.first, part.last) for part in touched)
        touched_names = frozenset(part.name for part in (*gone, *touched))
        return cls(touched_names, ranges, lines.kept(old.text, new.text))


def _without(parts: list[_Part], others: list[_Part]) -> list[_Part]:
    """Return the parts whose text is not among the others."""
    left = Counter(part.text for part in others)
    left.subtract(part.text for part in parts)
    found = []
    for part in parts:
        if left[part.text] < 0:
            left[part.text] += 1
            found.append(part)
    return found


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
        found.append(_Part(node, name, code, end + 1, last))
        end = last
    return found
