"""What a migration would do, and the writing of it: each file whole, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..finding import Edit, Finding, Fix, Import, Resolver
from ..inference.staying import Staying
from ..reading.config import Config
from ..reading.source import Source, SourceError
from . import write
from .originals import Originals

Key = tuple[str, int, str, str]
"""What names a finding across runs on the same files: path, line, rule, message."""


@dataclass(frozen=True)
class Change:
    """One file before and after, and the findings behind it, at their places before the change.

    `before` is None for a file that is new.
    """

    path: str
    before: bytes | None
    after: bytes
    findings: tuple[Finding, ...] = ()


@dataclass
class Outcome:
    """What a migration would do; nothing is written until `apply`.

    `remaining` are the findings in the changed files, which are in `sources`, and `refused` says
    for some of them, by `key`, why their fix was not applied. `originals` are the files as they
    were. `errors` tell what could not be worked on. `found` is what was wrong before any change.
    `staying` are the scripts that stay on the CPU, of which no finding says why. `context` are the
    files that were only read: they are among the sources, and nothing is changed or told of them;
    those in `beyond` belong to what would change. `incomplete` are the files that would become
    others if nothing waited for what is not decided, or has no repair, in programs for the CPU.
    `converted` are the files of programs that used no device before they were edited.
    """

    changes: list[Change]
    remaining: list[Finding]
    refused: dict[Key, str]
    errors: list[SourceError]
    originals: dict[str, Source]
    sources: dict[str, Source]
    rounds: int
    found: list[Finding] = field(default_factory=list)
    staying: list[Staying] = field(default_factory=list)
    context: frozenset[str] = frozenset()
    beyond: list[str] = field(default_factory=list)
    incomplete: list[Change] = field(default_factory=list)
    converted: frozenset[str] = frozenset()

    @property
    def named(self) -> list[str]:
        """The files that were named, and those that are new."""
        return [path for path in self.sources if path not in self.context]

    def before(self, finding: Finding) -> Finding:
        """Return one of the remaining findings at its place in the original files."""
        return self._back.finding(finding)

    def line_before(self, path: str, line: int) -> int:
        """Return the line of an original file that a line of a changed one comes from."""
        return self._back.line(path, line)

    @cached_property
    def _back(self) -> Originals:
        return Originals(self.originals, self.sources)


def key(finding: Finding) -> Key:
    """Return what names `finding` among those of the same files."""
    return finding.path, finding.span.line, finding.rule, finding.message


def apply(outcome: Outcome) -> None:
    """Write the changes: each file atomically, and all of them or none.

    Raises `SourceError` when a file is no longer what was read or cannot be written; those that
    were written until then get their old bytes back.
    """
    for change in outcome.changes:
        if _bytes_now(change.path) != change.before:
            raise SourceError(change.path, "changed since it was read; nothing was written")
    done: list[Change] = []
    try:
        for change in outcome.changes:
            write.replace(change.path, change.after)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            if change.before is None:
                os.unlink(change.path)
            else:
                write.replace(change.path, change.before)
        raise


def changes_of(
    originals: Mapping[str, Source], sources: Mapping[str, Source], applied: Iterable[Finding]
) -> list[Change]:
    """Return the files that differ, and for each the findings whose fixes changed it."""
    findings: dict[str, list[Finding]] = {}
    for finding in applied:
        for path in paths_of(finding):
            findings.setdefault(path, []).append(finding)
    changes = []
    for path, now in sorted(sources.items()):
        old = originals.get(path)
        if old is None or old.text != now.text:
            before = None if old is None else old.encode(old.text)
            after = now.encode(now.text)
            changes.append(Change(path, before, after, tuple(findings.get(path, ()))))
    return changes


def fix_of(finding: Finding) -> Fix:
    """Return the fix of a finding that has one."""
    assert finding.fix is not None  # only findings with a fix are applied
    return finding.fix


def may_apply(fix: Fix, config: Config) -> bool:
    """Tell whether a fix may be applied: a safe one, or any if the settings say so."""
    return fix.safe or config.unsafe or config.decided_by_run and bool(fix.missing)


def paths_of(finding: Finding) -> list[str]:
    """Return the existing files that the fix of `finding` changes."""
    fix = finding.fix
    if fix is None:
        return []
    items: tuple[Edit | Import | Resolver, ...] = (*fix.edits, *fix.imports, *fix.resolvers)
    return list(dict.fromkeys(item.path for item in items))


def line_of(finding: Finding) -> tuple[str, int]:
    """Return the file and the line of a finding."""
    return finding.path, finding.span.line


def where_is(finding: Finding, outcome: Outcome) -> str:
    """Return the file and the line of a finding in an original file, as people are told."""
    source, line = outcome.originals.get(finding.path), finding.span.line
    return f"{finding.path}:{line}" if source is None else source.where(line)


def _bytes_now(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(path, f"cannot be read: {error.strerror}") from None
