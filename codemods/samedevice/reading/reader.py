"""Paths -> Project: the files that a user means, read, and those that they import."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Sequence

from . import files, source
from .config import Config
from .layout import OnDisk, normal
from .project import Project
from .source import Source, SourceError

#: Files that import a named one, and are read with it.
_IMPORTERS = 12

Track = Callable[[Sequence[str], str], Iterable[str]]
"""Wraps an iteration over paths to show its progress under a title."""


def read(
    paths: Sequence[str],
    config: Config,
    track: Track = lambda paths, _: paths,
    stdin: str = "-",
) -> Project:
    """Read the files under `paths`; what cannot be read is in the result's `errors`.

    Standard input, the path "-", is called `stdin`. What these files import is read, too: it is
    the project's `context`. The files are parsed by `check`, which adds what does not parse: a
    large project's trees are never all in memory.
    """
    found = files.find(paths, config.exclude)
    errors = found.errors
    sources = []
    for path in track(found.paths, "reading"):
        try:
            sources.append(source.read(path, stdin) if path == "-" else source.read(path))
        except SourceError as error:
            errors.append(error)
    project = with_imports(paths, sources, config, errors)
    for path in paths:  # what is named is parsed, whatever it is about
        named = stdin if path == "-" else path
        if named in project.sources:
            project.tree(named)
    return project


def with_imports(
    paths: Sequence[str], sources: Sequence[Source], config: Config, errors: list[SourceError]
) -> Project:
    """Return the project of files that were read under `paths`, with what they import.

    `errors` are those of reading them.
    """
    errors = list(errors)
    context = _context(paths, sources, config, errors)
    around = frozenset(each.path for each in context)
    project = Project([*sources, *context], *config.asks, around)
    project.errors += errors
    return project


def _importers(named: Sequence[Source], layout: OnDisk, config: Config) -> list[Source]:
    """Return the files that import some which are named themselves, directly or not.

    They say what a helper is given, and what becomes of its options. They are looked for beside it
    and in the folders above, as far as its own imports may reach: a few of them stand for many.
    """
    found: dict[str, Source] = {normal(each.path): each for each in named}
    texts: dict[str, Source | None] = {}
    waiting = list(named)
    while waiting and len(found) - len(named) < _IMPORTERS:
        target = waiting.pop(0)
        for path in layout.around(target.path):
            if path in found or len(found) - len(named) >= _IMPORTERS:
                continue
            if path not in texts:
                texts[path] = _read(path)
            other = texts[path]
            if other is None or normal(target.path) not in layout.imported(path, other.text):
                continue
            if files.find([path], config.exclude).paths:
                found[path] = other
                waiting.append(other)
    return list(found.values())[len(named) :]


def _read(path: str) -> Source | None:
    """Return a file, None where it cannot be read: nobody has asked for it."""
    try:
        return source.read(path)
    except SourceError:
        return None


def _context(
    paths: Sequence[str], sources: Sequence[Source], config: Config, errors: list[SourceError]
) -> list[Source]:
    """Return the files that others import, directly or not, beyond these.

    What was left out below a folder that is named, or by the settings, stays out.
    """
    whole = tuple(posixpath.join(normal(path), "") for path in paths if os.path.isdir(path))
    if "./" in whole:
        return []
    layout = OnDisk()
    named = {normal(path) for path in paths}
    found = _importers([each for each in sources if normal(each.path) in named], layout, config)
    found = [each for each in found if not normal(each.path).startswith(whole)]
    seen = {normal(each.path) for each in (*sources, *found)}
    waiting = [*sources, *found]
    while waiting:
        importer = waiting.pop()
        for path in sorted(layout.imported(importer.path, importer.text) - seen):
            seen.add(path)
            wanted = [] if path.startswith(whole) else files.find([path], config.exclude).paths
            for each in wanted:
                try:
                    found.append(source.read(each))
                except SourceError as error:
                    errors.append(error)
                else:
                    waiting.append(found[-1])
    return found
