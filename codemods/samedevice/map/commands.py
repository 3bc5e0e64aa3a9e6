"""`samedevice map`: infer, write the page, open it."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

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
    text = page(project, settings, after=after, title=title, root=root, step=step)
    if output == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        return
    write.replace(output, text.encode("utf-8"))
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


def beside(before: str, after: str, about: Path) -> str:
    """Write the map of a change next to a page about it; returns its file name.

    `before` and `after` are two folders, or two files. Raises `SourceError` or `ConfigError` when
    they cannot be read.
    """
    settings = config.load([before])
    old, new = (_named(migrate.read([path], settings), path) for path in (before, after))
    name = about.stem + ".map.html"
    text = page(old, settings, after=new, title=os.path.basename(os.path.abspath(before)))
    write.replace(str(about.with_name(name)), text.encode("utf-8"))
    return name


def _named(project: Project, path: str) -> Project:
    """Return a project whose files are called by their path under a folder, or alike."""
    folder = os.path.isdir(path)
    sources = []
    for name in project.sources:
        inside = os.path.relpath(name, path).replace(os.sep, "/") if folder else "program.py"
        sources.append(source.from_bytes(Path(name).read_bytes(), inside))
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
