"""`samedevice map`: infer, write the page, open it."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from .. import migrate, write
from ..check import Step
from ..config import Config
from ..project import Project
from ..source import SourceError
from . import page


def run(
    project: Project,
    config: Config,
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
    outcome = migrate.migrate(project, config, step=step) if fixed else None
    title = os.path.basename(os.path.abspath(paths[0])) if paths != ["-"] else "standard input"
    text = page(project, config, title=title, fixed=outcome, step=step)
    if output == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        return
    write.replace(output, text.encode("utf-8"))
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


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
