"""GitHub, github.com and Enterprise Server, through PyGithub."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from urllib.parse import urlsplit

from github import Auth, Github, GithubException, GithubRetry, UnknownObjectException
from github.PullRequest import PullRequest as Pull
from github.Repository import Repository as Project
from requests import RequestException

from .forge import DECLINED, ROLLED_BACK, ForgeError, Request, hidden, merged, wrapped
from .record import PullRequest, Record, Repository

_PUBLIC = "https://api.github.com"


class GitHub:
    """See `forge.Forge`."""

    def __init__(self, api: str = "", token: str = "") -> None:
        address = api.rstrip("/") or _PUBLIC
        if not urlsplit(address).path and urlsplit(address).hostname != "api.github.com":
            address += "/api/v3"  # where an Enterprise Server has it
        self._api = "" if address == _PUBLIC else address
        self._token = token
        self._client = Github(
            auth=Auth.Token(token) if token else None,
            base_url=address,
            timeout=30,
            per_page=100,
            retry=GithubRetry(total=6),
        )

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation or a user."""
        with self._errors(group):
            try:
                found = self._client.get_organization(group).get_repos(type="all")
            except UnknownObjectException:
                found = self._client.get_user(group).get_repos(type="owner")
            for one in found:
                if one.archived or one.raw_data.get("disabled") or one.size == 0:
                    continue
                if one.fork and not forks:
                    continue
                yield Repository(
                    name=one.full_name,
                    source=one.clone_url,
                    forge="github",
                    project=one.full_name,
                    api=self._api,
                )

    def open_or_update(self, record: Record, request: Request) -> PullRequest:
        """Open the pull request of a record's branch, or update the open one."""
        name = record.repository.project
        with self._errors(name):
            project = self._client.get_repo(name)
            newest = _newest(project, record.branch)
            if newest is not None and newest.state == "open":
                return self._update(newest, record, request)
            if newest is not None and not newest.merged_at and not request.reopen:
                if ROLLED_BACK not in (newest.body or ""):
                    record.notes.append(DECLINED.format(f"#{newest.number}"))
                    return _told(newest)
            base = request.base or record.repository.base or record.base_branch
            try:
                pull = project.create_pull(
                    base or project.default_branch,
                    record.branch,
                    title=request.title,
                    body=wrapped(request.body),
                    draft=request.draft,
                )
            except GithubException as error:
                if error.status != 422:
                    raise
                # an answer that got lost, and the second try met what the first had opened
                newest = _newest(project, record.branch)
                if newest is None or newest.state != "open":
                    raise
                return self._update(newest, record, request)
            self._dress(pull, record, request)
            return _told(pull)

    def _update(self, pull: Pull, record: Record, request: Request) -> PullRequest:
        text = merged(pull.body, request.body)
        if text != (pull.body or "").replace("\r\n", "\n"):
            pull.edit(body=text)
        self._dress(pull, record, request)
        return _told(pull)

    def _dress(self, pull: Pull, record: Record, request: Request) -> None:
        """Add the labels and reviewers that are not there yet."""
        there = {label.name for label in pull.labels}
        labels = [name for name in request.labels if name not in there]
        users = {user.login for user in pull.requested_reviewers}
        teams = {team.slug for team in pull.requested_teams}
        asked = [name for name in request.reviewers if "/" not in name and name not in users]
        slugs = [name.partition("/")[2] for name in request.reviewers if "/" in name]
        groups = [slug for slug in slugs if slug not in teams]
        if labels:
            with self._noted(record, f"labels {', '.join(labels)}"):
                pull.add_to_labels(*labels)
        if asked or groups:
            with self._noted(record, f"reviewers {', '.join([*asked, *groups])}"):
                pull.create_review_request(reviewers=asked, team_reviewers=groups)

    def close(self, record: Record, *, force: bool = False) -> PullRequest | None:
        """Close the pull request of a record's branch and delete the branch."""
        name = record.repository.project
        with self._errors(name):
            project = self._client.get_repo(name)
            if record.branch == project.default_branch:
                raise ForgeError(f"{name}: {record.branch} is the default branch and stays")
            newest = _newest(project, record.branch)
            if newest is not None and newest.merged_at:
                raise ForgeError(f"{name}: pull request #{newest.number} is merged: revert it")
            try:
                reference = project.get_git_ref(f"heads/{record.branch}")
            except UnknownObjectException:
                reference = None
            if reference is not None and reference.object.sha != record.commit and not force:
                raise ForgeError(
                    f"{name}: {record.branch} has commits that are not this run's; it stays"
                )
            if newest is not None and newest.state == "open":
                newest.edit(body=f"{newest.body or ''}\n{ROLLED_BACK}", state="closed")
            if reference is not None:
                reference.delete()
            return None if newest is None else _told(newest)

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except GithubException as error:
            raise ForgeError(hidden(f"{what}: {_reason(error)}", self._token)) from None
        except RequestException as error:
            raise ForgeError(hidden(f"{what}: GitHub: {error}", self._token)) from None

    @contextlib.contextmanager
    def _noted(self, record: Record, what: str) -> Iterator[None]:
        """Note what could not be done, and go on."""
        try:
            with self._errors(what):
                yield
        except ForgeError as error:
            record.notes.append(f"pull request: {error}")


def _newest(project: Project, branch: str) -> Pull | None:
    """Return the last pull request that was opened from a branch of the project itself."""
    head = f"{project.owner.login}:{branch}"
    found = project.get_pulls(state="all", head=head, sort="created", direction="desc")
    newest = None
    for one in islice(found, 100):  # GitHub passes over a `head` that it does not understand
        if one.head.label == head:
            if one.state == "open":
                return one
            newest = newest or one
    return newest


def _told(pull: Pull) -> PullRequest:
    return PullRequest(pull.html_url, pull.number, "merged" if pull.merged_at else pull.state)


def _reason(error: GithubException) -> str:
    """Return what GitHub said, in one line."""
    data = error.data if isinstance(error.data, dict) else {}
    parts = [str(data.get("message") or error.data or "no answer")]
    for one in data.get("errors") or ():
        parts.append(str(one.get("message") or one) if isinstance(one, dict) else str(one))
    return f"GitHub says {error.status}: {'; '.join(parts)[:500]}"
