"""What belongs together is made together or not at all: the groups that are withdrawn."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from samedevice.finding import Finding, Span
from samedevice.inference.bonds import Bonds
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.verify.needs import Halves

#: A branch with such a test is one piece: half of it is worse than none.
_ABOUT_DEVICES = re.compile(r"(?i)cuda|gpu|device|accelerator")

#: Rules about what names a device: of a function, or a file's own code, all of it or none.
_NAMING = frozenset(("hard-coded-device", "load-without-map-location"))

_Bond = tuple[str, str, int]


class Groups:
    """The fixes of a project that are withdrawn, each with all that it is connected with.

    Findings are connected when the values in the lines that they change depend on each other, when
    they change the same branch about devices, when the same function names the device in both
    places, and when they are in one notebook. A fix that only follows where a value is ties nothing
    together: it suits those who stay on the CPU as well. All findings are at their places in the
    project as it was given.
    """

    def __init__(self, project: Project, bonds_of: Callable[[frozenset[str]], Bonds]) -> None:
        """`bonds_of` tells what belongs together in a program of the project."""
        self._project = project
        self._bonds_of = bonds_of
        self._halves = Halves(project)
        self._branches: dict[str, dict[int, list[tuple[int, int]]]] = {}
        self._withdrawn: dict[_Bond, str] = {}

    def __bool__(self) -> bool:
        return bool(self._withdrawn)

    def reason(self, finding: Finding) -> str | None:
        """Return why a finding's fix is withdrawn, None if it is not."""
        if not self._withdrawn:
            return None
        itself, *others = (self._withdrawn.get(bond) for bond in self._bonds(finding))
        if itself is None and not _ties(finding) and not all(others):
            return None  # it serves others, too
        return next(filter(None, (itself, *others)), None)

    def withdraw(
        self, found: Collection[tuple[Sequence[Finding], str]], applied: Collection[Finding]
    ) -> bool:
        """Withdraw fixes, each for its reason, with all that are connected to them.

        Tell whether there were any. Where none is left but those that follow the values, it was
        they that did it.
        """
        before = len(self._withdrawn)
        waiting: dict[_Bond, list[set[_Bond]]] = {}
        for finding in applied:
            bonds = set(self._bonds(finding)) if _ties(finding) else set()
            for bond in bonds:
                waiting.setdefault(bond, []).append(bonds)
        for guilty, reason in found:
            queue = [bond for finding in guilty for bond in self._bonds(finding)]
            while queue:
                bond = queue.pop()
                self._withdrawn.setdefault(bond, reason)
                for bonds in waiting.pop(bond, ()):
                    queue += bonds
        if len(self._withdrawn) == before:
            for guilty, reason in found:
                values = {bond for finding in guilty for bond in self._values(finding)}
                for finding in applied:
                    if not values.isdisjoint(self._values(finding)):
                        self._withdrawn.setdefault(next(self._bonds(finding)), reason)
        return len(self._withdrawn) > before

    def withdraw_halves(
        self,
        left: Iterable[Finding],
        applied: Sequence[Finding],
        after: Project | None = None,
        back: Callable[[str, int], int] | None = None,
    ) -> bool:
        """Withdraw fixes of code that needs CUDA all the same; tell whether there were any.

        `left` is what nobody repairs in the project `after` all fixes, of which `back` tells the
        lines before; without it, what nobody repairs yet. On a machine with CUDA both halves
        agree: what is connected with such a fix may stay.
        """
        found = list(self._halves.found(left, applied, after, back))
        for guilty, reason in found:
            for finding in guilty:
                self._withdrawn.setdefault(next(self._bonds(finding)), f"not applied: {reason}")
        return bool(found)

    def torn(self, left: Iterable[Finding], applied: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings without a repair whose values the applied fixes move for the first time.

        What a program puts on the device itself does not count: it is half there already.
        """
        moved: set[_Bond] | None = None
        for finding in left:
            idle = {
                bond
                for path, _ in _places(finding)
                if (program := self._project.programs.get(path)) is not None
                for bond in self._bonds(finding)
                if bond[1] == "value" and bond[2] in self._bonds_of(program).idle
            }
            if idle and moved is None:
                moved = self._moved(applied)
            if moved is not None and not idle.isdisjoint(moved):
                yield finding

    def brought(self, new: Iterable[Finding], applied: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings, of which nothing was said before, about values that fixes move.

        To the device or to the CPU: both may part what was together.
        """
        moved: set[_Bond] | None = None
        for finding in new:
            if moved is None:
                moved = {bond for each in applied for bond in self._values(each)}
            if not moved.isdisjoint(self._values(finding)):
                yield finding

    def _moved(self, applied: Iterable[Finding]) -> set[_Bond]:
        """Return the values that fixes put on the device."""
        return {bond for each in applied if _ties(each) for bond in self._values(each)}

    def _values(self, finding: Finding) -> Iterator[_Bond]:
        return (bond for bond in self._bonds(finding) if bond[1] == "value")

    def _bonds(self, finding: Finding) -> Iterator[_Bond]:
        """Yield what connects a finding with others, itself first."""
        yield finding.path, finding.rule, finding.span.line
        known = self._project.sources.get(finding.path)
        if known is not None and known.is_notebook:
            yield finding.path, "notebook", 0
        elif finding.rule in _NAMING:
            yield finding.path, "names", self._function_of(finding.path, finding.span.line)
        for path, span in _places(finding):
            program = self._project.programs.get(path)
            if program is None:
                continue
            lines = self._bonds_of(program).lines
            for line in {span.line, span.end_line}:
                for number in lines.get((path, line), ()):
                    yield min(program), "value", number
            for start, end in self._about_devices(path).get(span.line, ()):
                if span.end_line <= end:
                    yield path, "branch", start

    def _function_of(self, path: str, line: int) -> int:
        """Return the first line of the outermost function or method around a line, 0 for none."""
        tree = self._project.tree(path)
        body: list[ast.stmt] = list(tree.body) if tree is not None else []
        while body:
            node = next((n for n in body if n.lineno <= line <= (n.end_lineno or 0)), None)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                return node.lineno
            body = node.body if isinstance(node, ast.ClassDef) else []
        return 0

    def _about_devices(self, path: str) -> dict[int, list[tuple[int, int]]]:
        """Return the first and last lines of the branches about devices that a line is in."""
        if path not in self._branches:
            found: dict[int, list[tuple[int, int]]] = {}
            tree = self._project.tree(path)
            for node in syntax.statements(tree) if tree is not None else ():
                if isinstance(node, ast.If) and _ABOUT_DEVICES.search(ast.unparse(node.test)):
                    lines = node.lineno, node.end_lineno or node.lineno
                    for line in range(lines[0], lines[1] + 1):
                        found.setdefault(line, []).append(lines)
            self._branches[path] = found
        return self._branches[path]


def _ties(finding: Finding) -> bool:
    """Tell whether a fix puts something on the device: it does not only follow where values are."""
    return finding.fix is None or bool(finding.fix.named_in())


def _places(finding: Finding) -> list[tuple[str, Span]]:
    """Return what a finding's fix changes; without one, what it is about."""
    if finding.fix is None:
        return [(finding.path, finding.span)]
    return [(edit.path, edit.span) for edit in finding.fix.edits]


def nearest(
    applied: Sequence[Finding], places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], list[Finding]]:
    """Return for files and lines the findings whose edits are nearest around them."""
    lines: dict[str, list[int]] = {}
    for path, line in sorted(places):
        lines.setdefault(path, []).append(line)
    spans: dict[tuple[str, int, int], list[Finding]] = {}
    for finding in applied:
        for edit in finding.fix.edits if finding.fix is not None else ():
            spans.setdefault((edit.path, edit.span.line, edit.span.end_line), []).append(finding)
    found: dict[tuple[str, int], tuple[int, list[Finding]]] = {}
    for (path, first, last), findings in spans.items():
        known = lines.get(path, [])
        for line in known[bisect_left(known, first) : bisect_right(known, last + 1)]:
            size, others = found.get((path, line), (last - first, []))
            if last - first < size:
                found[path, line] = last - first, list(findings)
            elif last - first == size:
                found[path, line] = size, others + findings
    return {place: list(dict.fromkeys(near)) for place, (_, near) in found.items()}
