"""A batch from its list to its records: begin, go on, retry. The command line calls it.

Whatever the engine, jobs are made from the state and events go back into it here, on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..config import ConfigError
from . import engines, sandbox
from .engines import Cluster, Event
from .git import PROTOCOLS
from .job import Delivery, Job, now, remove
from .policy import Policy, users_author
from .record import Outcome, Phase, Record, Repository
from .sources import Listed
from .state import State, create
from .tokens import Tokens

Tell = Callable[[Record], None]
"""Is told of each record as it changes."""

_WORK = "work"


@dataclass(frozen=True)
class Settings:
    """How a batch runs. It is kept with the batch, so that `resume` goes on in the same way.

    `policy` are settings by their names in TOML (file and flags), `defaults` those of the list.
    `tokens` name the variables with tokens, by host. `engine` is "pool" or "ray"; `width` is how
    many repositories at a time, 0 for what the engine finds right.
    """

    policy: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    allow: tuple[str, ...] = PROTOCOLS
    delivery: Delivery = Delivery()
    engine: str = "pool"
    width: int = 0
    cluster: Cluster = Cluster()

    @classmethod
    def of(cls, state: State) -> Settings:
        """Return those of a batch."""
        told = state.setting("settings")
        return cls(
            **{
                **told,
                "allow": tuple(told["allow"]),
                "delivery": Delivery(**told["delivery"]),
                "cluster": Cluster(**told["cluster"]),
            }
        )

    def keep(self, state: State) -> None:
        """Keep them with a batch."""
        state.set("settings", asdict(self))

    def policy_for(self, repository: Repository) -> Policy:
        """Return the policy for a repository, without what it says itself."""
        policy = Policy().with_table(self.policy, "--policy")
        policy = policy.with_table(self.defaults, "[defaults]")
        return policy.with_table(repository.options, repository.name)


def begin(folder: Path, listed: Listed, settings: Settings) -> State:
    """Make the state of a new batch; raises `ConfigError` when there is one in `folder`."""
    if any(one.checkout for one in listed.repositories) and settings.engine == "ray":
        raise ConfigError("--engine ray: checkouts are on this machine only; name their remotes")
    policy = {"author": users_author(), **settings.policy}
    settings = replace(settings, policy=policy, defaults=listed.defaults, tokens=listed.tokens)
    for one in listed.repositories:
        settings.policy_for(one)
    state = create(folder)
    state.add(listed.repositories)
    settings.keep(state)
    state.set("begun", now())
    return state


def go(state: State, settings: Settings, tell: Tell = lambda record: None) -> None:
    """Do all that is left to do; raises `ConfigError`.

    What a run before finished is not done again: a repository with a final record is left, one in
    work goes on behind its last finished phase. With a delivery in the settings, what was migrated
    and not delivered goes on as well.
    """
    _run(
        state, settings, tell, lambda repository, record: _next(state, settings, repository, record)
    )


def retry(
    state: State,
    settings: Settings,
    outcomes: Collection[Outcome],
    names: Collection[str] = (),
    tell: Tell = lambda record: None,
) -> None:
    """Try again, from the start, what ended with one of `outcomes`, or only those with `names`."""
    last = {record.repository.name: record.attempt for record in state.records()}
    unknown = set(names) - set(last)
    if unknown:
        raise ConfigError(
            f"{min(unknown)!r} has no attempt in this batch; `samedevice batch records` has them"
        )

    def again(repository: Repository, record: Record | None) -> Chosen | None:
        if record is None or record.attempt > last[repository.name]:
            return None
        wanted = repository.name in names if names else record.outcome in outcomes
        if not wanted or not record.outcome.is_final:
            return None
        return Record(repository, attempt=record.attempt + 1), None

    _run(state, settings, tell, again)


Chosen = tuple[Record, "bytes | None"]


def _next(state: State, settings: Settings, repository: Repository, record: Record | None) -> Any:
    """Return the record to go on with and its patch; None when nothing is left to do."""
    if record is None:
        return Record(repository), None
    delivery = settings.delivery
    undelivered = record.outcome is Outcome.MIGRATED and (
        (delivery.push and not record.pushed)
        or (delivery.pull_request and bool(repository.forge) and record.pull_request is None)
    )
    if record.outcome.is_final and not undelivered:
        return None
    record.outcome, record.error, record.ended = Outcome.RUNNING, "", ""
    patch = state.file(record.patch) if record.phase.number >= Phase.FIX.number else None
    if patch is None and record.phase is not Phase.PLANNED:
        record = Record(repository, attempt=record.attempt, started=record.started)
    return record, patch


def _run(
    state: State,
    settings: Settings,
    tell: Tell,
    choose: Callable[[Repository, Record | None], Chosen | None],
) -> None:
    state.lock()
    work = str((state.folder / _WORK).resolve())
    sandbox.end_marked(work)  # of a run that was killed
    remove(Path(work))
    os.environ[sandbox.MARK] = work
    tokens = Tokens(settings.tokens)

    def jobs() -> Iterator[Job]:
        for repository, known in state.repositories():
            chosen = choose(repository, known)
            if chosen is None:
                continue
            record, patch = chosen
            record.started = record.started or now()
            state.save(record)
            tell(record)
            yield Job(
                record=record,
                policy=settings.policy_for(repository),
                delivery=settings.delivery,
                patch=patch,
                allow=settings.allow,
                credentials=tokens.credentials(repository),
                work=work,
                hidden=str(state.folder.resolve()),
                tokens=tokens.of_forge(repository),
            )

    try:
        with closing(_events(jobs(), settings)) as events:
            for event in events:
                state.save(event.record, event.files)
                tell(event.record)
    except BaseException:
        sandbox.end_marked(work)
        raise
    finally:
        del os.environ[sandbox.MARK]
        remove(Path(work))


def _events(jobs: Iterator[Job], settings: Settings) -> Generator[Event, None, None]:
    if settings.engine == "ray":
        return engines.ray(jobs, settings.width, settings.cluster)
    return engines.pool(jobs, settings.width or _cores())


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
