"""What belongs together is made together or not at all: the groups that are withdrawn."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from samedevice import places, syntax
from samedevice.finding import Finding, Span
from samedevice.places.bonds import Bonds, bonds
from samedevice.project import Project

#: A branch with such a test is one piece: half of it is worse than none.
_ABOUT_DEVICES = re.compile(r"(?i)cuda|gpu|device|accelerator")

_Bond = tuple[str, str, int]


class Groups:
    """The fixes of a project that are withdrawn, each with all that it is connected with.

    Findings are connected when the values in the lines that they change depend on each other, or
    when they change the same branch about devices. All findings are at their places in the
    project as it was given.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[frozenset[str], Bonds] = {}
        self._branches: dict[str, list[tuple[int, int]]] = {}
        self._withdrawn: dict[_Bond, str] = {}

    def __bool__(self) -> bool:
        return bool(self._withdrawn)

    def reason(self, finding: Finding) -> str | None:
        """Return why a finding's fix is withdrawn, None if it is not."""
        if not self._withdrawn:
            return None
        reasons = (self._withdrawn.get(bond) for bond in self._bonds(finding))
        return next(filter(None, reasons), None)

    def withdraw(self, guilty: Sequence[Finding], applied: Iterable[Finding], reason: str) -> None:
        """Withdraw fixes with all that are connected to them."""
        taken = {bond for finding in guilty for bond in self._bonds(finding)}
        waiting = [set(self._bonds(finding)) for finding in applied]
        while True:
            more = [each for each in waiting if each & taken]
            if not more:
                break
            taken.update(*more)
            waiting = [each for each in waiting if not each & taken]
        for bond in taken:
            self._withdrawn.setdefault(bond, reason)

    def is_torn(self, left: Finding, applied: Iterable[Finding]) -> bool:
        """Tell whether values move for the first time, though one with them cannot be repaired.

        What a program puts on the device itself is another matter: it is half there already.
        """
        idle = {
            bond
            for path, _ in _places(left)
            if (program := self._project.programs.get(path)) is not None
            for bond in self._bonds(left)
            if bond[1] == "value" and bond[2] in self._bonds_of(program).idle
        }
        return bool(idle) and any(idle.intersection(self._bonds(finding)) for finding in applied)

    def _bonds(self, finding: Finding) -> Iterator[_Bond]:
        """Yield what connects a finding with others, itself first."""
        yield finding.path, finding.rule, finding.span.line
        for path, span in _places(finding):
            program = self._project.programs.get(path)
            if program is None:
                continue
            lines = self._bonds_of(program).lines
            for line in {span.line, span.end_line}:
                for number in lines.get((path, line), ()):
                    yield min(program), "value", number
            for start, end in self._about_devices(path):
                if start <= span.line and span.end_line <= end:
                    yield path, "branch", start

    def _bonds_of(self, program: frozenset[str]) -> Bonds:
        if program not in self._known:
            solution = places.infer(self._project, program)
            self._known[program] = bonds(solution)
            solution.release()
        return self._known[program]

    def _about_devices(self, path: str) -> list[tuple[int, int]]:
        """Return the first and last lines of the branches of a file that are about devices."""
        if path not in self._branches:
            tree = self._project.tree(path)
            self._branches[path] = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in (syntax.statements(tree) if tree is not None else ())
                if isinstance(node, ast.If) and _ABOUT_DEVICES.search(ast.unparse(node.test))
            ]
        return self._branches[path]


def _places(finding: Finding) -> list[tuple[str, Span]]:
    """Return what a finding's fix changes; without one, what it is about."""
    if finding.fix is None:
        return [(finding.path, finding.span)]
    return [(edit.path, edit.span) for edit in finding.fix.edits]
