"""`samedevice` itself: the greeting, the version, mistakes in the words of a command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from .errors import FAILED, INTERRUPTED, no_more_output, tell_error
from .help import Group

_WHAT = "finds where PyTorch tensors and modules are on the wrong device, and repairs it."


app = typer.Typer(
    help=f"F{_WHAT[1:]}",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 findings (or a diff), 2 an error.",
    cls=Group,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"samedevice {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        greet()


_FIRST = {
    "check {here}": "what is on the wrong device, and why",
    "fix {here}": "repair it: shows a diff, asks, writes",
    "map {here}": "the code as a page, coloured by where every tensor lives",
    "explain FILE": "what a traceback from a GPU machine is about",
    "run FILE": "execute a program on a virtual accelerator",
    "init": "settings, pre-commit and CI files for this project",
    "doctor": "what is installed, and how to get what is missing",
}


def greet() -> None:
    """Say what there is and what to do next; a newcomer would check this folder, if it has code."""
    here = Path()
    try:
        code = any(any(here.glob(pattern)) for pattern in ("*.py", "*.ipynb", "*/*.py"))
    except OSError:
        code = False
    path = "." if code else "PATH"
    typer.echo(f"samedevice {__version__} {_WHAT}\n")
    for words, meaning in _FIRST.items():
        typer.echo(f"  samedevice {words.format(here=path):<12}  {meaning}")
    typer.echo(f"\nNext: samedevice check {path}\nEverything else: samedevice --help")


_USAGE: type[Exception] = typer.BadParameter.__mro__[1]


_CLICK: type[Exception] = typer.BadParameter.__mro__[2]


def main() -> None:
    """Run the command line."""
    try:
        code = app(prog_name="samedevice", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("interrupted", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        no_more_output()
        code = FAILED
    except _CLICK as error:
        wrong: Any = error
        tell_error(wrong.format_message().replace(": Value error, ", ": "))
        if isinstance(error, _USAGE):
            command = wrong.ctx.command_path if wrong.ctx is not None else "samedevice"
            typer.echo(f"`{command} --help` lists what there is", err=True)
        code = FAILED
    sys.exit(code)
