"""GitHub, github.com and Enterprise Server, through PyGithub."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from github import Auth, Github, GithubException, GithubRetry, UnknownObjectException
from github.PullRequest import PullRequest as Pull
from github.Repository import Repository as Project
from requests import RequestException

from .forge import Exists, Forge, Head, Request, Seen, seen_now, together
from .record import Fork, PullRequest, Repository

_PUBLIC = "https://api.github.com"
_FORK_SECONDS = 120.0
_CHECKS = {
    **dict.fromkeys(("success", "neutral", "skipped"), "passed"),
    **dict.fromkeys(("pending", "queued", "in_progress", "waiting", "requested"), "running"),
}
"""What statuses and check runs say; any other conclusion is a failure."""
_MERGE = {
    **dict.fromkeys(("clean", "unstable", "has_hooks"), "ready"),
    **{"dirty": "conflicts", "behind": "behind", "blocked": "blocked", "draft": "ready"},
}


class GitHub(Forge):
    """See `forge.Forge`."""

    NAME = "GitHub"
    ERRORS = (GithubException, RequestException)

    def __init__(self, api: str = "", token: str = "") -> None:
        super().__init__(token)
        address = api.rstrip("/") or _PUBLIC
        if not urlsplit(address).path and urlsplit(address).hostname != "api.github.com":
            address += "/api/v3"  # where an Enterprise Server has it
        self._api = "" if address == _PUBLIC else address
        self._client = Github(
            auth=Auth.Token(token) if token else None,
            base_url=address,
            timeout=30,
            per_page=100,
            retry=GithubRetry(total=6),
        )

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation or a user."""
        with self._asking(group):
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

    def _project(self, name: str) -> Project:
        return self._client.get_repo(name)

    def _default_branch(self, project: str) -> str:
        return self._project(project).default_branch

    def _tip(self, project: str, branch: str) -> str:
        try:
            return self._project(project).get_git_ref(f"heads/{branch}").object.sha
        except UnknownObjectException:
            return ""

    def _drop(self, project: str, branch: str, tip: str) -> None:
        self._project(project).get_git_ref(f"heads/{branch}").delete()

    def _newest(self, head: Head) -> Seen | None:
        label = f"{head.owner}:{head.branch}"
        found = self._project(head.project).get_pulls(
            state="all", head=label, sort="created", direction="desc"
        )
        newest = None
        for one in islice(found, 100):  # GitHub passes over a `head` that it does not understand
            if one.head.label == label:
                if one.state == "open":
                    return _seen(one)
                newest = newest or _seen(one)
        return newest

    def _open(self, head: Head, base: str, request: Request) -> Seen:
        project = self._project(head.project)
        try:
            return _seen(
                project.create_pull(
                    base,
                    f"{head.owner}:{head.branch}" if head.fork else head.branch,
                    title=request.title,
                    body=request.body,
                    draft=request.draft,
                )
            )
        except GithubException as error:
            newest = self._newest(head) if error.status == 422 else None
            if newest is None or newest.state != "open":
                raise
            raise Exists from None

    def _write(self, head: Head, seen: Seen, body: str) -> None:
        seen.raw.edit(body=body)

    def _close(self, head: Head, seen: Seen) -> None:
        seen.raw.edit(state="closed")

    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        pull: Pull = seen.raw
        there = {label.name for label in pull.labels}
        labels = [name for name in request.labels if name not in there]
        users = {user.login for user in pull.requested_reviewers}
        teams = {team.slug for team in pull.requested_teams}
        asked = [name for name in request.reviewers if "/" not in name and name not in users]
        slugs = [name.partition("/")[2] for name in request.reviewers if "/" in name]
        groups = [slug for slug in slugs if slug not in teams]
        if labels:
            with self._noting(notes, f"labels {', '.join(labels)}"):
                pull.add_to_labels(*labels)
        if asked or groups:
            with self._noting(notes, f"reviewers {', '.join([*asked, *groups])}"):
                pull.create_review_request(reviewers=asked, team_reviewers=groups)

    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        project = self._project(head.project)
        pull = project.get_pull(seen.number)  # a list has neither `mergeable_state` nor `merged`
        merge = _MERGE.get(pull.mergeable_state or "", "unknown")
        return seen_now(
            _seen(pull),
            checks=_checks(project, pull.head.sha),
            review=_review(pull),
            merge=merge,
            why="a rule of the branch is not met" if merge == "blocked" else "",
            draft=bool(pull.draft),
            head=pull.head.sha,
        )

    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        seen.raw.merge(merge_method=method, sha=commit)

    def _fork(self, project: str, owner: str) -> Fork:
        there = self._project(project)
        made = there.create_fork(organization=owner) if owner else there.create_fork()
        until = time.monotonic() + _FORK_SECONDS
        while True:  # it is made in the background
            try:
                made.get_git_ref(f"heads/{there.default_branch}")
                return Fork(made.full_name, made.clone_url)
            except GithubException as error:
                if error.status not in (404, 409) or time.monotonic() > until:
                    raise
            time.sleep(2)

    def _said(self, error: Any) -> tuple[int | None, str]:
        if not isinstance(error, GithubException):
            return None, str(error)
        data = error.data if isinstance(error.data, dict) else {}
        parts = [str(data.get("message") or error.data or "no answer")]
        for one in data.get("errors") or ():
            parts.append(str(one.get("message") or one) if isinstance(one, dict) else str(one))
        return error.status, "; ".join(parts)


def _seen(pull: Pull) -> Seen:
    state = "merged" if pull.merged_at else pull.state
    return Seen(pull.number, pull.html_url, state, pull.body or "", pull)


def _checks(project: Project, commit: str) -> str:
    """Return what statuses and check runs of a commit say."""
    there = project.get_commit(commit)
    found = [status.state for status in there.get_combined_status().statuses]
    found += [run.conclusion or run.status for run in there.get_check_runs()]
    return together([_CHECKS.get(one, "failed") for one in found])


def _review(pull: Pull) -> str:
    """Return what the last review of each person says, and whether one is waited for."""
    last: dict[str, str] = {}
    for one in pull.get_reviews():
        if one.user is not None and one.state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
            last[one.user.login] = one.state
    if "CHANGES_REQUESTED" in last.values():
        return "changes"
    if "APPROVED" in last.values():
        return "approved"
    return "wanted" if pull.requested_reviewers or pull.requested_teams else "none"


def connect(api: str, token: str) -> Forge:
    """Return GitHub at an address of its API, "" for github.com."""
    return GitHub(api, token)
