"""`samedevice cache`."""

from __future__ import annotations

import typer

from .errors import CLEAN, exit_codes, fail
from .help import Command, Group
from .root import app
from .screen import count

cache = typer.Typer(
    cls=Group,
    help="Show or empty what `check` remembers between runs.",
    no_args_is_help=True,
)


app.add_typer(cache, name="cache")


@cache.command(cls=Command, name="dir")
@exit_codes
def cache_dir() -> int:
    """Print the folder of the cache."""
    from ..migration.cache import folder

    typer.echo(folder())
    return CLEAN


@cache.command(cls=Command, name="info")
@exit_codes
def cache_info() -> int:
    """Print how many projects the cache knows, and its size."""
    from ..migration.cache import LIMIT, entries, folder

    known = entries()
    size = sum(path.stat().st_size for path in known)
    typer.echo(f"{folder()}: {count(len(known), 'project')}, {size / 1e6:.1f} MB")
    typer.echo(f"the oldest entries go at {LIMIT / 1e6:.0f} MB")
    return CLEAN


@cache.command(cls=Command, name="clear")
@exit_codes
def cache_clear() -> int:
    """Remove all that is kept."""
    from ..migration.cache import clear, folder

    try:
        typer.echo(f"{clear() / 1e6:.1f} MB freed in {folder()}", err=True)
    except OSError as error:
        fail(f"{error.filename}: cannot be removed: {error.strerror}")
    return CLEAN
