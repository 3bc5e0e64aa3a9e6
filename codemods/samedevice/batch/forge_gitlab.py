"""GitLab, gitlab.com and self-managed, through python-gitlab."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from gitlab import Gitlab, GitlabError
from gitlab.base import RESTObject
from gitlab.exceptions import GitlabCreateError, GitlabGetError
from gitlab.v4.objects import Project, ProjectMergeRequest
from requests import RequestException

from .forge import DECLINED, ROLLED_BACK, ForgeError, Request, hidden, merged, wrapped
from .record import PullRequest, Record, Repository

_PUBLIC = "https://gitlab.com"
_STATES = {"opened": "open", "locked": "open"}  # locked: it is being merged


class GitLab:
    """See `forge.Forge`."""

    def __init__(self, api: str = "", token: str = "") -> None:
        address = api.rstrip("/").removesuffix("/api/v4") or _PUBLIC
        self._api = "" if address == _PUBLIC else address
        self._token = token
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
        with self._errors(group):
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

    def open_or_update(self, record: Record, request: Request) -> PullRequest:
        """Open the merge request of a record's branch, or update the open one."""
        name = record.repository.project
        with self._errors(name):
            project = self._client.projects.get(name)
            newest = _newest(project, record.branch)
            if newest is not None and _state(newest) == "open":
                return self._update(newest, record, request)
            if newest is not None and _state(newest) == "closed" and not request.reopen:
                if ROLLED_BACK not in (newest.description or ""):
                    record.notes.append(DECLINED.format(f"!{newest.iid}"))
                    return _told(newest)
            base = request.base or record.repository.base or record.base_branch
            data: dict[str, Any] = {
                "source_branch": record.branch,
                "target_branch": base or project.default_branch,
                "title": f"Draft: {request.title}" if request.draft else request.title,
                "description": wrapped(request.body),
                "labels": list(request.labels),
                "remove_source_branch": True,
            }
            reviewers = self._users(record, request)
            if reviewers:
                data["reviewer_ids"] = reviewers
            try:
                made = project.mergerequests.create(data)
            except GitlabCreateError as error:
                if error.response_code != 409:
                    raise
                # an answer that got lost, and the second try met what the first had opened
                newest = _newest(project, record.branch)
                if newest is None or _state(newest) != "open":
                    raise
                return self._update(newest, record, request)
            return _told(made)

    def _update(self, there: ProjectMergeRequest, record: Record, request: Request) -> PullRequest:
        """Bring the text up to date, and add the labels and reviewers that are not there yet."""
        text = merged(there.description, request.body)
        change: dict[str, Any] = {}
        if text != there.description:
            change["description"] = text
        # not `there.labels`: a list that was looked at is sent back whole
        labels = [name for name in request.labels if name not in there.attributes["labels"]]
        if labels:
            change["add_labels"] = ",".join(labels)
        asked = [user["id"] for user in there.attributes.get("reviewers") or ()]
        more = [user for user in self._users(record, request) if user not in asked]
        if more:
            change["reviewer_ids"] = asked + more
        for key, value in change.items():
            setattr(there, key, value)
        if change:
            there.save()
        return _told(there)

    def _users(self, record: Record, request: Request) -> list[int]:
        """Return the ids of the reviewers."""
        found = []
        for name in request.reviewers:
            users = self._client.users.list(username=name, get_all=False)
            if users:
                found.append(int(users[0].id))
            else:
                record.notes.append(f"pull request: there is no user {name}")
        return found

    def close(self, record: Record, *, force: bool = False) -> PullRequest | None:
        """Close the merge request of a record's branch and delete the branch."""
        name = record.repository.project
        with self._errors(name):
            project = self._client.projects.get(name)
            if record.branch == project.default_branch:
                raise ForgeError(f"{name}: {record.branch} is the default branch and stays")
            newest = _newest(project, record.branch)
            if newest is not None and _state(newest) == "merged":
                raise ForgeError(f"{name}: merge request !{newest.iid} is merged: revert it")
            try:
                branch = project.branches.get(record.branch)
            except GitlabGetError as error:
                if error.response_code != 404:
                    raise
                branch = None
            if branch is not None and branch.commit["id"] != record.commit and not force:
                raise ForgeError(
                    f"{name}: {record.branch} has commits that are not this run's; it stays"
                )
            state = "closed"
            if newest is not None and _state(newest) == "open":
                newest.description = f"{newest.description or ''}\n{ROLLED_BACK}"
                newest.state_event = "close"
                newest.save()
            if branch is not None:
                branch.delete()
            return None if newest is None else PullRequest(newest.web_url, newest.iid, state)

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except GitlabError as error:
            code = f" {error.response_code}" if error.response_code else ""
            told = f"{what}: GitLab says{code}: {str(error.error_message)[:500]}"
            raise ForgeError(hidden(told, self._token)) from None
        except RequestException as error:
            raise ForgeError(hidden(f"{what}: GitLab: {error}", self._token)) from None


def _newest(project: Project, branch: str) -> ProjectMergeRequest | None:
    """Return the last merge request that was opened from a branch of the project itself."""
    found = project.mergerequests.list(
        source_branch=branch, state="all", order_by="created_at", sort="desc", get_all=True
    )
    own = [one for one in found if one.source_project_id == project.id]
    return next((one for one in own if _state(one) == "open"), own[0] if own else None)


def _state(request: ProjectMergeRequest) -> str:
    return _STATES.get(str(request.state), str(request.state))


def _told(request: ProjectMergeRequest) -> PullRequest:
    return PullRequest(str(request.web_url), int(request.iid), _state(request))
