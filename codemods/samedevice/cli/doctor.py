"""`samedevice doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from .errors import CLEAN, FAILED, exit_codes
from .help import Command
from .root import app
from .screen import NARROW, make_console


@app.command(cls=Command, short_help="Tell what is installed, and how to get what is missing.")
@exit_codes
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> int:
    """Look at this installation: versions, torch, devices, the virtual accelerator, extras, git.

    It imports torch and runs a small program of its own, none of yours. Exit code: 2 if something
    that is here does not work.
    """
    from rich.table import Table
    from rich.text import Text

    from . import installation as doctor_

    console = make_console(stderr=True)
    with console.status("looking at torch ..."):
        checks = doctor_.examine()
    if as_json:
        typer.echo(doctor_.dump(checks))
    else:
        styles = {"ok": "green", "missing": "yellow", "wrong": "bold red", "note": "dim"}
        to = make_console()
        table = Table.grid(padding=(0, 2, 0, 0))
        for check in checks:
            detail = Text(check.detail, overflow="fold")
            if check.get:
                detail.append(f"\nto get it: {check.get}", "bold")
            state = Text(check.state, styles[check.state], no_wrap=True)
            if to.width < NARROW:
                table.add_row(state, Text(f"{check.name}\n").append_text(detail))
            else:
                table.add_row(state, Text(check.name, no_wrap=True), detail)
        to.print(table)
        typer.echo(doctor_.summary(checks), err=True)
    return FAILED if any(check.state == "wrong" for check in checks) else CLEAN
