"""What belongs together is made together or not at all: the groups that are withdrawn."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from samedevice import places, syntax
from samedevice.finding import Finding
from samedevice.places.bonds import bonds
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
        self._lines: dict[frozenset[str], dict[tuple[str, int], set[int]]] = {}
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

    def _bonds(self, finding: Finding) -> Iterator[_Bond]:
        """Yield what connects a finding with others, itself first."""
        yield finding.path, finding.rule, finding.span.line
        fix = finding.fix
        for edit in fix.edits if fix is not None else ():
            program = self._project.programs.get(edit.path)
            if program is None:
                continue
            lines = self._speaking(program)
            first = min(program)
            for line in {edit.span.line, edit.span.end_line}:
                for number in lines.get((edit.path, line), ()):
                    yield first, "value", number
            for start, end in self._about_devices(edit.path):
                if start <= edit.span.line and edit.span.end_line <= end:
                    yield edit.path, "branch", start

    def _speaking(self, program: frozenset[str]) -> dict[tuple[str, int], set[int]]:
        if program not in self._lines:
            solution = places.infer(self._project, program)
            self._lines[program] = bonds(solution)
            solution.release()
        return self._lines[program]

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
