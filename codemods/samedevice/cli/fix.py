"""`samedevice fix`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .changes import finish, tell_notes, to_stdout
from .errors import CLEAN, FOUND, exit_codes, fail
from .help import BASELINE, REPORTS, RUNNING, Command
from .options import (
    ConfigFile,
    Convert,
    Exclude,
    ExtendSelect,
    Ignore,
    Isolated,
    NoCache,
    Paths,
    Quiet,
    Resolver,
    Safe,
    Select,
    StdinFilename,
    TimeLimit,
    UnsafeRule,
    Verbose,
    Watch,
)  # fmt: skip
from .project import cache_of, read, settings, watched
from .root import app
from .screen import Clock, count, listen, make_console, say, working, write_report

if TYPE_CHECKING:
    from ..migration.cache import Cache
    from ..migration.check import Memory
    from ..migration.migrate import Key, Outcome
    from ..reading.config import Config
    from ..reading.project import Project


@app.command(cls=Command, short_help="Repair it: show a diff, ask, write.")
@exit_codes
def fix(
    paths: Paths = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print the diff and write nothing.")] = False,
    patch: Annotated[
        bool,
        typer.Option("--patch", help="Print it as a patch for `git apply`, and write nothing."),
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for each finding, with all its edits.")
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
            show_default=False,
            rich_help_panel=RUNNING,
            help='Run "main.py --epochs 1" before and after, in copies; write only what passes.',
        ),
    ] = "",
    run: Annotated[
        str,
        typer.Option(
            metavar="PROGRAM",
            show_default=False,
            rich_help_panel=RUNNING,
            help="Run it on the virtual accelerator, in a copy, and repair the clashes it shows.",
        ),
    ] = "",
    time_limit: TimeLimit = 600.0,
    report: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            show_default=False,
            rich_help_panel=REPORTS,
            help="Write the list of changes, and of what was left and why, to a .json, .md or "
            ".html file.",
        ),
    ] = "",
    quiet: Quiet = False,
    verbose: Verbose = False,
    select: Select = None,
    extend_select: ExtendSelect = None,
    ignore: Ignore = None,
    safe: Safe = None,
    unsafe_rule: UnsafeRule = None,
    resolver: Resolver = "",
    exclude: Exclude = None,
    convert: Convert = None,
    config_file: ConfigFile = "",
    isolated: Isolated = False,
    stdin_filename: StdinFilename = "",
    baseline: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            show_default=False,
            rich_help_panel=BASELINE,
            help="Leave the findings listed in this file as they are.",
        ),
    ] = "",
    no_cache: NoCache = False,
    watch: Watch = False,
) -> int:
    """Show what would change as a diff, ask, and write it.

    Runs none of the code, unless --prove or --run says so.
    """  # fmt: skip
    from ..report import changes as changes_

    listen(quiet, verbose)
    paths = paths or ["."]
    config = settings(
        paths, select=select, extend_select=extend_select, ignore=ignore, safe=safe,
        unsafe_rule=unsafe_rule, exclude=exclude, convert=convert, resolver=resolver, unsafe=unsafe,
        file=config_file, isolated=isolated, stdin_filename=stdin_filename,
    )  # fmt: skip
    if watch:
        if not (yes or diff or patch):
            fail("--watch cannot ask: use it with --yes or --diff")
        return watched(paths, config, fix, {**locals(), "watch": False})
    if yes + diff + patch + interactive > 1:
        fail("--yes, --diff, --patch and --interactive cannot be used together")
    if "-" in paths and (len(paths) > 1 or interactive):
        fail("code from standard input goes alone: give no other path, and no --interactive")
    if (prove or run) and (paths == ["-"] or modernize):
        fail("--prove and --run need files, and cannot be used with --modernize")
    if modernize and (interactive or report):
        fail(
            "--modernize cannot be used with --interactive or --report: "
            "run samedevice modernize first"
        )
    if baseline and (run or modernize or "-" in paths):
        fail("--baseline is for files, and cannot be used with --run or --modernize")
    if report:
        changes_.check_name(report)
    notes, clashed = None, False
    if modernize:
        from .modernize import modernized_and_fixed

        outcome, notes = modernized_and_fixed(paths, config)
    else:
        outcome, clashed = (
            _repaired(config, paths, run, time_limit)
            if run
            else (
                _outcome(paths, config, stdin_filename, baseline,
                         cached=not no_cache, ask=interactive),
                False,
            )
        )  # fmt: skip
    if report:
        made = changes_.change_list(outcome, written=not (diff or patch))
        write_report(report, changes_.dump(made, report))
    if paths == ["-"] and not (diff or patch):
        return to_stdout(outcome)
    if prove and outcome.changes:
        verdict = _verdict(outcome, paths, prove, time_limit)
        if verdict != "proved":
            say(f"{verdict}: nothing was written")
            return FOUND
    code = finish(outcome, ask=not (yes or interactive), diff=diff, patch=patch)
    if notes is not None:
        tell_notes(notes)
    return FOUND if clashed and code == CLEAN else code


def _warn(program: str, paths: Sequence[str]) -> None:
    """Say before a program is run what it may do; raises ProgramError when there is none."""
    from ..prove.run import Program

    Program.parse(program).kind(_root(paths))
    say(f"note: {program} runs with your rights, in no sandbox: it can write outside of its copy")


def _outcome(
    paths: Sequence[str],
    config: Config,
    stdin_filename: str,
    baseline: str,
    *,
    cached: bool,
    ask: bool,
) -> Outcome:
    """Return what `fix` would do; with `ask`, without what was declined."""
    from ..migration import migrate
    from ..migration.check import Memory

    clock = Clock()
    project = read(paths, config, stdin_filename)
    clock.tell("read", count(len(project.named), "file"))
    cache = cache_of(project, config) if cached and "-" not in paths else None
    memory = Memory()
    old: set[Key] = set()
    if baseline:
        old = _older(project, config, paths, baseline, memory, cache)
    with working("fixing", project) as step:
        outcome = migrate.with_incomplete(project, config, old, step, memory, cache)
    clock.tell("fixed", f"in {count(outcome.rounds, 'round')}")
    if ask:
        from .interactive import choose

        left = choose(outcome, make_console())
        if left:
            with working("fixing", project) as step:
                known = project, config, old | left, step, memory, cache
                outcome = migrate.with_incomplete(*known)
    if cache is not None:
        cache.write()
    if old:  # they were counted, and to leave them is what was asked for
        kept = [one for one in outcome.remaining if migrate.key(outcome.before(one)) not in old]
        outcome.remaining[:] = kept
    return outcome


def _older(
    project: Project,
    config: Config,
    paths: Sequence[str],
    path: str,
    memory: Memory,
    cache: Cache | None,
) -> set[Key]:
    """Return what names the findings that a baseline lists."""
    from ..migration import baseline, migrate
    from ..migration.check import check

    known = baseline.read(path)
    findings = check(project, config, memory=memory, cache=cache)
    old = known.compare(findings, project, paths, config).old
    say(f"{count(len(old), 'older finding')} in the baseline")
    return {migrate.key(finding) for finding in old}


def _root(paths: Sequence[str]) -> Path:
    """Return the folder that a program of these paths runs in."""
    first = Path(paths[0])
    return first if first.is_dir() else first.parent


def _verdict(outcome: Outcome, paths: Sequence[str], program: str, limit: float | None) -> str:
    """Run a program before and after the changes, show what that proves, and return it."""
    from ..migration import by_running
    from ..prove.commands import show_proof
    from ..prove.process import Limits
    from ..prove.run import ProgramError, Settings

    console = make_console(stderr=True)
    try:
        _warn(program, paths)
        with console.status("") as status:
            proof = by_running.proved(
                outcome, _root(paths), program, Settings(limits=Limits(seconds=limit), seed=0),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        fail(str(error))
    show_proof(proof, console)
    return proof.verdict


def _repaired(
    config: Config, paths: Sequence[str], program: str, limit: float | None
) -> tuple[Outcome, bool]:
    """Fix a project, run the program, and repair what the run shows.

    Return also whether it did not end well.
    """
    from ..migration import by_running
    from ..prove.display import render_clash
    from ..prove.process import Limits
    from ..prove.run import ProgramError, Settings
    from ..report.place import short_place

    project = read(paths, config)
    console = make_console(stderr=True)
    try:
        _warn(program, paths)
        with console.status("") as status:
            done = by_running.by_running(
                project, config, _root(paths), program, Settings(limits=Limits(seconds=limit)),
                lambda what: status.update(f"{what} ..."),
            )  # fmt: skip
    except ProgramError as error:
        fail(str(error))
    if done.result.status == "refused":
        fail(done.result.message)
    for finding in done.seen:
        where = short_place(finding.path, finding.span, done.outcome.originals)
        console.print(f"{where}: {finding.message}", markup=False)
    if done.result.clash is not None:
        console.print(render_clash(done.result.clash))
        console.print(f"not repaired: {done.stuck}")
    else:
        console.print(f"{program}: {done.result.message or done.result.status}", markup=False)
    say(f"{program} ran {'once' if done.runs == 1 else f'{done.runs} times'}, {done.seconds:.0f} s")
    if done.result.passed and not by_running.used_device(done.result):
        say("nothing of it was on the device, so the run decides nothing")
    if done.withheld:
        say("it did not pass, so nothing is changed that only the run decided")
    if done.decided:
        say(f"the run decided {count(done.decided, 'undecided value')}")
    return done.outcome, not done.result.passed
