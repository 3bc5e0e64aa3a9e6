"""`samedevice server`."""

from __future__ import annotations

from typing import Annotated

import typer

from .errors import CLEAN, exit_codes, fail
from .help import Command
from .root import app


@app.command(cls=Command, short_help="Serve an editor by the Language Server Protocol.")
@exit_codes
def server(
    tcp: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=1, max=65535, help="Serve on a socket of this machine instead."
        ),
    ] = None,
) -> int:
    """Serve an editor on standard input and output; docs/editors.md has the editors' settings."""
    try:
        from ..server import serve
    except ImportError as error:
        from .installation import install

        fail(f"{error.name} is missing: {install('pygls', 'lsprotocol', extra='server')}")
    try:
        serve(tcp)
    except OSError as error:
        if tcp is None:
            raise
        fail(f"--tcp {tcp}: {error.strerror}")
    return CLEAN
