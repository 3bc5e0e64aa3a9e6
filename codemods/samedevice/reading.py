"""Paths -> Project: the files that a user means, read."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

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


_LOOKED_AT = 1_000_000  # bytes of a file that was not given in which torch is looked for


def not_given(project: Project, paths: Sequence[str]) -> list[str]:
    """Return the files about torch that the named files import, and that are not in the project.

    They are looked for beside the files that import them. What they say of devices is not known.
    """
    given = {os.path.abspath(path) for path in project.sources}
    found: dict[str, None] = {}
    for path in paths:
        tree = project.tree(path) if path in project.sources else None
        for file in _imported_beside(path, tree) if tree is not None else ():
            if os.path.abspath(file) not in given and file not in found and _is_about_torch(file):
                found[file] = None
    return list(found)


def _imported_beside(path: str, tree: ast.Module) -> Iterator[str]:
    """Yield the Python files beside a file that it imports."""
    for node in ast.walk(tree):
        folder = os.path.dirname(path)
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            for _ in range(node.level - 1):
                folder = os.path.join(folder, os.pardir)
            whole = node.module or ""
            modules = [whole, *(f"{whole}.{alias.name}".lstrip(".") for alias in node.names)]
        for module in filter(None, modules):
            place = os.path.join(folder, *module.split("."))
            for file in (f"{place}.py", os.path.join(place, "__init__.py")):
                if os.path.isfile(file):
                    yield os.path.normpath(file)


def _is_about_torch(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"torch" in file.read(_LOOKED_AT)
    except OSError:
        return False
