"""A project as one HTML page: the source, coloured by where every tensor and module lives."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..finding import Finding
from ..migration.check import Step, check
from ..reading.config import Config
from ..reading.project import Project
from . import html, model
from . import picture as drawn
from .html import Page
from .model import View
from .names import Names


def page(
    project: Project,
    config: Config,
    *,
    after: Project | None = None,
    title: str = "",
    root: str = "",
    only: Collection[str] = (),
    found: tuple[Sequence[Finding], Sequence[Finding]] | None = None,
    step: Step = lambda files: None,
) -> Page:
    """Return the map of a project as an HTML document that loads nothing.

    With `after`, the same files after a change, both are shown side by side. Files are called by
    their path under the folder `root`; `only` names the files to show, when not all. `found` is
    what `check` finds in both states, where that is known. `step` is told of files that are done.
    Raises `ConfigError` as `check` does.
    """
    before, then = _views(project, config, after, only, found, step)
    names = _names(before, then, root)
    return html.render(before, then, title=title, names=names, only=frozenset(only))


def picture(
    project: Project,
    config: Config,
    *,
    after: Project | None = None,
    title: str = "",
    root: str = "",
    dark: bool = True,
    step: Step = lambda files: None,
) -> str:
    """Return the map as one SVG picture: what is found, with its code, and the files.

    The names are those of `page`. It follows the reader's colours, without `dark` it is light.
    Raises `ConfigError` as `check` does.
    """
    before, then = _views(project, config, after, (), None, step)
    names = _names(before, then, root)
    return drawn.draw(
        before, then, names, title or "project", model.marked(before, then, names.paths), dark
    )


def _views(
    project: Project, config: Config, after: Project | None, only: Collection[str],
    found: tuple[Sequence[Finding], Sequence[Finding]] | None, step: Step,
) -> tuple[View, View | None]:  # fmt: skip
    states = (project,) if after is None else (project, after)
    views = [
        model.view(state, check(state, config, step) if found is None else found[number], only)
        for number, state in enumerate(states)
    ]
    return views[0], None if after is None else views[1]


def _names(before: View, after: View | None, root: str) -> Names:
    return Names(root, list(dict.fromkeys([*before.files, *(after.files if after else ())])))


__all__ = ["Page", "page", "picture"]
