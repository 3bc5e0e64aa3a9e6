"""`samedevice modernize`."""

from __future__ import annotations

from typing import Annotated

import typer

from .changes import finish, tell_notes, to_stdout
from .errors import exit_codes, fail
from .options import Exclude, Paths
from .project import settings
from .root import app
from .screen import track


@app.command(short_help="Turn Python 2 files into Python 3: show a diff, ask, write.")
@exit_codes
def modernize(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also files that parse and use names that Python 3 has not."),
    ] = False,
    exclude: Exclude = None,
) -> int:
    """Turn files of Python 2, or from before 3.7, into Python 3; shows a diff and asks, as fix."""
    from ..modernize.plan import plan

    paths = paths or ["."]
    if yes and diff:
        fail("--yes and --diff exclude each other")
    if "-" in paths and len(paths) > 1:
        fail("code from standard input is changed alone")
    config = settings(paths, None, None, None, None, exclude, "")
    planned = plan(paths, config, everything, track)
    if paths == ["-"] and not diff:
        return to_stdout(planned.outcome)
    code = finish(planned.outcome, ask=not yes, diff=diff)
    tell_notes(planned)
    return code
