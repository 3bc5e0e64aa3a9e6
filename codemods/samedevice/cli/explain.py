"""`samedevice explain`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import CLEAN, FOUND, exit_codes, fail
from .help import Command
from .options import ConfigFile, Exclude, Isolated
from .project import read, settings
from .root import app
from .screen import make_console

if TYPE_CHECKING:
    from rich.console import Console

    from ..explain import Explanation, Meeting
    from ..finding import Finding
    from ..reading.project import Project


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
    config_file: ConfigFile = "",
    isolated: Isolated = False,
) -> int:
    """Find the statement of a traceback in the project, and say what meets there and why.

    Of a message alone, the findings that can raise it are listed. Runs none of the code. Exit code:
    0 explained, or not about devices; 1 it is not of this project; 2 no traceback.
    """
    from ..explain import explain as explained

    try:
        text = sys.stdin.read() if error == "-" else Path(error).read_text(errors="replace")
    except OSError as problem:
        fail(f"{error}: cannot be read: {problem.strerror}")
    paths = paths or ["."]
    config = settings(paths, exclude=exclude, file=config_file, isolated=isolated)
    project = read(paths, config)
    found = explained(text, project, config)
    if found is None:
        fail(f"{error}: there is no traceback in it; paste all of it, from its first line on")
    _tell_explanation(found, project)
    return CLEAN if found.path or found.elsewhere or found.topic != "device" else FOUND


def _tell_explanation(found: Explanation, project: Project) -> None:
    """Print what a traceback says about a project."""
    from ..finding import Span
    from ..prove.topics import MEANING
    from ..report.place import short_place

    console = make_console()
    soft = not console.is_terminal  # in a file a statement stays one line

    def tell(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=soft)

    said = ": ".join(filter(None, (found.exception, found.message)))
    console.print(said, style="bold red", markup=False, soft_wrap=soft)
    if found.topic != "device":
        tell(MEANING[found.topic])
    if found.path:
        at = short_place(found.path, Span(found.line, 0, found.line, 0), project.sources)
        tell(f"{at}: {found.code}")
    if found.topic != "device":
        return
    if not found.path and not found.elsewhere:
        tell("none of its frames is in this project, and nothing in it can raise this")
        return
    for operand in found.operands:
        _tell_operand(operand, found, project, tell)
    if found.doubt:
        tell(found.doubt)
    if found.findings:
        _show(found.findings, project, console)
    elif found.elsewhere:
        tell("nothing wrong is found in this line; this can raise it:" if found.path else
             "it has no frame of this project; this can raise it:")  # fmt: skip
        _show(found.elsewhere, project, console)
    else:
        tell(
            "reading the code shows nothing wrong here; "
            '`samedevice fix --run "PROGRAM"` finds out by running it'
        )


def _tell_operand(
    operand: Meeting, found: Explanation, project: Project, tell: Callable[[str], None]
) -> None:
    from ..report.place import short_place

    where = _PLACES[operand.place.value] if operand.certain else _DEMAND
    tell(f"  {operand.code} {where}" + (": torch says so" if operand.told else ""))
    for origin in operand.origins:
        code = project.sources[origin.path].line(origin.span.line).strip()
        if (origin.path, origin.span.line) != (found.path, found.line):
            at = short_place(origin.path, origin.span, project.sources)
            tell(f"    since {at}: {code}")


def _show(findings: Sequence[Finding], project: Project, console: Console) -> None:
    from ..report.text import show

    show(console, list(findings), project.sources)
    if any(finding.fix is not None for finding in findings):
        console.print("`samedevice fix` repairs it", markup=False)


_PLACES = {
    "host": "is on the CPU",
    "central": "is on the device",
    "fixed": "is on a device that the code names",
    "follows": "is where the function's input is",
    "unknown": "is on the CPU, unless something that cannot be seen here moves it",
}


_DEMAND = "is on the CPU, but has to be where the others are"
