"""`samedevice modernize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .changes import finish, tell_notes, to_stdout
from .errors import exit_codes, fail
from .help import Command
from .options import Exclude, Paths
from .project import settings
from .root import app
from .screen import track, working

if TYPE_CHECKING:
    from ..migration.migrate import Outcome
    from ..migration.modernize.plan import Plan
    from ..reading.config import Config


@app.command(cls=Command, short_help="Turn Python 2 files into Python 3: show a diff, ask, write.")
@exit_codes
def modernize(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    patch: Annotated[
        bool,
        typer.Option("--patch", help="Print it as a patch for `git apply`, and write nothing."),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also files that parse but use names that Python 3 does not have."
        ),
    ] = False,
    exclude: Exclude = None,
) -> int:
    """Turn files of Python 2, or from before 3.7, into Python 3; shows a diff and asks, as fix."""
    from ..migration.modernize.plan import plan

    paths = paths or ["."]
    if yes + diff + patch > 1:
        fail("--yes, --diff and --patch cannot be used together")
    if "-" in paths and len(paths) > 1:
        fail("code from standard input goes alone: give no other path")
    config = settings(paths, exclude=exclude)
    planned = plan(paths, config, everything, track)
    if paths == ["-"] and not (diff or patch):
        return to_stdout(planned.outcome)
    code = finish(planned.outcome, ask=not yes, diff=diff, patch=patch)
    tell_notes(planned)
    return code


def modernized_and_fixed(paths: Sequence[str], config: Config) -> tuple[Outcome, Plan]:
    """Return what `modernize --all` and then `fix` would do, and what is left to do by hand."""
    from ..migration import migrate
    from ..migration.modernize import plan

    planned = plan.plan(paths, config, everything=True, track=track)
    project = plan.project(planned.outcome, config, paths)
    with working("fixing", project) as step:
        outcome = migrate.migrate(project, config, step=step)
    return plan.then(planned.outcome, outcome), planned
