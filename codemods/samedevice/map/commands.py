"""`samedevice map`: infer, write the page, open it."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote

from .. import config, migrate, source, write
from ..check import Step
from ..config import Config
from ..project import Project
from ..source import SourceError
from . import page


def run(
    project: Project,
    settings: Config,
    paths: list[str],
    output: str,
    *,
    fixed: bool,
    show: bool,
    step: Step,
) -> None:
    """Write the map of a project to `output`, "-" for standard output, and open it in a browser.

    Raises `SourceError` when it cannot be written.
    """
    after = None
    if fixed:
        outcome = migrate.migrate(project, settings, step=step)
        after = project.like(outcome.sources.values())
    first = paths[0]
    title = "standard input" if first == "-" else os.path.basename(os.path.abspath(first))
    root = first if os.path.isdir(first) else os.path.dirname(first)
    made = page(project, settings, after=after, title=title, root=root, step=step)
    data = made.text.encode("utf-8")
    if output == "-":
        sys.stdout.buffer.write(data)
        return
    write.replace(output, data)
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


def beside(before: Path, after: Path, title: str, about: Path) -> dict[str, str]:
    """Write the map of a change between two folders next to a page about it.

    Returns the link to each file that is on it, by the file's path in the folders, and under ""
    the one to the map. Raises `SourceError` or `ConfigError` when they cannot be read.
    """
    settings = config.load([str(before)])
    old, new = (_named(migrate.read([str(folder)], settings), folder) for folder in (before, after))
    name = about.stem + ".map.html"
    made = page(old, settings, after=new, title=title)
    write.replace(str(about.with_name(name)), made.text.encode("utf-8"))
    link = quote(name)
    return {"": link} | {path: f"{link}#{anchor}" for path, anchor in made.anchors.items()}


def _named(project: Project, folder: Path) -> Project:
    """Return a project whose files are called by their path under a folder."""
    sources = [
        source.from_bytes(Path(path).read_bytes(), Path(path).relative_to(folder).as_posix())
        for path in project.sources
    ]
    named = project.like(sources)
    named.errors.extend(project.errors)
    return named


def check_output(output: str, show: bool = False) -> None:
    """Raise `SourceError` for a page that cannot be written, before any work is done for it."""
    if output == "-":
        if show:
            raise SourceError("--open", "a page on standard output cannot be opened; name a file")
        return
    folder = os.path.dirname(output) or "."
    if os.path.isdir(output):
        raise SourceError(output, "is a folder; name a file in it, such as -o map.html")
    if not os.path.isdir(folder):
        raise SourceError(output, f"cannot be written: there is no folder {folder}")
