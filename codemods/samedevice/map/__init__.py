"""A project as one HTML page: the source, coloured by where every tensor and module lives."""

from __future__ import annotations

from collections.abc import Collection

from ..check import Step
from ..config import Config
from ..project import Project
from . import html, model


def page(
    project: Project,
    config: Config,
    *,
    after: Project | None = None,
    title: str = "",
    root: str = "",
    only: Collection[str] = (),
    step: Step = lambda files: None,
) -> str:
    """Return the map of a project as an HTML document that loads nothing.

    With `after`, the same files after a change, both are shown side by side. Files are called by
    their path under the folder `root`; `only` names the files to show, when not all. `step` is told
    of files that are done. Raises `ConfigError` as `check` does.
    """
    before = model.view(project, config, step)
    changed = model.view(after, config, step) if after is not None else None
    return html.render(before, changed, title=title, root=root, only=frozenset(only))


__all__ = ["page"]
