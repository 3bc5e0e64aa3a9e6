"""`samedevice fix`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .changes import finish, tell_notes, to_stdout
from .errors import FOUND, exit_codes, fail
from .options import (
    Exclude,
    Ignore,
    NoCache,
    Paths,
    Resolver,
    Safe,
    Select,
    TimeLimit,
    UnsafeRule,
    Watch,
)  # fmt: skip
from .project import cache_of, read, settings, watched
from .root import app
from .screen import make_console, track, working, write_report

if TYPE_CHECKING:
    from ..config import Config
    from ..migrate import Outcome
    from ..project import Project


@app.command(short_help="Repair it: show a diff, ask, write.")
@exit_codes
def fix(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for each change, as git add -p does.")
    ] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Apply unsafe fixes, too; each says why it is one.")
    ] = False,
    modernize: Annotated[
        bool, typer.Option("--modernize", help="First do what `samedevice modernize --all` does.")
    ] = False,
    prove: Annotated[
        str,
        typer.Option(
            metavar="PROGRAM",
            help='Run "main.py --epochs 1" before and after, in copies; write only what passes.',
            show_default=False,
        ),
    ] = "",
    run: Annotated[
        str,
        typer.Option(
            metavar="PROGRAM",
            help="Run it on the virtual accelerator, in a copy, and repair the clashes it shows.",
            show_default=False,
        ),
    ] = "",
    time_limit: TimeLimit = 600.0,
    report: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write the list of changes, and of what was left and why, to a .json, .md or "
            ".html file.",
            show_default=False,
        ),
    ] = "",
    select: Select = None,
    ignore: Ignore = None,
    safe: Safe = None,
    unsafe_rule: UnsafeRule = None,
    exclude: Exclude = None,
    resolver: Resolver = "",
    no_cache: NoCache = False,
    watch: Watch = False,
) -> int:
    """Show what would change as a diff, ask, and write it.

    Runs none of the code, unless --prove or --run says so.
    """
    if watch:
        if not (yes or diff):
            fail("--watch asks nothing: it goes with --yes or --diff")
        return watched(paths or ["."], exclude, fix, {**locals(), "watch": False})
    from .. import migrate
    from ..report import changes as changes_

    paths = paths or ["."]
    if yes + diff + interactive > 1:
        fail("--yes, --diff and --interactive exclude each other")
    if "-" in paths and (len(paths) > 1 or interactive):
        fail("code from standard input is fixed alone and without questions")
    if (prove or run) and (paths == ["-"] or modernize):
        fail("--prove and --run need files to run, and go without --modernize")
    if modernize and (interactive or report):
        fail("--modernize goes without --interactive and --report: run samedevice modernize first")
    if report:
        changes_.check_name(report)
    config = settings(paths, select, ignore, safe, unsafe_rule, exclude, resolver, unsafe)
    if modernize:
        from ..modernize import plan

        planned = plan.plan(paths, config, everything=True, track=track)
        project = plan.project(planned.outcome, config)
    else:
        project = read(paths, config)
    cache = None if no_cache or modernize or run or "-" in paths else cache_of(project, config)
    if run:
        outcome = _repaired(project, config, paths, run, time_limit)
    else:
        with working("fixing", project) as step:
            outcome = migrate.migrate(project, config, step=step, cache=cache)
    if modernize:
        outcome = plan.then(planned.outcome, outcome)
    if interactive:
        from ..interactive import choose

        declined = choose(outcome, make_console())
        if declined:
            with working("fixing", project) as step:
                outcome = migrate.migrate(project, config, declined, step, cache=cache)
    if cache is not None:
        cache.write()
    if report:
        write_report(report, changes_.dump(changes_.change_list(outcome), report))
    if paths == ["-"] and not diff:
        return to_stdout(outcome)
    if prove and outcome.changes and not _passes(outcome, paths, prove, time_limit):
        typer.echo("not proved: nothing was written", err=True)
        return FOUND
    code = finish(outcome, ask=not (yes or interactive), diff=diff)
    if modernize:
        tell_notes(planned)
    return code


def _root(paths: Sequence[str]) -> Path:
    """Return the folder that a program of these paths runs in."""
    first = Path(paths[0])
    return first if first.is_dir() else first.parent


def _passes(outcome: Outcome, paths: Sequence[str], program: str, limit: float | None) -> bool:
    """Run a program before and after the changes and show what that proves."""
    from .. import repair
    from ..prove.commands import show_proof
    from ..prove.process import Limits
    from ..prove.run import ProgramError, Settings

    console = make_console(stderr=True)
    try:
        with console.status("") as status:
            proof = repair.proved(
                outcome, _root(paths), program, Settings(limits=Limits(seconds=limit)),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        fail(str(error))
    show_proof(proof, console)
    return proof.passed


def _repaired(
    project: Project, config: Config, paths: Sequence[str], program: str, limit: float | None
) -> Outcome:
    """Fix a project, run the program, and repair what the run shows."""
    from .. import repair
    from ..prove.display import render_clash
    from ..prove.process import Limits
    from ..prove.run import ProgramError, Settings

    console = make_console(stderr=True)
    try:
        with console.status("") as status:
            done = repair.by_running(
                project, config, _root(paths), program, Settings(limits=Limits(seconds=limit)),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        fail(str(error))
    if done.result.status == "refused":
        fail(done.result.message)
    for finding in done.seen:
        console.print(f"{finding.path}:{finding.span.line}: {finding.message}", markup=False)
    if done.result.clash is not None:
        console.print(render_clash(done.result.clash))
        console.print(f"not repaired: {done.stuck}")
    else:
        console.print(f"{program}: {done.result.message or done.result.status}", markup=False)
    return done.outcome
