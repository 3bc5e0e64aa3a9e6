"""The commands of `samedevice batch`: words to settings, records to text and exit codes.

Exit codes: 0 every repository is migrated, unchanged or skipped; 1 some failed or were held back,
and a line says how many; 2 nothing could be run (a wrong list or setting, no batch, another process
at it); 130 interrupted: `samedevice batch resume` goes on.

Nothing but typer is imported until a command runs.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .fleet_commands import close, merge, requests, rollback, update
from .options import (
    ATTENTION,
    FINE,
    FOLDER,
    INTERRUPTED,
    Address,
    Allow,
    Api,
    Engine,
    EngineName,
    Folder,
    Jobs,
    Listing,
    Names,
    PolicyFile,
    PullRequests,
    Push,
    TokenEnv,
)

if TYPE_CHECKING:
    from rich.console import Console

    from .record import Record
    from .run import Settings
    from .state import State


def run(
    repositories: Listing,
    folder: Folder = FOLDER,
    policy: PolicyFile = "",
    proof: Annotated[
        str,
        typer.Option(
            metavar="none|auto|tests|prove: PROGRAM|COMMAND",
            help="What to run after the change; it executes the repository's code.",
            show_default="none",
        ),
    ] = "",
    require_proof: Annotated[
        bool, typer.Option("--require-proof", help="Hold back what no proof was passed for.")
    ] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Apply unsafe fixes, too.")] = False,
    modernize: Annotated[
        bool, typer.Option("--modernize", help="Turn Python 2 into Python 3 first.")
    ] = False,
    max_lines: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Hold back larger changes.")
    ] = None,
    max_files: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Hold back changes of more files.")
    ] = None,
    leave_alone: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Change no file that matches, as in .gitignore."),
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Only this rule.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Without this rule.")
    ] = None,
    branch: Annotated[str, typer.Option(metavar="NAME", help="The new branch.")] = "",
    title: Annotated[str, typer.Option(metavar="WORDS", help="Of commit and pull request.")] = "",
    author: Annotated[
        str, typer.Option(metavar='"NAME <MAIL>"', help="Who commits.", show_default="you")
    ] = "",
    sign_off: Annotated[bool, typer.Option("--sign-off", help="Add a Signed-off-by line.")] = False,
    fork: Annotated[
        bool, typer.Option("--fork", help="Push to forks, and open pull requests from there.")
    ] = False,
    fork_owner: Annotated[
        str,
        typer.Option(metavar="NAME", help="Who has the forks.", show_default="the token's user"),
    ] = "",
    push: Push = False,
    pull_request: PullRequests = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Nothing leaves this machine: the default.")
    ] = False,
    jobs: Jobs = 0,
    engine: Engine = EngineName.pool,
    address: Address = "auto",
    cpus: Annotated[float, typer.Option(metavar="N", min=0.01, help="CPUs of a Ray task.")] = 1.0,
    gpus: Annotated[float, typer.Option(metavar="N", min=0.0, help="GPUs of a Ray task.")] = 0.0,
    memory: Annotated[
        int | None, typer.Option(metavar="MIB", min=1, help="Memory of a Ray task.")
    ] = None,
    resource: Annotated[
        list[str] | None, typer.Option(metavar="NAME=N", help="A Ray task's own resources.")
    ] = None,
    allow: Allow = None,
    api: Api = "",
    token_env: TokenEnv = "",
) -> int:
    """Migrate many repositories: clone, fix, prove, commit, and if asked push and open requests.

    By default nothing leaves this machine. Everything is kept in the folder of the batch.
    """
    from ..reading.config import ConfigError
    from .run import Settings, begin

    if dry_run and (push or pull_request):
        raise ConfigError("--dry-run goes without --push and --pull-request")
    flags = {
        "proof": proof, "require-proof": require_proof, "unsafe": unsafe, "modernize": modernize,
        "max-lines": max_lines, "max-files": max_files, "leave-alone": leave_alone,
        "select": options.names(select), "ignore": options.names(ignore), "branch": branch,
        "title": title, "fork": fork, "fork-owner": fork_owner, "author": author,
        "sign-off": sign_off,
    }  # fmt: skip
    settings = Settings(
        policy=options.policy(policy, {key: given for key, given in flags.items() if given}),
        rollout=options.rollout(policy),
        allow=options.protocols(allow),
        engine=engine.value,
        width=jobs,
        cluster=options.cluster(address, cpus, gpus, memory, resource),
    )
    settings = options.delivering(settings, push, pull_request)
    listed = options.listed(repositories, settings, api, token_env)
    with begin(folder, listed, options.with_bare(settings, listed)) as state:
        return _go(state)


def plan(
    repositories: Listing,
    policy: PolicyFile = "",
    allow: Allow = None,
    api: Api = "",
    token_env: TokenEnv = "",
) -> int:
    """Show which repositories a run would work on, and how; nothing is cloned or written."""
    from rich.table import Table
    from rich.text import Text

    from ..report.place import printable
    from .run import Settings

    settings = Settings(policy=options.policy(policy, {}), allow=options.protocols(allow))
    listed = options.listed(repositories, settings, api, token_env)
    settings = Settings(policy=settings.policy, defaults=listed.defaults, allow=settings.allow)
    console = options.console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("repository", "how", "source", "ref", "proof", "pull request"):
        table.add_column(column, no_wrap=True)
    for one in listed.repositories:
        how = settings.policy_for(one)
        verb = "skip" if how.skip else "in place" if one.checkout else "clone"
        cells = (one.name, verb, one.source, one.ref or "default", how.proof, one.forge or "none")
        table.add_row(*(Text(printable(cell)) for cell in cells))
    if not console.is_terminal:
        console.width = 1000
    console.print(table)
    typer.echo(options.counted(len(listed.repositories), "repository"), err=True)
    return FINE


def resume(
    folder: Folder = FOLDER,
    push: Push = False,
    pull_request: PullRequests = False,
    jobs: Jobs = 0,
    engine: Annotated[
        EngineName | None, typer.Option(help="Use another engine than before.")
    ] = None,
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address of the Ray cluster.")
    ] = "",
) -> int:
    """Continue a batch that was stopped; with --push or --pull-request, deliver a dry run's."""
    with options.opened(folder) as state:
        settings = options.changed(state, push, pull_request, jobs, engine, address)
        settings.keep(state)
        return _go(state)


def retry(
    names: Names = None,
    folder: Folder = FOLDER,
    failed: Annotated[bool, typer.Option("--failed", help="All that failed.")] = False,
    held: Annotated[bool, typer.Option("--held", help="All that were held back.")] = False,
    policy: PolicyFile = "",
    jobs: Jobs = 0,
) -> int:
    """Try repositories again, each as a new attempt: those that failed, were held back, or NAME.

    A policy given here holds from now on in the place of the batch's.
    """
    from ..reading.config import ConfigError
    from . import run as run_
    from .record import Outcome

    outcomes = {Outcome.FAILED} if failed else set()
    outcomes |= {Outcome.HELD} if held else set()
    if not names and not outcomes:
        raise ConfigError("retry what? --failed, --held or the names of repositories")
    with options.opened(folder) as state:
        settings = options.changed(state, False, False, jobs, None, "")
        if policy:
            settings = options.with_policy(settings, policy)
            settings.keep(state)
        return work(state, lambda tell: run_.retry(state, settings, outcomes, names or (), tell))


def again(
    repositories: Annotated[
        str,
        typer.Argument(
            metavar="[LIST]", help="As for run: what is new on it is added.", show_default=False
        ),
    ] = "",
    folder: Folder = FOLDER,
    policy: PolicyFile = "",
    push: Push = False,
    pull_request: PullRequests = False,
    jobs: Jobs = 0,
    allow: Allow = None,
    api: Api = "",
    token_env: TokenEnv = "",
) -> int:
    """Run the whole batch again: a new attempt at each repository, as it is now.

    A policy given here holds from now on. What depends on nothing that has changed is taken over
    from the attempt before; open requests are brought up to date, or closed where nothing is left.
    """
    from . import run as run_

    with options.opened(folder) as state:
        settings = options.changed(state, push, pull_request, jobs, None, "")
        if policy:
            settings = options.with_policy(settings, policy)
        listed = None
        if repositories:
            allowed = dict.fromkeys((*settings.allow, *options.protocols(allow)))
            settings = replace(settings, allow=tuple(allowed))
            listed = options.listed(repositories, settings, api, token_env)
        _warn(state, settings)
        return work(state, lambda tell: run_.again(state, settings, listed, tell))


def status(
    folder: Folder = FOLDER,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show it until the batch ends.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The numbers as JSON.")] = False,
) -> int:
    """Show how a batch stands, also while another process runs it."""
    from rich.live import Live

    with options.opened(folder) as state:
        tally = _tally(state)
        if json:
            options.print_json({
                "total": tally.total, "finished": tally.finished, "counts": state.counts(),
                "per_minute": round(tally.rate * 60, 2), "seconds_left": tally.left,
                "running": [[one.repository.name, one.phase.value] for one in state.running()],
            })  # fmt: skip
        elif watch and options.console().is_terminal:
            with Live(tally, console=options.console(), refresh_per_second=2) as live:
                while state.is_locked():
                    time.sleep(0.5)
                    live.update(_tally(state))
        else:
            options.console().print(tally)
    return FINE


def records(
    folder: Folder = FOLDER,
    every: Annotated[
        bool, typer.Option("--all", help="Every attempt, not only the last one.")
    ] = False,
) -> int:
    """Print the records as JSON lines, for other tools."""
    with options.opened(folder) as state:
        for record in state.records(every):
            sys.stdout.write(record.dump() + "\n")
    return FINE


def report(folder: Folder = FOLDER) -> int:
    """Write the report of a batch to its folder: HTML, Markdown, JSON and CSV."""
    from . import report as report_

    with options.opened(folder) as state:
        for path in report_.write(state.records(), folder, state.records(every=True)):
            typer.echo(path)
    return FINE


COMMANDS: tuple[Callable[..., int], ...] = (
    run, plan, resume, status, retry, again, requests, update, merge, close, rollback, report,
    records,
)  # fmt: skip


def _go(state: State) -> int:
    from . import run as run_

    settings = run_.Settings.of(state)
    _warn(state, settings)
    if settings.rollout and settings.delivery.pull_request:
        from . import fleet

        fleet.look(state, settings)  # what people merged or closed makes room for others
    return work(state, lambda tell: run_.go(state, settings, tell))


def _warn(state: State, settings: Settings) -> None:
    """Tell that proofs, which execute code of the repositories, can reach out on this machine."""
    from .sandbox import sandbox

    proofs = {settings.policy_for(one).proof.strip() for one, _ in state.repositories()}
    if proofs - {"", "none"} and sandbox() != "bwrap":
        said = "no bubblewrap here: proofs can write outside of their folder"
        typer.echo(f"{said} (see samedevice doctor)", err=True)


def work(state: State, work: Callable[[Callable[[Record], None]], None]) -> int:
    """Do the work with a live display; write the records and the report; return the exit code."""
    from .display import problem

    state.set("run", time.time())
    tally = _tally(state)
    tally.started, tally.done, tally.problems = time.time(), 0, []
    tally.running, tally.active = {}, True
    console = options.console(stderr=True)

    def tell(record: Record) -> None:
        tally.take(record)
        if record.outcome.needs_attention and not console.is_terminal:
            console.print(problem(record), soft_wrap=True)

    try:
        with _live(tally, console):
            work(tell)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; samedevice batch resume --folder {state.folder}", err=True)
        return INTERRUPTED
    return _finish(state)


@contextlib.contextmanager
def _live(tally: Any, console: Console) -> Iterator[None]:
    from rich.live import Live

    if not console.is_terminal:
        yield
        return
    with Live(tally, console=console, refresh_per_second=4, transient=True):
        yield


def _finish(state: State) -> int:
    from . import report as report_
    from .record import Outcome

    counts = state.counts()
    told = ", ".join(
        f"{counts[outcome.value]:,} {outcome.value}"
        for outcome in Outcome
        if counts.get(outcome.value)
    )
    typer.echo(f"{options.counted(state.total(), 'repository')}: {told}", err=True)
    for why, count in state.waits().items():
        typer.echo(f"{options.counted(count, 'request')} not opened yet: {why}", err=True)
    pages = report_.write(state.records(), state.folder, state.records(every=True))
    typer.echo(f"report: {pages[0]}", err=True)
    wrong = sum(counts.get(one.value, 0) for one in Outcome if one.needs_attention)
    if not wrong:
        return FINE
    failed, held = counts.get(Outcome.FAILED.value, 0), counts.get(Outcome.HELD.value, 0)
    typer.echo(f"{failed:,} failed, {held:,} held back for you to look at", err=True)
    return ATTENTION


def _tally(state: State) -> Any:
    from . import display

    counts = state.counts()
    tally = display.of_counts(state.total(), counts, state.running(), state.last_failures(12))
    tally.active = state.is_locked()
    began = state.setting("run")
    if began:
        from datetime import datetime, timezone

        tally.started = began
        when = datetime.fromtimestamp(began, timezone.utc).isoformat(timespec="milliseconds")
        tally.done = state.ended(when)
        last = state.last_end()
        if last and not tally.active:
            tally.now = datetime.fromisoformat(last).timestamp()
    return tally
