"""Gitea and Forgejo, which answer alike here, through Forgejo's client library."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any

os.environ.setdefault("PYTHON_DOTENV_DISABLED", "1")  # else it reads a .env above its own files

from httpx import HTTPError
from pyforgejo import PyforgejoApi
from pyforgejo.core.api_error import ApiError

from .forge import Exists, Forge, ForgeError, Head, Request, Seen, seen_now, together
from .record import Fork, PullRequest, Repository

_PAGE = 50  # as many as an installation gives at once
_CLOSED_PAGES = 10  # of a repository's closed requests, the last that something happened to first
_FORK_SECONDS = 120.0
_DRAFT = "WIP: "
_CHECKS = {"success": "passed", "skipped": "passed", "warning": "passed", "pending": "running"}
"""What statuses say; any other word is a failure."""


class Gitea(Forge):
    """See `forge.Forge`."""

    NAME = "Gitea"
    ERRORS = (ApiError, HTTPError)

    def __init__(self, api: str, token: str) -> None:
        super().__init__(token)
        if not token:
            raise ForgeError(f"{api}: {self.NAME} is not asked without a token")
        self._api = api.rstrip("/").removesuffix("/api/v1")
        client = PyforgejoApi(base_url=f"{self._api}/api/v1", api_key=token, timeout=30)
        self._repos, self._groups = client.repository, client.organization
        self._people, self._issues = client.user, client.issue

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation or a user."""

        def listed(page: int) -> Any:
            try:
                return self._groups.org_list_repos(group, page=page, limit=_PAGE)
            except ApiError as error:
                if error.status_code != 404:
                    raise
                return self._people.list_repos(group, page=page, limit=_PAGE)

        with self._asking(group):
            for one in _pages(listed):
                if one.archived or one.empty or (one.fork and not forks):
                    continue
                yield Repository(
                    name=one.full_name,
                    source=one.clone_url,
                    forge="gitea",
                    project=one.full_name,
                    api=self._api,
                )

    def _default_branch(self, project: str) -> str:
        return str(self._repos.repo_get(*_parts(project)).default_branch)

    def _tip(self, project: str, branch: str) -> str:
        try:
            found: Any = self._repos.repo_get_branch(*_parts(project), branch)
        except ApiError as error:
            if error.status_code != 404:
                raise
            return ""
        return str(found.commit.id)

    def _drop(self, project: str, branch: str, tip: str) -> None:
        self._repos.repo_delete_branch(*_parts(project), branch)

    def _newest(self, head: Head) -> Seen | None:
        def listed(state: Any) -> Callable[[int], list[Any]]:
            return lambda page: self._repos.repo_list_pull_requests(
                *_parts(head.project), state=state, sort="recentupdate", page=page, limit=_PAGE
            )

        every = chain(_pages(listed("open")), _pages(listed("closed"), _CLOSED_PAGES))
        for one in every:
            home = one.head.repo.full_name if one.head.repo else head.project
            if (home, one.head.ref) == (head.home, head.branch):
                return _seen(one)
        return None

    def _open(self, head: Head, base: str, request: Request) -> Seen:
        try:
            made = self._repos.repo_create_pull_request(
                *_parts(head.project),
                base=base,
                head=f"{head.owner}:{head.branch}" if head.fork else head.branch,
                title=f"{_DRAFT}{request.title}" if request.draft else request.title,
                body=request.body,
            )
        except ApiError as error:
            if error.status_code != 409:
                raise
            raise Exists from None
        return _seen(made)

    def _write(self, head: Head, seen: Seen, body: str) -> None:
        self._repos.repo_edit_pull_request(*_parts(head.project), seen.number, body=body)

    def _close(self, head: Head, seen: Seen) -> None:
        self._repos.repo_edit_pull_request(*_parts(head.project), seen.number, state="closed")

    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        where = (*_parts(head.project), seen.number)
        there = {label.name for label in seen.raw.labels or ()}
        labels: Any = [name for name in request.labels if name not in there]
        if labels:
            with self._noting(notes, f"labels {', '.join(labels)}"):
                self._issues.add_label(*where, labels=labels)
        users = {user.login for user in seen.raw.requested_reviewers or ()}
        teams = {team.name for team in seen.raw.requested_reviewers_teams or ()}
        asked = [name for name in request.reviewers if "/" not in name and name not in users]
        slugs = [name.partition("/")[2] for name in request.reviewers if "/" in name]
        groups = [slug for slug in slugs if slug not in teams]
        if asked or groups:
            with self._noting(notes, f"reviewers {', '.join([*asked, *groups])}"):
                self._repos.repo_create_pull_review_requests(
                    *where, reviewers=asked, team_reviewers=groups
                )

    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        where = _parts(head.project)
        pull: Any = self._repos.repo_get_pull_request(*where, seen.number)
        if not pull.mergeable and pull.state == "open":
            time.sleep(0.5)  # after a push it says so until it has looked
            pull = self._repos.repo_get_pull_request(*where, seen.number)
        commit = str(pull.head.sha)
        told = self._repos.repo_get_combined_status_by_ref(*where, commit, limit=_PAGE)
        reviews = list(
            _pages(
                lambda page: self._repos.repo_list_pull_reviews(
                    *where, seen.number, page=page, limit=_PAGE
                )
            )
        )
        base: Any = self._repos.repo_get_branch(*where, pull.base.ref)
        merge, why = "ready", ""
        if pull.state == "open" and not pull.mergeable and not pull.draft:
            merge = "conflicts"
        elif base.user_can_merge is False:
            merge, why = "blocked", f"the token's user may not merge into {pull.base.ref}"
        return seen_now(
            _seen(pull),
            checks=together(
                [_CHECKS.get(str(one.status), "failed") for one in told.statuses or ()]
            ),
            review=_review(pull, reviews, base.required_approvals or 0),
            merge=merge,
            why=why,
            draft=bool(pull.draft),
            head=commit,
        )

    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        how: Any = method
        self._repos.repo_merge_pull_request(
            *_parts(head.project),
            seen.number,
            do=how,
            head_commit_id=commit,
            delete_branch_after_merge=True,
        )

    def _fork(self, project: str, owner: str) -> Fork:
        mine = self._people.get_current().login
        who = owner or mine
        for one in _pages(
            lambda page: self._repos.list_forks(*_parts(project), page=page, limit=_PAGE)
        ):
            if one.owner.login == who:
                return Fork(str(one.full_name), str(one.clone_url))
        more = {} if who == mine else {"organization": who}
        made = self._repos.create_fork(*_parts(project), **more)
        until = time.monotonic() + _FORK_SECONDS
        while not self._tip(str(made.full_name), str(made.default_branch)):
            if time.monotonic() > until:
                raise ForgeError(f"{project}: {self.NAME} did not finish the fork")
            time.sleep(1)
        return Fork(str(made.full_name), str(made.clone_url))

    def _said(self, error: Any) -> tuple[int | None, str]:
        if not isinstance(error, ApiError):
            return None, str(error) or type(error).__name__
        body = error.body
        words = body.get("message") if isinstance(body, dict) else getattr(body, "message", body)
        return error.status_code, str(words or "no reason given")


def _parts(project: str) -> tuple[str, str]:
    owner, _, name = project.rpartition("/")
    return owner, name


def _pages(listed: Callable[[int], list[Any]], most: int = 10_000) -> Iterator[Any]:
    """Yield what is on all pages; an installation may give less on one than was asked for."""
    for page in count(1):
        found = listed(page)
        yield from found
        if not found or page >= most:
            return


def _seen(pull: Any) -> Seen:
    state = "merged" if pull.merged else str(pull.state)
    return Seen(int(pull.number), str(pull.html_url), state, pull.body or "", pull)


def _review(pull: Any, reviews: list[Any], required: int) -> str:
    last: dict[str, str] = {}
    for one in reviews:
        if one.user is not None and not one.dismissed:
            if one.state in ("APPROVED", "REQUEST_CHANGES", "REQUEST_REVIEW"):
                last[one.user.login] = str(one.state)
    said = list(last.values())
    if "REQUEST_CHANGES" in said:
        return "changes"
    if "APPROVED" in said and said.count("APPROVED") >= required:
        return "approved"
    asked = required or pull.requested_reviewers or pull.requested_reviewers_teams
    return "wanted" if asked or said else "none"


def connect(api: str, token: str) -> Forge:
    """Return Gitea or Forgejo at an address; raises `ForgeError` without a token."""
    return Gitea(api, token)
