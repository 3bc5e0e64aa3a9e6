"""What was found in the texts that a migration tries, each judged once.

A round of fixes gives programs new texts, and where fixes are withdrawn, all begins anew from the
old ones. One inference of a text tells what is wrong in it, which of the fixes may move what is no
tensor, and what belongs together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from .. import inference, verify
from ..finding import Finding
from ..inference import Solution
from ..inference.bonds import Bonds, bonds
from ..inference.focus import ProgramSummary
from ..inference.staying import Staying
from ..reading.config import Config
from ..reading.project import Project
from ..verify.beside import Told, told
from ..verify.named import Nameless
from .cache import Cache
from .check import Memory

_Text = tuple[int, frozenset[str], tuple[str, ...]]
"""Which files there are, the files of a program, and their texts."""


class Trials(Memory):
    """What is known of the texts of one project's programs."""

    watches, compares = True, False

    def __init__(self, project: Project, memory: Memory | None, cache: Cache | None) -> None:
        """Begin with a project as it is, and what is known of it from before."""
        super().__init__()
        self._original = self._last = project
        self._before = memory
        self._cache = cache
        self._part: Project | None = None
        self._files: dict[tuple[str, ...], int] = {}
        self._here = 0
        self._found: dict[_Text, list[Finding]] = {}
        self._told: dict[_Text, Told] = {}
        self._bonds: dict[frozenset[str], Bonds] = {}

    def begin(self, project: Project, config: Config) -> None:
        """Nothing is forgotten: each text has its own place."""
        self._last = project
        known = self._before is not None and self._before.is_about(project, config)
        self._earlier = self._before if known else None

    def recall(self, project: Project, program: frozenset[str]) -> list[Finding] | None:
        """Return what was found in a program whose texts were judged before."""
        found = self._found.get(self._text(project, program))
        if found is None and self._earlier is not None:
            found = self._earlier.recall(project, program)
        return found

    def keep(
        self,
        project: Project,
        program: frozenset[str],
        found: list[Finding],
        solution: Solution,
        beside: Told | None,
    ) -> None:
        """Remember what an inference tells of a program."""
        assert beside is not None  # it watches
        text = self._text(project, program)
        self._found[text], self._told[text] = found, beside

    def learn(
        self,
        project: Project,
        program: frozenset[str],
        found: list[Finding],
        rest: ProgramSummary | None = None,
    ) -> None:
        """Remember what was found in a program."""
        self._found[self._text(project, program)] = found

    def end(self, programs: Collection[frozenset[str]]) -> None:
        """Nothing is forgotten."""

    def doubts(
        self, project: Project, findings: Iterable[Finding]
    ) -> Iterator[tuple[Finding, str]]:
        """Yield the findings whose fix moves what may be no tensor, each with what is wrong.

        They are of the texts that a project has now.
        """
        programs: dict[frozenset[str], list[Finding]] = {}
        for finding in findings:
            for program in verify.moving(project, finding):
                programs.setdefault(program, []).append(finding)
        for program, moving in programs.items():
            known = dict(self._of(project, program, moving).doubts)
            for finding in moving:
                yield from ((finding, reason) for reason in known.get(finding, ()))

    def bonds(self, program: frozenset[str]) -> Bonds:
        """Return what belongs together in a program of the project as it was given."""
        if self.recall(self._original, program) is not None:
            return self._of(self._original, program, ()).bonds or Bonds()
        if program not in self._bonds:  # a large project is judged in parts, which are others
            solution = inference.infer(self._original, program)
            self._bonds[program] = bonds(solution)
            solution.release()
        return self._bonds[program]

    def for_the_cpu(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield the files of the programs of some files that use no device as they were given."""
        known = self._original.programs
        for program in dict.fromkeys(known[path] for path in paths if path in known):
            if self.recall(self._original, program) is not None:
                yield from self._of(self._original, program, ()).for_the_cpu

    def staying(self) -> Iterator[Staying]:
        """Yield the scripts that stay on the CPU, as their texts were when last asked about.

        Of a project that is so large that it is judged in parts, nothing is told.
        """
        project = self._last
        for program in dict.fromkeys(project.programs[path] for path in project.about_torch):
            if self.recall(project, program) is not None:
                yield from self._of(project, program, ()).staying

    def nameless(self, project: Project, paths: Iterable[str]) -> Iterator[Nameless]:
        """Yield where files of a project, as it is now, may name no device where one is meant.

        Of a project that is so large that it is judged in parts, nothing is told.
        """
        for program in dict.fromkeys(
            project.programs[path] for path in paths if path in project.programs
        ):
            if self.recall(project, program) is not None:
                yield from self._of(project, program, ()).nameless

    def _of(self, project: Project, program: frozenset[str], findings: Collection[Finding]) -> Told:
        """Return what is told of a program: by this process, an earlier one, or now.

        It is asked about `findings` where those of the whole are not known.
        """
        text = self._text(project, program)
        if text not in self._told and self._cache is not None:
            known = self._cache.told(project, program)
            if known is not None:
                self._told[text] = known
        if text not in self._told:
            found = self.recall(project, program)
            asked = findings if found is None else found
            solution = inference.infer(project, program, watch=True)
            self._told[text] = told(project, program, asked, solution)
            solution.release()
        return self._told[text]

    def _text(self, project: Project, program: frozenset[str]) -> _Text:
        if self._part is not project:
            self._part = project
            self._here = self._files.setdefault(tuple(project.sources), len(self._files))
        texts = tuple(project.sources[path].text for path in sorted(program))
        return self._here, program, texts
