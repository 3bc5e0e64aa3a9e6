"""Fixes to text: those of one round, each in all of its files or in none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import rewrite
from ..finding import Finding, Fix, Span
from ..reading import source
from ..reading.config import Config
from ..reading.project import Project
from ..reading.source import Source
from .outcome import Key, fix_of, key, paths_of

Known = dict[
    tuple[str, str, tuple[Fix, ...], rewrite.Surroundings | None],
    tuple[rewrite.Rewritten, Source | None],
]
"""What became of a path's text with these fixes: a migration that starts over needs it again."""


@dataclass
class Round:
    """One round: the files as they are now, the findings whose fix was applied, the others."""

    sources: dict[str, Source] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    refused: dict[Key, str] = field(default_factory=dict)
    blocks: dict[str, frozenset[str]] = field(default_factory=dict)


def apply_fixes(
    project: Project,
    findings: Sequence[Finding],
    config: Config,
    known: Known | None = None,
    left: Mapping[str, tuple[Span, ...]] = {},
) -> Round:
    """Apply the fixes of `findings`, each in all of its files or in none.

    A device that only one block uses is defined there, in the files of which it is known what is
    `left` in them.
    """
    known = {} if known is None else known
    pending = list(findings)
    refused: dict[Key, str] = {}
    done: dict[str, tuple[list[Fix], _Rewrite]] = {}  # a file is redone when its fixes change
    while pending:
        by_path: dict[str, list[Fix]] = {}
        for finding in pending:
            for path in paths_of(finding):
                by_path.setdefault(path, []).append(fix_of(finding))
        reasons: dict[Fix, str] = {}
        lent = _lent(project, map(fix_of, pending))
        for path, fixes in by_path.items():
            if path not in done or done[path][0] != fixes:
                names = lent.get(path, frozenset())
                imported = path in project.importers or project.is_package(path)
                around = rewrite.Surroundings(imported, names, left[path]) if path in left else None
                done[path] = fixes, _rewrite(project, path, fixes, config, known, around)
            for fix, reason in done[path][1].refused.items():
                reasons.setdefault(fix, reason)
        if not reasons:
            break
        for finding in pending:
            if fix_of(finding) in reasons:
                refused[key(finding)] = reasons[fix_of(finding)]
        pending = [finding for finding in pending if fix_of(finding) not in reasons]
    changed: dict[str, Source] = {}
    for path in dict.fromkeys(path for finding in pending for path in paths_of(finding)):
        changed.update(done[path][1].sources)
    for path, text in rewrite.new_files(map(fix_of, pending), project.style):
        if path in changed and path not in project.sources:  # with what each of the files needs
            changed[path] = source.from_text(text, path)
    blocks = {path: rewritten.blocks for path, (_, rewritten) in done.items() if path in changed}
    return Round(changed, pending, refused, blocks)


@dataclass
class _Rewrite:
    """One file rewritten: it and the files that come with it, and the fixes left out, with why."""

    sources: dict[str, Source]
    refused: dict[Fix, str]
    blocks: frozenset[str] = frozenset()


def _lent(project: Project, fixes: Iterable[Fix]) -> dict[str, frozenset[str]]:
    """Return the names that some fixes import from files, by file."""
    found: dict[str, frozenset[str]] = {}
    for item in (each for fix in fixes for each in fix.imports if each.name is not None):
        module = item.module.lstrip(".")
        home = project.resolve(item.path, module, len(item.module) - len(module))
        if home is not None and item.name is not None:
            found[home] = found.get(home, frozenset()) | {item.name}
    return found


def _rewrite(
    project: Project,
    path: str,
    fixes: Sequence[Fix],
    config: Config,
    known: Known,
    around: rewrite.Surroundings | None,
) -> _Rewrite:
    old = project.sources.get(path)
    if old is None:
        return _Rewrite({}, dict.fromkeys(fixes, f"{path} is not among the files to change"))
    asked = path, old.text, tuple(fixes), around
    if asked not in known:
        made = rewrite.rewrite(
            old,
            fixes,
            line_length=config.line_length,
            style=project.style,
            own=project.own_modules(path),
            around=around,
        )
        changed = made.text != old.text
        new = source.from_bytes(old.encode(made.text), path) if changed else None
        known[asked] = made, new
    rewritten, new = known[asked]
    sources = {}
    if new is not None:
        sources[path] = new
    refused = dict(rewritten.refused)
    for new_path, text in rewritten.new_files:
        if new_path in project.sources:
            continue
        if os.path.lexists(new_path):
            reason = f"{new_path} exists and is not among the files that were read"
            return _Rewrite({}, dict.fromkeys(fixes, reason) | refused)
        sources[new_path] = source.from_text(text, new_path)
    return _Rewrite(sources, refused, rewritten.blocks)
