"""Flags and paths to settings and a project; and again whenever a file changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from .errors import CLEAN, INTERRUPTED, fail
from .screen import count, detail, say, track

if TYPE_CHECKING:
    from ..migration.cache import Cache
    from ..reading.config import Config
    from ..reading.project import Project


def settings(
    paths: Sequence[str],
    *,
    select: Sequence[str] | None = None,
    extend_select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    safe: Sequence[str] | None = None,
    unsafe_rule: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    convert: Sequence[str] | None = None,
    resolver: str = "",
    unsafe: bool = False,
    baseline: str | None = None,
    file: str = "",
    isolated: bool = False,
    stdin_filename: str = "",
) -> Config:
    """Return the settings that hold for `paths`, with the flags that were given."""
    from ..reading import config

    if file and isolated:
        fail("--config and --isolated cannot be used together")
    if stdin_filename and "-" not in paths:
        fail("--stdin-filename needs the path -")
    where = [stdin_filename or path if path == "-" else path for path in paths]
    found = config.load(where, file=file, isolated=isolated)
    detail(f"settings: {', '.join(found.files) or 'none'}")
    config_ = found.with_flags(
        select=names(select),
        extend_select=names(extend_select),
        ignore=names(ignore),
        safe=names(safe),
        unsafe_rule=names(unsafe_rule),
        exclude=exclude or (),
        convert=convert or (),
        resolver=resolver,
        unsafe=unsafe,
        baseline=baseline,
    )
    for told in config_.old_names:
        say(told)
    return config_


def names(given: Sequence[str] | None) -> list[str]:
    """Return the rules that a flag was given, which may be several in one word with commas."""
    return [name for word in given or () for name in word.split(",") if name]


def read(paths: Sequence[str], config: Config, stdin_filename: str = "") -> Project:
    """Return the files under `paths`, read; says so when there are none."""
    from ..reading import reader

    project = reader.read(paths, config, track, stdin_filename or "-")
    if not project.sources and not project.errors:
        typer.echo(f"there is no Python file or notebook in {', '.join(paths)}", err=True)
    _tell_run_order(project)
    if project.context:
        detail(f"read as well, as they are imported: {count(len(project.context), 'file')}")
    return project


def _tell_run_order(project: Project) -> None:
    """Say which notebooks were run in another order than their cells stand in."""
    from ..reading.source import printable

    found = {path: source.run_order for path, source in project.sources.items() if source.run_order}
    for path, order in found.items():
        if order.taken:
            say(f"note: {printable(path)}: {order}")
    others = [(path, order) for path, order in found.items() if not order.taken]
    for path, order in others[:1]:
        say(f"note: {printable(path)}: {order}")
    if others[1:]:
        say(f"note: the cells of {count(len(others) - 1, 'more notebook')} ran out of order, too")


def cache_of(project: Project, config: Config) -> Cache:
    """Return what is known of a project from earlier runs: of `check` and `fix` alike."""
    from dataclasses import replace

    from ..migration.cache import Cache

    return Cache(project, replace(config, unsafe=False))  # what is found is the same either way


_PAUSE = 0.5  # seconds between two looks at the files that are watched


def watched(
    paths: Sequence[str],
    config: Config,
    command: Callable[..., None],
    options: Mapping[str, object],
) -> int:
    """Run a command, and again after each change of a file under `paths`, until Ctrl-C.

    Of `options` those that are parameters of the command are passed on.
    """
    import inspect
    import time

    from ..reading.files import state

    if "-" in paths:
        fail("--watch is for files")
    flags = {name: options[name] for name in inspect.signature(command).parameters}
    seen: object = None
    try:
        while True:
            now = state(paths, config.exclude)
            if now != seen:
                seen = now
                try:
                    command(**flags)
                except typer.Exit as done:
                    if done.exit_code == INTERRUPTED:
                        return CLEAN
                now_is = time.strftime("%H:%M:%S")
                typer.echo(f"{now_is} waiting for changes, until Ctrl-C", err=True)
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return CLEAN
