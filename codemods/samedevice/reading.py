"""Paths -> Project: the files that a user means, read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from . import files, source
from .config import Config
from .project import Project
from .source import SourceError

Track = Callable[[Sequence[str], str], Iterable[str]]
"""Wraps an iteration over paths to show its progress under a title."""


def read(
    paths: Sequence[str],
    config: Config,
    track: Track = lambda paths, _: paths,
    stdin: str = "-",
) -> Project:
    """Read the files under `paths`; what cannot be read is in the result's `errors`.

    Standard input, the path "-", is called `stdin`. The files are parsed by `check`, which adds
    what does not parse: a large project's trees are never all in memory.
    """
    found = files.find(paths, config.exclude)
    errors = found.errors
    sources = []
    for path in track(found.paths, "reading"):
        try:
            sources.append(source.read(path, stdin) if path == "-" else source.read(path))
        except SourceError as error:
            errors.append(error)
    project = Project(sources, config.resolver, config.torch_floor)
    project.errors += errors
    for path in paths:  # what is named is parsed, whatever it is about
        named = stdin if path == "-" else path
        if named in project.sources:
            project.tree(named)
    return project
