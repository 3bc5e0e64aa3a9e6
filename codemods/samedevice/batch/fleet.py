"""What becomes of requests once they are open: looked at, merged, closed, rolled back.

Each is a loop over the records of a batch that have one. What cannot be done for one is told, with
why, and never ends the loop; a record is saved as soon as the forge has answered.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..reading.config import ConfigError
from . import forges
from .branches import beside, checkout, drop_branch, origin, unpush
from .forge import Forge, ForgeError
from .git import Git, GitError
from .job import file_url, now
from .record import Outcome, Record
from .run import Settings, is_open
from .standing import obstacle
from .state import State
from .tokens import Tokens

Tell = Callable[[Record, str], None]
"""Called for each record, with why it could not be done ("" where it was)."""

_AT_A_TIME = 6  # forges that are asked at the same time; what writes does one after the other


def look(
    state: State, settings: Settings, names: Collection[str] = (), tell: Tell = lambda *_: None
) -> list[Record]:
    """Ask the forges how the open requests stand and keep it; returns those that did not answer.

    All, or those of `names`. One that was merged or closed stays as it is.
    """
    state.lock()
    tokens = Tokens(settings.tokens)
    wanted = [one for one in chosen(state, names) if is_open(one)]
    for one in wanted:
        tokens.token(one.repository)  # asked for once, and here: a helper may be slow

    def ask(record: Record) -> tuple[Record, str]:
        try:
            found = _forge(record, tokens).look(record)
        except ForgeError as error:
            return record, str(error)
        if found is None:
            return record, "the forge has no request of this branch any more"
        record.pull_request = found
        return record, ""

    silent = []
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for record, why in pool.map(ask, wanted):
            if why:
                silent.append(record)
            else:
                state.save(record)
            tell(record, why)
    return silent


def merge(
    state: State,
    settings: Settings,
    names: Collection[str] = (),
    method: str = "merge",
    passed_over: Collection[str] = (),
    tell: Tell = lambda *_: None,
) -> list[Record]:
    """Merge the open requests that nothing is in the way of; returns those that stay open.

    Each is looked at first, and only the commit that this batch made is merged. `passed_over` are
    words of `standing` that do not count as in the way.
    """

    def do(record: Record, forge: Forge) -> str:
        record.pull_request = forge.look(record) or record.pull_request
        if not is_open(record):
            return ""
        why = obstacle(record, passed_over)
        if not why:
            record.pull_request = forge.merge(record, method)
            if record.pull_request.state != "merged":
                why = "the forge took it, and has not merged it yet"
        return why

    return _each(state, settings, names, do, tell)


def close(
    state: State, settings: Settings, names: Collection[str] = (), tell: Tell = lambda *_: None
) -> list[Record]:
    """Close the open requests for good and delete their branches; returns those that stay.

    A later run does not ask again, as after a person closed one. A branch with other people's
    commits stays, and so does its request.
    """

    def do(record: Record, forge: Forge) -> str:
        record.pull_request = forge.close(record, declined=True) or record.pull_request
        record.pushed = False
        return ""

    return _each(state, settings, names, do, tell)


def moved(
    state: State, settings: Settings, names: Collection[str] = (), tell: Tell = lambda *_: None
) -> tuple[list[str], list[Record]]:
    """Return the open requests whose target is not where their change was made on.

    By the names of their repositories; and the records whose forge could not be asked.
    """
    state.lock()
    tokens = Tokens(settings.tokens)
    found, silent = [], []
    for record in filter(is_open, chosen(state, names)):
        try:
            if _forge(record, tokens).target(record) != record.base_commit:
                found.append(record.repository.name)
        except ForgeError as error:
            silent.append(record)
            tell(record, str(error))
    return found, silent


def _each(
    state: State,
    settings: Settings,
    names: Collection[str],
    do: Callable[[Record, Forge], str],
    tell: Tell,
) -> list[Record]:
    state.lock()
    tokens = Tokens(settings.tokens)
    stayed = []
    for record in chosen(state, names):
        if not is_open(record):
            continue
        try:
            why = do(record, _forge(record, tokens))
        except ForgeError as error:
            why = str(error)
        if why:
            stayed.append(record)
        state.save(record)
        tell(record, tokens.scrub(why))
    return stayed


def chosen(state: State, names: Collection[str]) -> list[Record]:
    """Return the latest records, all or those of `names`; raises `ConfigError` for another name."""
    records = list(state.records())
    unknown = set(names) - {one.repository.name for one in records}
    if unknown:
        raise ConfigError(
            f"{min(unknown)!r} has no attempt in this batch; `samedevice batch records` has them"
        )
    return [one for one in records if not names or one.repository.name in names]


def roll_back(
    state: State, settings: Settings, names: Collection[str] = (), tell: Tell = lambda *_: None
) -> list[Record]:
    """Close the pull requests and delete the branches of what was migrated; all, or `names`.

    A branch that somebody added commits to, and what was merged, stay. Returns the records of which
    something stayed, each with its `error`.
    """
    state.lock()
    tokens = Tokens(settings.tokens)
    stayed = []
    for record in to_roll_back(state, names):
        try:
            _undo(record, settings, tokens)
        except (GitError, ForgeError, OSError) as error:
            record.error = f"not rolled back: {tokens.scrub(str(error))}"
            stayed.append(record)
        else:
            record.outcome, record.error, record.ended = Outcome.ROLLED_BACK, "", now()
            record.pushed = False
        state.save(record)
        tell(record, record.error)
    return stayed


def to_roll_back(state: State, names: Collection[str]) -> list[Record]:
    """Return the records that there is something to take back of."""
    return [
        one
        for one in chosen(state, names)
        if one.outcome is Outcome.MIGRATED or (one.pushed and one.outcome.is_final)
    ]


def _undo(record: Record, settings: Settings, tokens: Tokens) -> None:
    repository = record.repository
    # a run that was killed may have asked, and not have kept the answer
    may_have_asked = record.pushed and settings.delivery.pull_request and bool(repository.forge)
    if record.pull_request is not None or may_have_asked:
        there = _forge(record, tokens).close(record)
        record.pull_request = there or record.pull_request
    credentials = tokens.credentials(repository)
    if record.pushed:
        with tempfile.TemporaryDirectory(prefix="samedevice-") as place:
            folder = Path(place, "git")
            if repository.checkout:
                here = checkout(Path(repository.source))
                git, url = beside(here, folder, settings.allow, credentials), origin(here)
            else:
                folder.mkdir()
                git = Git(folder, allow=settings.allow, credentials=credentials)
                git("init", "--quiet", "--bare", "--template=", ".")
                url = repository.source
                url = file_url(url) if os.path.isabs(url) else url
            if record.fork is not None:
                url = record.fork.source
            if not unpush(git, url, record.branch, record.commit):
                raise GitError(f"{record.branch}: somebody added commits to it")
    if repository.checkout:
        if not drop_branch(checkout(Path(repository.source)), record.branch, record.commit):
            raise GitError(f"{record.branch}: somebody added commits to it")


def _forge(record: Record, tokens: Tokens) -> Forge:
    repository = record.repository
    return forges.connect(repository.forge, repository.api, tokens.variable(repository))
