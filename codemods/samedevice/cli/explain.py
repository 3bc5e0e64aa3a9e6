"""`samedevice explain`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import CLEAN, FOUND, exit_codes, fail
from .help import Command
from .options import Exclude
from .project import read, settings
from .root import app
from .screen import make_console

if TYPE_CHECKING:
    from ..project import Project
    from ..repair import Explanation


@app.command(cls=Command, short_help="Explain a traceback from a GPU machine.")
@exit_codes
def explain(
    error: Annotated[
        str, typer.Argument(metavar="FILE", help="A file with the traceback; - is standard input.")
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="The project.", show_default="."),
    ] = None,
    exclude: Exclude = None,
) -> int:
    """Find the statement of a traceback in the project, and say what meets there and why.

    Runs none of the code. Exit code: 0 explained, 1 it is not of this project, 2 no traceback.
    """
    from .. import repair

    try:
        text = sys.stdin.read() if error == "-" else Path(error).read_text(errors="replace")
    except OSError as problem:
        fail(f"{error}: cannot be read: {problem.strerror}")
    paths = paths or ["."]
    config = settings(paths, exclude=exclude)
    project = read(paths, config)
    found = repair.explain(text, project, config)
    if found is None:
        fail(f"{error}: there is no traceback in it; paste all of it, from its first line on")
    _tell_explanation(found, project)
    return CLEAN if found.path else FOUND


def _tell_explanation(found: Explanation, project: Project) -> None:
    """Print what a traceback says about a project."""
    from ..report.text import show

    console = make_console()
    console.print(f"{found.exception}: {found.message}", style="bold red", markup=False)
    if not found.path:
        console.print("none of its frames is in this project", markup=False)
        return
    console.print(f"{found.path}:{found.line}: {found.code}", markup=False, highlight=False)
    for operand in found.operands:
        where = _PLACES[operand.place.value] if operand.certain else _DEMAND
        console.print(f"  {operand.code} {where}", markup=False)
        for origin in operand.origins:
            code = project.sources[origin.path].line(origin.span.line).strip()
            if (origin.path, origin.span.line) != (found.path, found.line):
                console.print(f"    since {origin.path}:{origin.span.line}: {code}")
    if found.findings:
        show(console, found.findings, project.sources)
        if any(finding.fix is not None for finding in found.findings):
            console.print("`samedevice fix` repairs it", markup=False)
    else:
        console.print(
            "reading the code shows nothing wrong here; "
            '`samedevice fix --run "PROGRAM"` finds out by running it',
            markup=False,
        )


_PLACES = {
    "host": "is on the CPU",
    "central": "is on the device",
    "fixed": "is on a device that the code names",
    "follows": "is where the function's input is",
    "unknown": "is on the CPU, unless something that cannot be seen here moves it",
}


_DEMAND = "is on the CPU, but has to be where the others are"
