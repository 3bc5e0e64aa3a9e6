"""`samedevice map`: infer, write the page or the picture, open it."""

from __future__ import annotations

import os
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from ..migration import migrate, write
from ..migration.check import Step
from ..reading import config, source
from ..reading.config import Config
from ..reading.project import Project
from ..reading.source import SourceError
from . import page, picture


def run(
    project: Project,
    settings: Config,
    paths: list[str],
    output: str,
    *,
    image: bool,
    fixed: bool,
    show: bool,
    step: Step,
) -> None:
    """Write the map of a project to `output`, "-" for standard output, and open it in a browser.

    With `image` it is a picture, SVG or PNG by the ending of `output`, and else a page. Raises
    `SourceError` when it cannot be written.
    """
    after = None
    if fixed:
        outcome = migrate.migrate(project, settings, step=step)
        after = project.like(outcome.sources.values())
    first = paths[0]
    title = "standard input" if first == "-" else os.path.basename(os.path.abspath(first))
    root = first if os.path.isdir(first) else os.path.dirname(first)
    if image:
        png = _is_png(output)
        drawn = picture(
            project, settings, after=after, title=title, root=root, dark=not png, step=step
        )
        data = _png(drawn, output) if png else drawn.encode("utf-8")
    else:
        made = page(project, settings, after=after, title=title, root=root, step=step)
        data = made.text.encode("utf-8")
    if output == "-":
        sys.stdout.buffer.write(data)
        return
    write.replace(output, data)
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


def _is_png(output: str) -> bool:
    return output.lower().endswith(".png")


def _png(drawn: str, output: str) -> bytes:
    """Return an SVG picture as PNG, twice as large, so that it is sharp where it is shown smaller.

    resvg draws letters with the fonts of this machine, and nothing where it finds none: then
    `SourceError` is raised, as for a picture without text.
    """
    import resvg_py

    text = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{}</svg>'
    blank, letter = (
        bytes(resvg_py.svg_to_bytes(svg_string=text.format(said)))
        for said in ("", '<text y="30" font-size="30" font-family="monospace">x</text>')
    )
    if blank == letter:
        raise SourceError(output, "cannot be drawn: this machine has no font; write an SVG")
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, zoom=2))


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


def check_output(output: str, show: bool = False, image: bool = False) -> None:
    """Raise `SourceError` for what cannot be written, before any work is done for it."""
    if output == "-":
        if show:
            raise SourceError("--open", "a page on standard output cannot be opened; name a file")
        if image:
            raise SourceError("--image", "name a file, such as map.svg")
        return
    folder = os.path.dirname(output) or "."
    kind = "map.svg" if image else "map.html"
    if os.path.isdir(output):
        option = "--image" if image else "-o"
        raise SourceError(output, f"is a folder; name a file in it, such as {option} {kind}")
    if not os.path.isdir(folder):
        raise SourceError(output, f"cannot be written: there is no folder {folder}")
    if image and not output.lower().endswith((".svg", ".png")):
        raise SourceError(output, "a picture is an SVG or a PNG; let its name end in .svg or .png")
    if image and _is_png(output) and find_spec("resvg_py") is None:
        raise SourceError(
            output,
            "a PNG is drawn by resvg-py, which is not installed: pip install 'samedevice[image]'; "
            "an SVG needs nothing",
        )
