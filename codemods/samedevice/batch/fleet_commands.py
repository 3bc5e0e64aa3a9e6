"""The commands about requests that are open: how they stand, merge, close, roll back.

Nothing but typer is imported until a command runs.
"""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .options import ATTENTION, FINE, FOLDER, Folder, Names

if TYPE_CHECKING:
    from .record import Record
    from .state import State

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


class Method(str, Enum):
    """How a request is merged."""

    merge = "merge"
    squash = "squash"
    rebase = "rebase"


def requests(
    names: Names = None,
    folder: Folder = FOLDER,
    kept: Annotated[
        bool, typer.Option("--kept", help="As it was last told; no forge is asked.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Show how the requests stand: checks, reviews, conflicts, merged or closed."""
    from .fleet import chosen, look
    from .run import Settings

    with options.opened(folder) as state:
        silent = [] if kept else look(state, Settings.of(state), names or (), _tell_trouble)
        records = [one for one in chosen(state, names or ()) if one.pull_request is not None]
        _show(records, json)
    return ATTENTION if silent else FINE


def merge(
    names: Names = None,
    folder: Folder = FOLDER,
    method: Annotated[Method, typer.Option(help="How.")] = Method.merge,
    without_checks: Annotated[
        bool, typer.Option("--without-checks", help="Also where checks run or fail.")
    ] = False,
    without_review: Annotated[
        bool, typer.Option("--without-review", help="Also where a review is waited for.")
    ] = False,
    yes: Yes = False,
) -> int:
    """Merge the open requests that nothing stands against; each is checked first."""
    from . import fleet
    from .run import Settings
    from .standing import CHECKS, REVIEW

    passed_over = (*(CHECKS if without_checks else ()), *(REVIEW if without_review else ()))
    with options.opened(folder) as state:
        number = _open(state, names)
        if not _agreed(
            number, f"Merge what can be merged of {options.counted(number, 'request')}?", yes
        ):
            return FINE if not number else ATTENTION
        stayed = fleet.merge(
            state, Settings.of(state), names or (), method.value, passed_over, _tell_trouble
        )
        typer.echo(f"{number - len(stayed):,} merged or closed, {len(stayed):,} not", err=True)
    return ATTENTION if stayed else FINE


def update(
    names: Names = None,
    folder: Folder = FOLDER,
    every: Annotated[
        bool, typer.Option("--moved", help="Also where the target has moved without a conflict.")
    ] = False,
) -> int:
    """Make the changes again where the target branch has moved, in the same requests.

    Those with conflicts, and those that the forge wants brought up to date. What somebody added
    commits to is left alone.
    """
    from dataclasses import replace

    from . import fleet, run
    from .commands import work
    from .job import Delivery
    from .standing import standing

    with options.opened(folder) as state:
        settings = replace(run.Settings.of(state), delivery=Delivery(True, True))
        fleet.look(state, settings, names or (), _tell_trouble)
        wanted = {
            one.repository.name
            for one in fleet.chosen(state, names or ())
            if standing(one) in ("conflicts", "behind")
        }
        if every:
            ours = {
                one.repository.name
                for one in fleet.chosen(state, names or ())
                if standing(one) != "touched"
            }
            wanted |= ours & set(fleet.moved(state, settings, names or (), _tell_trouble)[0])
        typer.echo(f"{options.counted(len(wanted), 'request')} to make anew", err=True)
        if not wanted:
            return FINE
        return work(state, lambda tell: run.redo(state, settings, wanted, tell))


def close(names: Names = None, folder: Folder = FOLDER, yes: Yes = False) -> int:
    """Close open requests for good and delete their branches: no later run asks again."""
    from . import fleet
    from .run import Settings

    with options.opened(folder) as state:
        number = _open(state, names)
        if not _agreed(
            number, f"Close {options.counted(number, 'request')} and delete the branches?", yes
        ):
            return FINE if not number else ATTENTION
        stayed = fleet.close(state, Settings.of(state), names or (), _tell_trouble)
        typer.echo(f"{number - len(stayed):,} closed, {len(stayed):,} not", err=True)
    return ATTENTION if stayed else FINE


def rollback(names: Names = None, folder: Folder = FOLDER, yes: Yes = False) -> int:
    """Take back what was migrated: close pull requests, delete branches."""
    from . import fleet
    from .run import Settings

    with options.opened(folder) as state:
        wanted = fleet.to_roll_back(state, names or ())
        if not wanted:
            typer.echo("there is nothing to roll back", err=True)
            return FINE
        number = sum(record.pull_request is not None for record in wanted)
        branches = options.counted(len(wanted), "branch")
        if not yes and not options.confirmed(
            f"Delete {branches} and close {options.counted(number, 'request')}?"
        ):
            typer.echo("nothing was done", err=True)
            return ATTENTION
        stayed = fleet.roll_back(state, Settings.of(state), names or (), _tell_trouble)
        typer.echo(f"{len(wanted) - len(stayed):,} rolled back, {len(stayed):,} not", err=True)
    return ATTENTION if stayed else FINE


def _open(state: State, names: list[str] | None) -> int:
    from .fleet import chosen

    found = [one.pull_request for one in chosen(state, names or ())]
    return sum(one is not None and one.state == "open" for one in found)


def _agreed(number: int, question: str, yes: bool) -> bool:
    if not number:
        typer.echo("no request is open", err=True)
        return False
    if yes or options.confirmed(question):
        return True
    typer.echo("nothing was done", err=True)
    return False


def _tell_trouble(record: Record, why: str) -> None:
    if why:
        name, words = options.printable(record.repository.name), " ".join(why.split())
        typer.echo(f"{name}: {options.printable(words)}", err=True)


def _show(records: list[Record], json: bool) -> None:
    from .standing import counts, standing

    if json:
        listed = [
            {"repository": one.repository.name, "standing": standing(one),
             **asdict(one.pull_request)}
            for one in records if one.pull_request
        ]  # fmt: skip
        options.print_json({"counts": counts(records), "requests": listed})
        return
    from rich.table import Table
    from rich.text import Text

    console = options.console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("repository", "request", "stands", "checks", "review", "owners", "address"):
        table.add_column(column, no_wrap=True)
    for one in records:
        there = one.pull_request
        assert there is not None
        owners = " ".join(one.owners)
        cells = (one.repository.name, f"#{there.number}", standing(one), there.checks, there.review)
        table.add_row(*(Text(options.printable(cell)) for cell in (*cells, owners, there.url)))
    if not console.is_terminal:
        console.width = 1000
    console.print(table)
    told = ", ".join(f"{count:,} {word}" for word, count in counts(records).items())
    typer.echo(f"{options.counted(len(records), 'request')}: {told or 'none'}", err=True)
