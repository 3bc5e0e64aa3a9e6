"""`samedevice batch`: the commands of that room, mounted."""

from __future__ import annotations

import typer

from ..batch import commands
from .errors import exit_codes
from .help import Command, Group
from .root import app

batch = typer.Typer(cls=Group, help="Migrate many repositories.", no_args_is_help=True)
app.add_typer(batch, name="batch")
for _command in commands.COMMANDS:
    batch.command(cls=Command)(exit_codes(_command))
