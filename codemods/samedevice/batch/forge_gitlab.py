"""GitLab, gitlab.com and self-managed, through python-gitlab."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from gitlab import Gitlab, GitlabError
from gitlab.base import RESTObject
from gitlab.exceptions import GitlabCreateError, GitlabGetError
from gitlab.v4.objects import Project, ProjectMergeRequest
from requests import RequestException

from .forge import Exists, Forge, ForgeError, Head, Request, Seen, seen_now
from .record import Fork, PullRequest, Repository

_PUBLIC = "https://gitlab.com"
_STATES = {"opened": "open", "locked": "open"}  # locked: it is being merged
_FORK_SECONDS = 300.0
_CHECKS = {
    **dict.fromkeys(("success", "skipped"), "passed"),
    **dict.fromkeys(("failed", "canceled"), "failed"),
}
"""What a pipeline says; any other word is of one that has not ended."""
_MERGE = {
    **dict.fromkeys(("mergeable", "can_be_merged"), "ready"),
    **dict.fromkeys(("conflict", "broken_status", "cannot_be_merged"), "conflicts"),
    **dict.fromkeys(("checking", "unchecked", "preparing", "approvals_syncing"), "unknown"),
    **dict.fromkeys(("draft_status", "not_open", "ci_still_running", "ci_must_pass"), "ready"),
    **dict.fromkeys(("not_approved", "requested_changes"), "ready"),
    "need_rebase": "behind",
}
"""By `detailed_merge_status`; what checks, reviews and drafts have to say is told as theirs."""


class GitLab(Forge):
    """See `forge.Forge`."""

    NAME = "GitLab"
    SIGN = "!"
    ERRORS = (GitlabError, RequestException)

    def __init__(self, api: str = "", token: str = "") -> None:
        super().__init__(token)
        address = api.rstrip("/").removesuffix("/api/v4") or _PUBLIC
        self._api = "" if address == _PUBLIC else address
        self._client = Gitlab(
            address,
            private_token=token or None,
            timeout=30,
            per_page=100,
            retry_transient_errors=True,
        )

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the projects of a group with its subgroups, or of a user."""
        wanted = {"archived": False, "iterator": True}
        with self._asking(group):
            found: Iterable[RESTObject]
            try:
                found = self._client.groups.get(group).projects.list(
                    include_subgroups=True, with_shared=False, **wanted
                )
            except GitlabGetError as error:
                users = self._client.users.list(username=group, get_all=False)
                if error.response_code != 404 or not users:
                    raise
                found = self._client.users.get(users[0].id, lazy=True).projects.list(**wanted)
            for one in found:
                known = one.attributes
                if known.get("empty_repo") or known.get("marked_for_deletion_on"):
                    continue
                if known.get("forked_from_project") and not forks:
                    continue
                yield Repository(
                    name=one.path_with_namespace,
                    source=one.http_url_to_repo,
                    forge="gitlab",
                    project=one.path_with_namespace,
                    api=self._api,
                )

    def _project(self, name: str) -> Project:
        return self._client.projects.get(name)

    def _default_branch(self, project: str) -> str:
        return str(self._project(project).default_branch)

    def _tip(self, project: str, branch: str) -> str:
        try:
            return str(self._project(project).branches.get(branch).commit["id"])
        except GitlabGetError as error:
            if error.response_code != 404:
                raise
            return ""

    def _drop(self, project: str, branch: str, tip: str) -> None:
        self._project(project).branches.delete(branch)

    def _newest(self, head: Head) -> Seen | None:
        project = self._project(head.project)
        home = self._project(head.fork).id if head.fork else project.id
        found = project.mergerequests.list(
            source_branch=head.branch, state="all", order_by="created_at", sort="desc", get_all=True
        )
        own = [_seen(one) for one in found if one.source_project_id == home]
        return next((one for one in own if one.state == "open"), own[0] if own else None)

    def _open(self, head: Head, base: str, request: Request) -> Seen:
        project = self._project(head.project)
        data: dict[str, Any] = {
            "source_branch": head.branch,
            "target_branch": base,
            "title": f"Draft: {request.title}" if request.draft else request.title,
            "description": request.body,
            "labels": list(request.labels),
            "remove_source_branch": True,
        }
        home = project
        if head.fork:
            home = self._project(head.fork)
            data["target_project_id"] = project.id
        try:
            made = home.mergerequests.create(data)
        except GitlabCreateError as error:
            if error.response_code != 409:
                raise
            raise Exists from None
        return _seen(project.mergerequests.get(made.iid))

    def _write(self, head: Head, seen: Seen, body: str) -> None:
        seen.raw.description = body
        seen.raw.save()

    def _close(self, head: Head, seen: Seen) -> None:
        seen.raw.state_event = "close"
        seen.raw.save()

    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        there: ProjectMergeRequest = seen.raw
        change: dict[str, Any] = {}
        # not `there.labels`: a list that was looked at is sent back whole
        labels = [name for name in request.labels if name not in there.attributes["labels"]]
        if labels:
            change["add_labels"] = ",".join(labels)
        asked = [user["id"] for user in there.attributes.get("reviewers") or ()]
        more = [user for user in self._users(request, notes) if user not in asked]
        if more:
            change["reviewer_ids"] = asked + more
        for key, value in change.items():
            setattr(there, key, value)
        if change:
            there.save()

    def _users(self, request: Request, notes: list[str]) -> list[int]:
        """Return the ids of the reviewers."""
        found = []
        for name in request.reviewers:
            users = self._client.users.list(username=name, get_all=False)
            if users:
                found.append(int(users[0].id))
            else:
                notes.append(f"pull request: there is no user {name}")
        return found

    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        there = self._project(head.project).mergerequests.get(seen.number)
        known = there.attributes
        word = str(known.get("detailed_merge_status") or known.get("merge_status") or "")
        merge = "conflicts" if known.get("has_conflicts") else _MERGE.get(word, "blocked")
        pipeline = known.get("head_pipeline") or {}
        return seen_now(
            _seen(there),
            checks=_CHECKS.get(pipeline["status"], "running") if pipeline else "none",
            review=_review(there, word),
            merge=merge,
            why=word.replace("_", " ") if merge == "blocked" else "",
            draft=bool(known.get("draft")),
            head=str(known.get("sha") or ""),
        )

    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        if method == "rebase":
            raise ForgeError(
                f"{head.project}: GitLab rebases where the project's settings say so; "
                "ask for merge or squash"
            )
        seen.raw.merge(
            squash=method == "squash", should_remove_source_branch=True, sha=commit
        )  # fmt: skip

    def _fork(self, project: str, owner: str) -> Fork:
        there = self._project(project)
        if not owner:
            self._client.auth()
            assert self._client.user is not None
            owner = self._client.user.username
        for one in there.forks.list(iterator=True):
            if one.path_with_namespace.rpartition("/")[0] == owner:
                return Fork(one.path_with_namespace, one.http_url_to_repo)
        made = there.forks.create({"namespace_path": owner})
        until = time.monotonic() + _FORK_SECONDS
        while True:  # it is made in the background
            fork = self._client.projects.get(made.id)
            if fork.attributes.get("import_status") in (None, "none", "finished"):
                return Fork(fork.path_with_namespace, fork.http_url_to_repo)
            if fork.import_status == "failed" or time.monotonic() > until:
                raise ForgeError(f"{project}: GitLab did not finish the fork")
            time.sleep(2)

    def _said(self, error: Any) -> tuple[int | None, str]:
        if isinstance(error, GitlabError):
            return error.response_code, str(error.error_message)
        return None, str(error)


def _seen(request: ProjectMergeRequest) -> Seen:
    state = _STATES.get(str(request.state), str(request.state))
    text = request.description or ""
    return Seen(int(request.iid), str(request.web_url), state, text, request)


def _review(request: ProjectMergeRequest, word: str) -> str:
    if word == "requested_changes":
        return "changes"
    if request.approvals.get().attributes.get("approved_by"):
        return "wanted" if word == "not_approved" else "approved"
    return "wanted" if word == "not_approved" or request.attributes.get("reviewers") else "none"


def connect(api: str, token: str) -> Forge:
    """Return GitLab at an address, "" for gitlab.com."""
    return GitLab(api, token)
