"""Bitbucket Cloud, through atlassian-python-api."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from atlassian.bitbucket import Cloud
from atlassian.bitbucket.cloud.repositories import Repository as Project
from atlassian.bitbucket.cloud.repositories.pullRequests import PullRequest as Pull
from atlassian.errors import ApiError
from requests import HTTPError, RequestException

from .forge import Exists, Forge, ForgeError, Head, Request, Seen, seen_now, together
from .record import Fork, PullRequest, Repository

_PUBLIC = "https://api.bitbucket.org"
_FORK_SECONDS = 120.0
_STATES = {"OPEN": "open", "MERGED": "merged", "DECLINED": "closed", "SUPERSEDED": "closed"}
_CHECKS = {"SUCCESSFUL": "passed", "INPROGRESS": "running"}
"""What build statuses say; any other word is a failure."""
_METHODS = {"merge": "merge_commit", "squash": "squash", "rebase": "rebase_fast_forward"}


class Bitbucket(Forge):
    """See `forge.Forge`."""

    NAME = "Bitbucket"
    BODY = 30_000  # it takes 32,768 characters
    ERRORS = (ApiError, RequestException)

    def __init__(self, api: str, token: str) -> None:
        super().__init__(token)
        address = api.rstrip("/") or _PUBLIC
        self._api = "" if address == _PUBLIC else address
        self._client = Cloud(
            address,
            token=token or None,
            timeout=30,
            backoff_and_retry=True,
            max_backoff_retries=6,
            max_backoff_seconds=120,
            retry_status_codes=[429, 502, 503, 504],
        )

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of a workspace."""
        with self._asking(group):
            for one in self._all(f"repositories/{group}"):
                if not one.get("mainbranch") or (one.get("parent") and not forks):
                    continue
                name = str(one["full_name"])
                yield Repository(
                    name=name,
                    source=_address(one["links"]),
                    forge="bitbucket",
                    project=name,
                    api=self._api,
                )

    def _all(self, path: str) -> Iterator[Any]:
        """Yield what is on all pages of a list."""
        found: Any = self._client.get(path, params={"pagelen": 100})
        yield from found["values"]
        while found.get("next"):
            found = self._client.get(found["next"], absolute=True)
            yield from found["values"]

    def _project(self, name: str) -> Project:
        workspace, _, slug = name.partition("/")
        return self._client.repositories.get(workspace, slug)

    def _default_branch(self, project: str) -> str:
        return str(self._project(project).get_data("mainbranch")["name"])

    def _tip(self, project: str, branch: str) -> str:
        try:
            found = self._client.get(f"repositories/{project}/refs/branches/{quote(branch)}")
        except (ApiError, HTTPError) as error:
            if _status(error) != 404:
                raise
            return ""
        return str(found["target"]["hash"])

    def _drop(self, project: str, branch: str, tip: str) -> None:
        self._client.delete(f"repositories/{project}/refs/branches/{quote(branch)}")

    def _newest(self, head: Head) -> Seen | None:
        states = " OR ".join(f'state = "{state}"' for state in _STATES)
        asked = f'source.branch.name = "{head.branch}" AND ({states})'
        newest = None
        for one in self._project(head.project).pullrequests.each(q=asked, sort="-created_on"):
            home = (one.get_data("source").get("repository") or {}).get("full_name")
            if home == head.home:
                seen = _seen(one)
                if seen.state == "open":
                    return seen
                newest = newest or seen
        return newest

    def _open(self, head: Head, base: str, request: Request) -> Seen:
        newest = self._newest(head)  # it would take a second for a change of the first
        if newest is not None and newest.state == "open":
            raise Exists
        made = self._client.post(
            f"repositories/{head.project}/pullrequests",
            data={
                "title": request.title,
                "description": request.body,
                "source": {
                    "branch": {"name": head.branch},
                    "repository": {"full_name": head.home},
                },
                "destination": {"branch": {"name": base}},
                "close_source_branch": True,
                "draft": request.draft,
            },
        )
        return _seen(self._project(head.project).pullrequests.get(made["id"]))

    def _write(self, head: Head, seen: Seen, body: str) -> None:
        self._put(head, seen, {"description": body})

    def _put(self, head: Head, seen: Seen, change: dict[str, Any]) -> None:
        """Change a request; reviewers that are not sent again would be taken away."""
        there = [{"uuid": one["uuid"]} for one in seen.raw.get_data("reviewers") or ()]
        self._client.put(
            f"repositories/{head.project}/pullrequests/{seen.number}",
            data={"title": seen.raw.title, "reviewers": there, **change},
        )

    def _close(self, head: Head, seen: Seen) -> None:
        seen.raw.decline()

    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        if request.labels:
            notes.append(f"pull request: {self.NAME} has no labels")
        there = {one["uuid"] for one in seen.raw.get_data("reviewers") or ()}
        wanted = []
        for name in request.reviewers:
            with self._noting(notes, f"reviewer {name}"):
                wanted.append(self._person(head, name))
        more = [uuid for uuid in wanted if uuid not in there]
        if more:
            with self._noting(notes, f"reviewers {', '.join(request.reviewers)}"):
                listed = [{"uuid": uuid} for uuid in (*sorted(there), *more)]
                self._put(head, seen, {"reviewers": listed})

    def _person(self, head: Head, name: str) -> str:
        """Return the id of somebody in the workspace."""
        workspace = head.project.partition("/")[0]
        for one in self._all(f"workspaces/{workspace}/members"):
            person = one.get("user") or {}
            if name in (person.get("nickname"), person.get("display_name"), person.get("uuid")):
                return str(person["uuid"])
        raise ForgeError(f"there is nobody called {name} in {workspace}")

    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        pull: Pull = self._project(head.project).pullrequests.get(seen.number)
        is_open = bool(pull.is_open)
        conflicts = is_open and bool(pull.has_conflict)
        checks = [_CHECKS.get(one["state"], "failed") for one in pull.statuses()]
        return seen_now(
            _seen(pull),
            checks=together(checks),
            review=_review(pull),
            merge="conflicts" if conflicts else "ready",
            draft=bool(pull.get_data("draft")),
            # of a request it tells twelve letters of the commit
            head=self._tip(head.home, head.branch),
        )

    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        if self._tip(head.home, head.branch) != commit:
            raise ForgeError(f"{head.project}: somebody added commits to {head.branch}")
        # not the library's `merge`, which knows fewer strategies
        self._client.post(
            f"repositories/{head.project}/pullrequests/{seen.number}/merge",
            data={"merge_strategy": _METHODS[method], "close_source_branch": True},
        )

    def _fork(self, project: str, owner: str) -> Fork:
        if not owner:
            raise ForgeError(f"{project}: name the workspace of the fork with --fork-owner")
        name = f"{owner}/{project.partition('/')[2]}"
        try:
            made = self._project(name)
        except (ApiError, HTTPError) as error:
            if _status(error) != 404:
                raise
            asked = {"workspace": {"slug": owner}}
            self._client.post(f"repositories/{project}/forks", data=asked)
            made = self._project(name)
        until = time.monotonic() + _FORK_SECONDS
        while not self._tip(name, self._default_branch(project)):
            if time.monotonic() > until:
                raise ForgeError(f"{project}: {self.NAME} did not finish the fork")
            time.sleep(1)
        return Fork(name, _address(made.get_data("links")))

    def _said(self, error: Any) -> tuple[int | None, str]:
        return _status(error), str(error) or type(error).__name__


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    if response is None and isinstance(error, ApiError):
        response = getattr(error.reason, "response", None)
    return None if response is None else int(response.status_code)


def _seen(pull: Pull) -> Seen:
    url = str(pull.get_data("links")["html"]["href"])
    state = _STATES.get(str(pull.get_data("state")), "closed")
    return Seen(int(pull.id), url, state, str(pull.description or ""), pull)


def _review(pull: Pull) -> str:
    said = [one.get("state") for one in pull.get_data("participants") or ()]
    if "changes_requested" in said:
        return "changes"
    if "approved" in said:
        return "approved"
    return "wanted" if pull.get_data("reviewers") else "none"


def _address(links: Any) -> str:
    """Return where git finds a repository; a user's name in it is left out."""
    address = next(str(one["href"]) for one in links["clone"] if one["name"] in ("https", "http"))
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def connect(api: str, token: str) -> Forge:
    """Return Bitbucket Cloud, at another address of its API where one is given."""
    return Bitbucket(api, token)
