"""A project as one HTML page: the source, coloured by where every tensor and module lives."""

from __future__ import annotations

from collections.abc import Collection

from ..check import Step
from ..config import Config
from ..migrate import Outcome
from ..project import Project
from . import html, model


def page(
    project: Project,
    config: Config,
    *,
    title: str = "",
    fixed: Outcome | None = None,
    only: Collection[str] = (),
    step: Step = lambda files: None,
) -> str:
    """Return the map of a project as an HTML document that loads nothing.

    With `fixed`, the project is shown before and after these changes, side by side. `only` names
    the files to show, when not all; `step` is told of files that are done. Raises `ConfigError` as
    `check` does.
    """
    before = model.view(project, config, step)
    after = None
    if fixed is not None:
        after = model.view(project.like(fixed.sources.values()), config, step)
    return html.render(before, after, title=title, only=frozenset(only))


__all__ = ["page"]
