"""What the fix of one finding would change, as edits of text that any program can make.

The fixes are made one by one, with libcst: only reports that carry edits pay for it. That is a
rewriting of the file for each, so of a file with very many findings only the first get theirs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .. import lines, migrate
from ..config import Config
from ..finding import Finding, Span
from ..project import Project
from ..source import Source

#: Characters of one file that are rewritten for the edits of its findings, all in all.
BOUND = 1_000_000


@dataclass(frozen=True)
class TextEdit:
    """Put `text` in the place of a range; of a file that is not there yet, at its start."""

    path: str
    span: Span
    text: str


class Edits:
    """The edits of the fixes in a project."""

    def __init__(self, project: Project, config: Config) -> None:
        self._project, self._config = project, config
        self._made: dict[Finding, tuple[TextEdit, ...]] = {}
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
        if finding not in self._made:
            self._made[finding] = self._make(finding)
        return self._made[finding]

    def _make(self, finding: Finding) -> tuple[TextEdit, ...]:
        if finding.fix is None:
            return ()
        self._rewritten[finding.path] += len(self._project.sources[finding.path].text)
        if self._rewritten[finding.path] > BOUND:
            self.left_out[finding.path] += 1
            return ()
        changed, _ = migrate.once(self._project, [finding], self._config)
        made = []
        for path, source in sorted(changed.items()):
            old = self._project.sources.get(path)
            if old is None:
                made.append(TextEdit(path, Span(1, 0, 1, 0), source.text))
            else:
                made += [TextEdit(path, *edit) for edit in lines.edits(old.text, source.text)]
        return tuple(made)
