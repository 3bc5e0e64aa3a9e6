"""What a batch asks of a forge: to open, bring up to date, look at, merge and close pull requests.

What is right for all forges is written here, once, over what each of them can do (the abstract
methods, a file for each forge, through its own client library). `forges` has the list of them.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, ClassVar

from .record import Fork, PullRequest, Record, Repository

START, END = "<!-- samedevice: start -->", "<!-- samedevice: end -->"
ROLLED_BACK = "<!-- samedevice: rolled back -->"
METHODS = ("merge", "squash", "rebase")
"""How a request may be merged; a forge that lacks one says so."""

_DECLINED = "pull request: {} was closed unmerged, and is not asked for again"
_RIGHTS = {
    401: "the token is wrong, expired or missing",
    403: "the token lacks a right for this; docs/batch-forges.md has those that it needs",
    404: "there is no such thing, or the token may not see it",
}


class ForgeError(Exception):
    """What a forge refused, or why it could not be asked; the message holds no token."""


class Exists(Exception):
    """There is an open request of this branch already."""


@dataclass(frozen=True)
class Request:
    """What is asked for in a pull request.

    `base` is the branch it goes to ("": the repository's own choice, then the default branch).
    `reviewers` are user names, on GitHub also teams as "organisation/team". `reopen`: ask again
    where a pull request of the same branch was closed unmerged.
    """

    title: str
    body: str
    base: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = False
    reopen: bool = False


@dataclass(frozen=True)
class Head:
    """A branch that requests come from: of the project itself, or of a fork of it."""

    project: str
    branch: str
    fork: str = ""

    @classmethod
    def of(cls, record: Record) -> Head:
        """Return that of a record."""
        fork = record.fork.project if record.fork else ""
        return cls(record.repository.project, record.branch, fork)

    @property
    def home(self) -> str:
        """The project that has the branch."""
        return self.fork or self.project

    @property
    def owner(self) -> str:
        """The user or organisation of that project."""
        return self.home.rpartition("/")[0]


@dataclass(frozen=True)
class Seen:
    """A request that a forge has; `raw` is what its client library made of it."""

    number: int
    url: str
    state: str
    body: str
    raw: Any

    @property
    def told(self) -> PullRequest:
        """As a record has it."""
        return PullRequest(self.url, self.number, self.state)


class Forge(ABC):
    """A forge. Every public method raises `ForgeError`."""

    NAME: ClassVar[str]
    SIGN: ClassVar[str] = "#"
    BODY: ClassVar[int] = 60_000
    """The characters of a request's text: GitHub takes 65,536, and people add to it."""
    ERRORS: ClassVar[tuple[type[Exception], ...]]
    """What the client library raises."""

    def __init__(self, token: str) -> None:
        self._token = token

    @abstractmethod
    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation, a group with its subgroups, or a user.

        Archived, disabled and empty ones are left out, forks too unless `forks`.
        """

    def open_or_update(self, record: Record, request: Request) -> PullRequest:
        """Open the pull request of `record.branch`, or bring the open one's text up to date.

        There is never a second: an open one keeps its title and whatever was written around the
        batch's text, and one that was closed unmerged is returned as it is, "closed", unless it was
        closed by `close` or `request.reopen` says so. What it could not do beside (a label, a
        reviewer) goes to `record.notes`.
        """
        head = Head.of(record)
        with self._asking(head.project):
            newest = self._newest(head)
            if newest is not None and newest.state == "closed" and not request.reopen:
                if ROLLED_BACK not in newest.body:
                    record.notes.append(_DECLINED.format(f"{self.SIGN}{newest.number}"))
                    return newest.told
            if newest is None or newest.state != "open":
                base = request.base or record.repository.base or record.base_branch
                try:
                    base = base or self._default_branch(head.project)
                    opened = self._open(head, base, replace(request, body=wrapped(request.body)))
                except Exists:
                    # an answer that got lost, and the second try met what the first had opened
                    newest = self._newest(head)
                    if newest is None or newest.state != "open":
                        raise ForgeError(f"{head.project}: {self.NAME} has one already") from None
                else:
                    self._dress(head, opened, request, record.notes)
                    return opened.told
            text = merged(newest.body, request.body)
            if text != newest.body.replace("\r\n", "\n"):
                self._write(head, newest, text)
            self._dress(head, newest, request, record.notes)
            return newest.told

    def look(self, record: Record) -> PullRequest | None:
        """Return how the request of `record.branch` stands; None without one."""
        head = Head.of(record)
        with self._asking(head.project):
            newest = self._newest(head)
            return None if newest is None else self._stands(head, newest)

    def target(self, record: Record) -> str:
        """Return the last commit of the branch that `record.branch` goes to."""
        project = record.repository.project
        with self._asking(project):
            base = record.repository.base or record.base_branch or self._default_branch(project)
            return self._tip(project, base)

    def merge(self, record: Record, method: str) -> PullRequest:
        """Merge the request of `record.branch`, whose last commit has to be `record.commit`."""
        head = Head.of(record)
        with self._asking(head.project):
            newest = self._newest(head)
            if newest is None:
                raise ForgeError(f"{head.project}: {head.branch} has no request")
            if newest.state == "open":
                self._merge(head, newest, method, record.commit)
                newest = self._newest(head) or newest
            return self._stands(head, newest)

    def close(
        self, record: Record, *, force: bool = False, declined: bool = False
    ) -> PullRequest | None:
        """Close the pull request of `record.branch` and delete the branch; None without one.

        A merged one, a branch that is the default branch and (unless `force`) a branch with other
        commits than `record.commit` at its end are refused. What is gone already is no error.
        `declined`: a later run does not ask again.
        """
        head = Head.of(record)
        name = head.project
        with self._asking(name):
            if not head.fork and head.branch == self._default_branch(name):
                raise ForgeError(f"{name}: {head.branch} is the default branch and stays")
            newest = self._newest(head)
            if newest is not None and newest.state == "merged":
                raise ForgeError(f"{name}: {self.SIGN}{newest.number} is merged: revert it")
            tip = self._tip(head.home, head.branch)
            if tip not in ("", record.commit) and not force:
                raise ForgeError(
                    f"{name}: {head.branch} has commits that are not this run's; it stays"
                )
            if newest is not None and newest.state == "open":
                if not declined:
                    self._write(head, newest, f"{newest.body}\n{ROLLED_BACK}")
                self._close(head, newest)
            if tip:
                self._drop(head.home, head.branch, tip)
            return None if newest is None else replace(newest.told, state="closed")

    def fork(self, project: str, owner: str) -> Fork:
        """Return the fork of a project that `owner` ("": who the token is of) has; made if need be.

        Waits until it can be pushed to.
        """
        with self._asking(project):
            return self._fork(project, owner)

    # What a forge can do: these raise what its client library raises.

    @abstractmethod
    def _default_branch(self, project: str) -> str: ...

    @abstractmethod
    def _tip(self, project: str, branch: str) -> str:
        """Return a branch's last commit, "" without the branch."""

    @abstractmethod
    def _drop(self, project: str, branch: str, tip: str) -> None:
        """Delete a branch that is at `tip`."""

    @abstractmethod
    def _newest(self, head: Head) -> Seen | None:
        """Return the request of a branch: the open one, else the last that was opened."""

    @abstractmethod
    def _open(self, head: Head, base: str, request: Request) -> Seen:
        """Open a request; raises `Exists`."""

    @abstractmethod
    def _write(self, head: Head, seen: Seen, body: str) -> None:
        """Replace a request's text."""

    @abstractmethod
    def _close(self, head: Head, seen: Seen) -> None:
        """Close a request unmerged."""

    @abstractmethod
    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        """Add the labels and reviewers that are not there yet; what cannot be goes to `notes`."""

    @abstractmethod
    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        """Return how a request stands: see `PullRequest`."""

    @abstractmethod
    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        """Merge a request whose branch is at `commit`."""

    @abstractmethod
    def _fork(self, project: str, owner: str) -> Fork: ...

    @abstractmethod
    def _said(self, error: Any) -> tuple[int | None, str]:
        """Return the status and the words of what the client library raised; None: no answer."""

    @contextlib.contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Turn what the client library raises into `ForgeError`."""
        try:
            yield
        except self.ERRORS as error:
            status, words = self._said(error)
            said = f"{self.NAME} says {status}" if status else self.NAME
            words = " ".join(words.split())[:500]
            hint = f" ({_RIGHTS[status]})" if status in _RIGHTS else ""
            raise ForgeError(self._hidden(f"{what}: {said}: {words}{hint}")) from None
        except (ForgeError, Exists):
            raise
        except Exception as error:
            # an answer of another shape, over which client libraries stumble in many ways
            told = f"{type(error).__name__}: {error}"[:300]
            raise ForgeError(
                self._hidden(f"{what}: {self.NAME} answered what was not understood: {told}")
            ) from error

    @contextlib.contextmanager
    def _noting(self, notes: list[str], what: str) -> Iterator[None]:
        """Note what could not be done, and go on."""
        try:
            with self._asking(what):
                yield
        except ForgeError as error:
            notes.append(f"pull request: {error}")

    def _hidden(self, message: str) -> str:
        return message.replace(self._token, "***") if self._token else message


def seen_now(seen: Seen, **fields: Any) -> PullRequest:
    """Return how a request stands, with the time."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return replace(seen.told, **fields, seen=now)


def together(checks: list[str]) -> str:
    """Return what checks say together, of "passed", "failed" and "running"; "none" without any."""
    for word in ("failed", "running", "passed"):
        if word in checks:
            return word
    return "none"


def wrapped(body: str) -> str:
    """Return the batch's part of a pull request's text, between marks that no reader sees."""
    for mark in (START, END, ROLLED_BACK):
        body = body.replace(mark, "")
    return f"{START}\n{body.strip()}\n{END}"


def merged(old: str | None, body: str) -> str:
    """Return a pull request's text with the batch's part replaced, and what others wrote kept."""
    head, start, rest = (old or "").partition(START)
    _, end, tail = rest.partition(END)
    return head + wrapped(body) + tail if start and end else wrapped(body)
