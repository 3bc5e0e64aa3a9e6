"""Flags and paths to settings and a project; and again whenever a file changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from .errors import CLEAN, INTERRUPTED, fail
from .screen import track

if TYPE_CHECKING:
    from ..cache import Cache
    from ..config import Config
    from ..project import Project


def settings(
    paths: Sequence[str],
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
    safe: Sequence[str] | None,
    unsafe_rule: Sequence[str] | None,
    exclude: Sequence[str] | None,
    resolver: str,
    unsafe: bool = False,
) -> Config:
    """Return the settings that hold for `paths`, with the flags that were given."""
    from .. import config

    return config.load(paths).with_flags(
        select=names(select),
        ignore=names(ignore),
        safe=names(safe),
        unsafe_rule=names(unsafe_rule),
        exclude=exclude or (),
        resolver=resolver,
        unsafe=unsafe,
    )


def names(given: Sequence[str] | None) -> list[str]:
    """Return the rules that a flag was given, which may be several in one word with commas."""
    return [name for word in given or () for name in word.split(",") if name]


def read(paths: Sequence[str], config: Config) -> Project:
    """Return the files under `paths`, read; says so when there are none."""
    from .. import reading

    project = reading.read(paths, config, track)
    if not project.sources and not project.errors:
        typer.echo(f"there is no Python file or notebook in {', '.join(paths)}", err=True)
    return project


def cache_of(project: Project, config: Config) -> Cache:
    """Return what is known of a project from earlier runs: of `check` and `fix` alike."""
    from dataclasses import replace

    from ..cache import Cache

    return Cache(project, replace(config, unsafe=False))  # what is found is the same either way


_PAUSE = 0.5  # seconds between two looks at the files that are watched


def watched(
    paths: Sequence[str],
    exclude: Sequence[str] | None,
    command: Callable[..., None],
    options: Mapping[str, object],
) -> int:
    """Run a command, and again after each change of a file under `paths`, until Ctrl-C."""
    import time

    from ..files import state

    if "-" in paths:
        fail("--watch is for files")
    config = settings(paths, None, None, None, None, exclude, "")
    seen: object = None
    try:
        while True:
            now = state(paths, config.exclude)
            if now != seen:
                seen = now
                try:
                    command(**options)
                except typer.Exit as done:
                    if done.exit_code == INTERRUPTED:
                        return CLEAN
                now_is = time.strftime("%H:%M:%S")
                typer.echo(f"{now_is} waiting for changes, until Ctrl-C", err=True)
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return CLEAN
