"""Plain data of a batch: which repository, what happened to it; to JSON and back.

A record is the one thing that engines, state, reports and forges exchange. It holds no secret: the
credentials of a URL are taken off before a `Repository` is made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any, TypeVar

_T = TypeVar("_T")

SCHEMA = 1
"""Version of the JSON form; it changes when a key changes its meaning or goes away."""


class Phase(str, Enum):
    """What is done to a repository, in this order. A record's phase is the last one finished."""

    PLANNED = "planned"
    CLONE = "clone"
    FIX = "fix"
    PROVE = "prove"
    COMMIT = "commit"
    PUSH = "push"
    PULL_REQUEST = "pull-request"

    @property
    def number(self) -> int:
        """Its place in the order, from 0."""
        return list(Phase).index(self)


class Outcome(str, Enum):
    """How an attempt ended."""

    RUNNING = "running"  # it has not: it waits, works, or was killed
    MIGRATED = "migrated"  # changed and committed, and pushed where that was asked for
    UNCHANGED = "unchanged"  # there was nothing that could be changed
    HELD = "held"  # changes were made, and the policy keeps them back; `reason` says why
    SKIPPED = "skipped"  # not worked on (uncommitted changes, no Python); `reason` says why
    FAILED = "failed"  # `error` says why
    ROLLED_BACK = "rolled-back"  # it was migrated; its branch and pull request are gone

    @property
    def is_final(self) -> bool:
        """Whether nothing is left to do for `resume`."""
        return self is not Outcome.RUNNING

    @property
    def needs_attention(self) -> bool:
        """Whether it makes the exit code of a run 1."""
        return self in (Outcome.HELD, Outcome.FAILED)


@dataclass(frozen=True)
class Repository:
    """One repository of the list.

    `name` is unique in its list ("group/project"). `source` is a URL without credentials, or an
    absolute path: of a checkout if `checkout`, which gets a branch and is not touched otherwise,
    else of a repository to clone. `ref` is a branch, a tag or a commit, "" for the default branch.
    `forge` is "github", "gitlab" or "" when there is nothing to open a pull request at, `project`
    the path there, and `api` the address of its API where it is not the public one. `base` is the
    branch that a pull request goes to, "" for the one that was cloned. `options` are keys of the
    policy that this entry sets for itself.
    """

    name: str
    source: str
    ref: str = ""
    checkout: bool = False
    forge: str = ""
    project: str = ""
    api: str = ""
    base: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def _where(path: str, cell: int | None, line: int | None) -> str:
    if line is None:
        return path
    return f"{path}:{line}" if cell is None else f"{path}:cell {cell}:{line}"


@dataclass(frozen=True)
class Left:
    """A finding that was seen and not fixed; `line` is the one before the migration.

    In a notebook, `line` counts in the cell of the number `cell`; elsewhere that is None.
    """

    path: str
    line: int
    rule: str
    code: str
    reason: str
    cell: int | None = None

    @property
    def where(self) -> str:
        """The place as people write it."""
        return _where(self.path, self.cell, self.line)


@dataclass(frozen=True)
class Problem:
    """A file that could not be worked on; see `Left` for a line of a notebook."""

    path: str
    line: int | None
    message: str
    cell: int | None = None

    @property
    def where(self) -> str:
        """The place as people write it."""
        return _where(self.path, self.cell, self.line)


@dataclass(frozen=True)
class FileChange:
    """A changed file; `new` when the migration wrote it."""

    path: str
    added: int
    removed: int
    new: bool = False


@dataclass(frozen=True)
class Run:
    """One run of the proof's command.

    `status` is "passed", "failed" (another exit code than 0), "time", "memory", "output" (a limit)
    or "refused" (it could not be started). `tail` is the end of its output.
    """

    status: str
    code: int | None
    seconds: float
    tail: str


@dataclass(frozen=True)
class Proof:
    """What running the repository's own command before and after the change showed.

    `passed`: the command succeeds after the change. Where it failed before as well, nothing was
    shown: neither `passed` nor `broken`. `broken`: it succeeded before and fails now. `kind` is
    "command", "tests" or "prove" (then `detail` has the checks as lines, and the runs may be None).
    `limits` are those that really held, in words.
    """

    kind: str
    command: str
    passed: bool
    broken: bool
    before: Run | None = None
    after: Run | None = None
    limits: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class PullRequest:
    """A pull or merge request; `state` is "open", "closed" or "merged".

    The rest is as the forge told at the time `seen`, "" where it was not asked since. `checks` are
    "none", "running", "passed" or "failed". `review` is "none", "wanted", "approved" or "changes"
    (somebody asks for some). `merge` is "ready", "conflicts", "behind" (its target has moved, and
    the forge wants it brought up to date), "blocked" (`why` says by what) or "unknown". `head` is
    the last commit of its branch.
    """

    url: str
    number: int
    state: str = "open"
    checks: str = ""
    review: str = ""
    merge: str = ""
    why: str = ""
    draft: bool = False
    head: str = ""
    seen: str = ""


@dataclass(frozen=True)
class Fork:
    """The fork that a branch was pushed to: its path at the forge, and its address for git."""

    project: str
    source: str


@dataclass
class Record:
    """One attempt at one repository.

    `phase` is the last phase that finished and `seconds` the time of each, by name ("infer" is the
    part of "fix" up to the first findings). `base_commit` is what was cloned, `commit` what was
    made of it on `branch`. `found`, `fixed` and `left` count findings by rule, before, applied and
    after; `not_fixed` and `problems` list them (see `cut`). `patch`, `changes` and `map` are files
    under the batch's folder, "" for none: the patch as `git apply` takes it, the list that
    `samedevice fix --report X.json` writes, with the reason of each change, and the page that
    `samedevice map --fixed` draws of the files that `mapped` names, with the end of the address
    that each has on it. `policy` has the settings that held and `own` those of them that the
    repository set itself. `owners` are the code owners of the changed files. `cut` says how many
    entries of long lists were left out, by the list's name. `fork` is where the branch was
    pushed to when that is not the repository itself. `run` counts how often the whole batch was run
    (`again`). `key` and `proof_key` name all that the fix and the proof depend on: an attempt takes
    over what an earlier one with the same found out, and `reused` says which phases. `committed` is
    the time in the commit ("": `started`), `asked` when the request was opened, and `waits` why it
    is not open yet. Times are ISO 8601 in UTC.
    """

    repository: Repository
    attempt: int = 1
    phase: Phase = Phase.PLANNED
    outcome: Outcome = Outcome.RUNNING
    reason: str = ""
    error: str = ""
    started: str = ""
    ended: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    engine: str = ""
    host: str = ""
    base_branch: str = ""
    base_commit: str = ""
    branch: str = ""
    commit: str = ""
    files: int = 0
    lines: int = 0
    found: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    not_fixed: list[Left] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    changed: list[FileChange] = field(default_factory=list)
    added: int = 0
    removed: int = 0
    patch: str = ""
    changes: str = ""
    map: str = ""
    mapped: dict[str, str] = field(default_factory=dict)
    proof: Proof | None = None
    policy: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    pushed: bool = False
    pull_request: PullRequest | None = None
    fork: Fork | None = None
    run: int = 1
    key: str = ""
    proof_key: str = ""
    reused: list[str] = field(default_factory=list)
    committed: str = ""
    asked: str = ""
    waits: str = ""
    cut: dict[str, int] = field(default_factory=dict)

    def anew(self, run: int) -> Record:
        """Return the next attempt, which knows what of this one is at the forge."""
        following = Record(self.repository, attempt=self.attempt + 1, run=run)
        if self.outcome is not Outcome.ROLLED_BACK:
            following._stand_on(self)
        return following

    def from_start(self) -> Record:
        """Return the same attempt with nothing done."""
        new = Record(self.repository, attempt=self.attempt, run=self.run, started=self.started)
        new._stand_on(self)
        return new

    def _stand_on(self, other: Record) -> None:
        self.branch, self.commit, self.pushed = other.branch, other.commit, other.pushed
        self.pull_request, self.fork, self.asked = other.pull_request, other.fork, other.asked

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types, with the version of the form under "schema"."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Read what `to_json` returned, of this version or an older one.

        Raises `ValueError` for a newer version and for what is no record.
        """
        schema = data.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA:
            raise ValueError(f"a record of version {schema}; this samedevice reads up to {SCHEMA}")
        try:
            known = _known(cls, data)
            return cls(
                **{
                    **known,
                    "repository": Repository(**_known(Repository, data["repository"])),
                    "phase": Phase(known["phase"]),
                    "outcome": Outcome(known["outcome"]),
                    "not_fixed": [Left(**_known(Left, item)) for item in known["not_fixed"]],
                    "problems": [Problem(**_known(Problem, item)) for item in known["problems"]],
                    "changed": [FileChange(**_known(FileChange, it)) for it in known["changed"]],
                    "proof": _proof(known["proof"]),
                    "pull_request": _one(PullRequest, known["pull_request"]),
                    "fork": _one(Fork, known.get("fork")),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a record: {error}") from None

    def dump(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(self.to_json(), ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def load(cls, line: str) -> Record:
        """Read what `dump` returned; raises `ValueError` as `from_json` does."""
        data = json.loads(line)
        if not isinstance(data, dict):
            raise ValueError("not a record: no table")
        return cls.from_json(data)


def _known(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of `data` that `cls` has; later versions may add some."""
    return {item.name: data[item.name] for item in fields(cls) if item.name in data}


def _proof(data: Mapping[str, Any] | None) -> Proof | None:
    if data is None:
        return None
    known = _known(Proof, data)
    for name in ("before", "after"):
        if known.get(name) is not None:
            known[name] = Run(**_known(Run, known[name]))
    for name in ("limits", "detail"):
        known[name] = tuple(known.get(name, ()))
    return Proof(**known)


def _one(cls: type[_T], data: Mapping[str, Any] | None) -> _T | None:
    return None if data is None else cls(**_known(cls, data))
