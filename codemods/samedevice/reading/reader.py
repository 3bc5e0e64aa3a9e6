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
    project = Project([*sources, *context], config.resolver, config.torch_floor, around)
    project.errors += errors
    return project


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
    seen = {normal(each.path) for each in sources}
    found: list[Source] = []
    waiting = list(sources)
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
