"""What the fix of one finding would change, as edits of text that any program can make.

The fixes are made one by one, with libcst: only reports that carry edits pay for it. That is a
rewriting of the file for each, so of a file with very many findings only the first get theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..finding import Finding, Span
from ..migration import migrate
from ..reading import lines
from ..reading.config import Config
from ..reading.project import Project
from ..reading.source import Source

#: Characters of one file that are rewritten for the edits of its findings, all in all.
BOUND = 1_000_000


@dataclass(frozen=True)
class TextEdit:
    """Put `text` in the place of a range; of a file that is not there yet, at its start."""

    path: str
    span: Span
    text: str


@dataclass(frozen=True)
class _Made:
    """The edits of a fix in the text that findings speak of, and in the files as they are stored.

    They differ for notebooks: the first are of code cells, the second of JSON.
    """

    in_code: tuple[TextEdit, ...] = ()
    in_files: tuple[TextEdit, ...] = ()


class Edits:
    """The edits of the fixes in a project."""

    def __init__(self, project: Project, config: Config) -> None:
        self._project, self._config = project, config
        self._made: dict[Finding, _Made] = {}
        self._rewritten: Counter[str] = Counter()  # characters of each file
        #: For each file how many fixes it has whose edits were not made, for they are too many.
        self.left_out: Counter[str] = Counter()

    @property
    def sources(self) -> dict[str, Source]:
        """The files that are edited."""
        return self._project.sources

    def of(self, finding: Finding) -> tuple[TextEdit, ...]:
        """Return what the fix of a finding changes.

        Nothing where it cannot be made alone, or is one too many (see `left_out`).
        """
        return self._of(finding).in_code

    def in_files(self, finding: Finding) -> tuple[TextEdit, ...]:
        """Return the same for the files as they are stored: of a notebook, edits of its JSON."""
        return self._of(finding).in_files

    def _of(self, finding: Finding) -> _Made:
        if finding not in self._made:
            self._made[finding] = self._make(finding)
        return self._made[finding]

    def _make(self, finding: Finding) -> _Made:
        if finding.fix is None:
            return _Made()
        self._rewritten[finding.path] += len(self._project.sources[finding.path].text)
        if self._rewritten[finding.path] > BOUND:
            self.left_out[finding.path] += 1
            return _Made()
        changed, _ = migrate.once(self._project, [finding], self._config)
        in_code: list[TextEdit] = []
        in_files: list[TextEdit] = []
        for path, source in sorted(changed.items()):
            old = self._project.sources.get(path)
            if old is None:
                made = stored = [TextEdit(path, Span(1, 0, 1, 0), source.text)]
            elif old.is_notebook:
                made = list(_by_cell(old, source))
                both = old.stored(old.text), old.stored(source.text)
                stored = [TextEdit(path, *edit) for edit in lines.edits(*both)]
            else:
                made = [TextEdit(path, *edit) for edit in lines.edits(old.text, source.text)]
                stored = made
            in_code += made
            in_files += stored
        return _Made(tuple(in_code), tuple(in_files))


def _by_cell(old: Source, new: Source) -> Iterator[TextEdit]:
    """Yield the edits of a notebook's cells: none begins in one cell and ends in another."""
    after = new.cells(new.text)
    for index, code in old.cells(old.text).items():
        first = old.line_of(index, 1) or 1
        for span, text in lines.edits(code, after[index]):
            moved = replace(span, line=first + span.line - 1, end_line=first + span.end_line - 1)
            yield TextEdit(old.path, moved, text)
