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

from ..reading.config import ConfigError
from . import engines, sandbox
from .engines import Cluster, Event
from .git import PROTOCOLS
from .job import Delivery, Job, now, remove
from .policy import Policy, users_author
from .record import Outcome, Phase, Record, Repository
from .rollout import Gate, Rollout
from .sources import Listed
from .state import State, create
from .tokens import Tokens

Tell = Callable[[Record], None]
"""Called for each record as it changes."""

_WORK = "work"


@dataclass(frozen=True)
class Settings:
    """How a batch runs. It is kept with the batch, so that `resume` goes on in the same way.

    `policy` are settings by their names in TOML (file and flags), `defaults` those of the list.
    `tokens` name the variables with tokens, by host. `engine` is "pool" or "ray"; `width` is how
    many repositories at a time, 0 for what the engine finds right. `rollout` is the policy's table
    of that name.
    """

    policy: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    allow: tuple[str, ...] = PROTOCOLS
    delivery: Delivery = Delivery()
    engine: str = "pool"
    width: int = 0
    cluster: Cluster = Cluster()
    rollout: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, state: State) -> Settings:
        """Return those of a batch; raises `ConfigError` if it was stopped while it was begun."""
        told = state.setting("settings")
        if told is None:
            raise ConfigError(f"{state.folder}: stopped before it began; remove it, and run anew")
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
    work continues after its last finished phase. With a delivery in the settings, what was migrated
    and not delivered goes on as well, as far as the rollout lets it.
    """
    rollout = Rollout.read(settings.rollout, "[rollout]")
    held_back = settings.delivery.push and rollout != Rollout()
    first = replace(settings, delivery=Delivery()) if held_back else settings
    _run(state, first, tell, lambda repository, record: _next(state, first, repository, record))
    if held_back:
        gate = Gate(rollout, state.records())

        def let_out(repository: Repository, record: Record | None) -> Chosen | None:
            if record is None or not _is_undelivered(record, settings.delivery):
                return None
            record.waits = "" if is_open(record) else gate.why_not(record)
            if record.waits:
                state.save(record)
                return None
            return _next(state, settings, repository, record)

        _run(state, settings, tell, let_out)


def retry(
    state: State,
    settings: Settings,
    outcomes: Collection[Outcome],
    names: Collection[str] = (),
    tell: Tell = lambda record: None,
) -> None:
    """Try again what ended with one of `outcomes`, or only those with `names`.

    As a new attempt: what the one before found out in the same files is taken over, and a proof
    only where it passed.
    """
    number = state.campaign()[0]
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
        return record.anew(number), record

    _run(state, settings, tell, again)


def again(
    state: State, settings: Settings, listed: Listed | None = None, tell: Tell = lambda record: None
) -> None:
    """Run the whole batch again: a new attempt at each repository, and at what `listed` has new.

    With the targets and the policy as they are now. What depends on nothing that has changed is not
    computed again, and `go` goes on with it when it was killed.
    """
    state.lock()
    if listed is not None:
        known = {one.name for one, _ in state.repositories()}
        state.add([one for one in listed.repositories if one.name not in known])
    number, _ = state.campaign()
    state.set("campaign", (number + 1, now()))
    settings.keep(state)
    go(state, settings, tell)


def redo(
    state: State, settings: Settings, names: Collection[str], tell: Tell = lambda record: None
) -> None:
    """Make the changes of `names` again, on their targets as they are now, and deliver them."""
    number = state.campaign()[0]
    left = set(names)

    def chosen(repository: Repository, record: Record | None) -> Chosen | None:
        if record is None or repository.name not in left:
            return None
        left.discard(repository.name)
        return record.anew(number), record

    _run(state, settings, tell, chosen)


Chosen = tuple[Record, "Record | None"]
"""The attempt to work on, and one before it whose results may be taken over."""


def _next(
    state: State, settings: Settings, repository: Repository, record: Record | None
) -> Chosen | None:
    """Return the attempt to go on with, see `Chosen`; None when nothing is left to do."""
    number = state.campaign()[0]
    if record is None:
        return Record(repository, run=number), None
    if record.outcome.is_final and record.run < number:
        return record.anew(number), record
    if record.outcome.is_final and not _is_undelivered(record, settings.delivery):
        return None
    record.outcome, record.error, record.ended = Outcome.RUNNING, "", ""
    if record.phase.number < Phase.FIX.number or state.file(record.patch) is None:
        if record.phase is not Phase.PLANNED:
            record = record.from_start()
        return record, state.attempt(repository, record.attempt - 1)
    return record, None


def _is_undelivered(record: Record, delivery: Delivery) -> bool:
    request = record.pull_request
    if record.outcome is not Outcome.MIGRATED or (request and request.state == "closed"):
        return False  # a no is a no
    asks = delivery.pull_request and bool(record.repository.forge)
    return (delivery.push and not record.pushed) or (asks and request is None)


def is_open(record: Record) -> bool:
    """Tell whether a record has a request that is neither merged nor closed."""
    return record.pull_request is not None and record.pull_request.state == "open"


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
            record, earlier = chosen
            record.started = record.started or now()
            state.save(record)
            tell(record)
            yield Job(
                record=record,
                policy=settings.policy_for(repository),
                delivery=settings.delivery,
                files=_files(state, earlier or record),
                earlier=earlier,
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


def _files(state: State, record: Record) -> dict[str, bytes]:
    """Return the patch and the list of changes of a record, as far as they are there."""
    found = {name: state.file(name) for name in (record.patch, record.changes) if name}
    return {name: data for name, data in found.items() if data is not None}


def _events(jobs: Iterator[Job], settings: Settings) -> Generator[Event, None, None]:
    if settings.engine == "ray":
        return engines.ray(jobs, settings.width, settings.cluster)
    return engines.pool(jobs, settings.width or _cores())


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
