"""A project as one HTML page: the source, coloured by where every tensor and module lives."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..check import Step, check
from ..config import Config
from ..finding import Finding
from ..project import Project
from . import html, model
from .html import Page


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
    states = (project,) if after is None else (project, after)
    views = [
        model.view(state, check(state, config, step) if found is None else found[number], only)
        for number, state in enumerate(states)
    ]
    return html.render(
        views[0], None if after is None else views[1], title=title, root=root, only=frozenset(only)
    )


__all__ = ["Page", "page"]
