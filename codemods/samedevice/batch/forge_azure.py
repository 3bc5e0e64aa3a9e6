"""Azure DevOps, Services and Server, through Microsoft's client library.

A project here is "organisation/project/repository", or "organisation/repository" where project and
repository have one name, as in the short form of their addresses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from azure.devops.connection import Connection
from azure.devops.v7_0.git import models
from azure.devops.v7_0.git.git_client import GitClient
from azure.devops.v7_1.policy.policy_client import PolicyClient
from msrest.authentication import BasicAuthentication
from msrest.exceptions import ClientException

from .forge import Exists, Forge, ForgeError, Head, Request, Seen, seen_now, together
from .record import Fork, PullRequest, Repository

_PUBLIC = "https://dev.azure.com"
_FORK_SECONDS = 120.0
_MERGE_SECONDS = 15.0
_PAGE = 100
_REF = "refs/heads/"
_GONE = "0" * 40
_STATES = {"active": "open", "completed": "merged", "abandoned": "closed"}
_CHECKS = {"approved": "passed", "running": "running", "queued": "running"}
"""What policies that build say; any other word is a failure."""
_MERGE = {"succeeded": "ready", "conflicts": "conflicts", "rejectedByPolicy": "ready"}
_METHODS = {"merge": "noFastForward", "squash": "squash", "rebase": "rebase"}
_REVIEWERS = ("Minimum number of reviewers", "Required reviewers")


class Azure(Forge):
    """See `forge.Forge`."""

    NAME = "Azure DevOps"
    SIGN = "!"
    BODY = 3_800  # it takes 4,000 characters
    ERRORS = (ClientException,)

    def __init__(self, api: str, token: str) -> None:
        super().__init__(token)
        address = api.rstrip("/") or _PUBLIC
        self._address, self._api = address, "" if address == _PUBLIC else address
        self._known: dict[tuple[str, str], Any] = {}
        self._last = threading.local()

    def _client(self, organisation: str, what: str = "git") -> Any:
        """Return the client for one area of an organisation."""
        key = (organisation, what)
        if key not in self._known:
            address, who = f"{self._address}/{organisation}", BasicAuthentication("", self._token)
            made: Any
            if what == "git":
                made = GitClient(address, who)
            elif what == "policy":
                made = PolicyClient(address, who)
            else:  # which may be at another address
                made = Connection(address, who).clients.get_identity_client()
            made.config.connection.timeout = 30
            made.config.retry_policy.retries = 6
            made.config.hooks.append(self._remember)
            self._known[key] = made
        return self._known[key]

    def _remember(self, response: Any, *_: Any, **__: Any) -> None:
        self._last.status = response.status_code  # the library's errors do not have it

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation, or of "organisation/project"."""
        organisation, _, project = group.partition("/")
        with self._asking(group):
            for one in self._client(organisation).get_repositories(project or None):
                if one.is_disabled or not one.default_branch or (one.is_fork and not forks):
                    continue
                name = _named(organisation, one)
                yield Repository(
                    name=name,
                    source=_address(one.remote_url),
                    forge="azure",
                    project=name,
                    api=self._api,
                )

    def _repository(self, name: str) -> Any:
        organisation, project, repository = _parts(name)
        return self._client(organisation).get_repository(repository, project)

    def _default_branch(self, project: str) -> str:
        return str(self._repository(project).default_branch).removeprefix(_REF)

    def _tip(self, project: str, branch: str) -> str:
        organisation, team, repository = _parts(project)
        found = self._client(organisation).get_refs(repository, team, filter=f"heads/{branch}")
        return next((str(one.object_id) for one in found if one.name == _REF + branch), "")

    def _drop(self, project: str, branch: str, tip: str) -> None:
        organisation, team, repository = _parts(project)
        gone = models.GitRefUpdate(name=_REF + branch, old_object_id=tip, new_object_id=_GONE)
        self._client(organisation).update_refs([gone], repository, team)

    def _newest(self, head: Head) -> Seen | None:
        organisation, team, repository = _parts(head.project)
        asked = models.GitPullRequestSearchCriteria(
            source_ref_name=_REF + head.branch, status="all"
        )
        home = self._repository(head.home).id
        newest = None
        for one in self._client(organisation).get_pull_requests(repository, asked, team, top=_PAGE):
            source = one.fork_source.repository.id if one.fork_source else one.repository.id
            if source == home:
                seen = self._seen(head, one)
                if seen.state == "open":
                    return seen
                newest = newest or seen
        return newest

    def _open(self, head: Head, base: str, request: Request) -> Seen:
        organisation, team, repository = _parts(head.project)
        asked = models.GitPullRequest(
            title=request.title,
            description=request.body,
            source_ref_name=_REF + head.branch,
            target_ref_name=_REF + base,
            is_draft=request.draft,
        )
        if head.fork:
            home = models.GitRepository(id=self._repository(head.fork).id)
            asked.fork_source = models.GitForkRef(name=_REF + head.branch, repository=home)
        try:
            made = self._client(organisation).create_pull_request(asked, repository, team)
        except ClientException as error:
            status = self._said(error)[0] or 0
            newest = self._newest(head) if status == 409 or status >= 500 else None
            if newest is None or newest.state != "open":
                raise
            raise Exists from None
        return self._seen(head, made)

    def _change(self, head: Head, seen: Seen, **fields: Any) -> Any:
        organisation, team, repository = _parts(head.project)
        change = models.GitPullRequest(**fields)
        return self._client(organisation).update_pull_request(change, repository, seen.number, team)

    def _write(self, head: Head, seen: Seen, body: str) -> None:
        self._change(head, seen, description=body)

    def _close(self, head: Head, seen: Seen) -> None:
        self._change(head, seen, status="abandoned")

    def _dress(self, head: Head, seen: Seen, request: Request, notes: list[str]) -> None:
        organisation, team, repository = _parts(head.project)
        client = self._client(organisation)
        where = (repository, seen.number)
        if request.labels:
            with self._noting(notes, f"labels {', '.join(request.labels)}"):
                there = {one.name for one in client.get_pull_request_labels(*where, team)}
                for name in request.labels:
                    if name not in there:
                        client.create_pull_request_label({"name": name}, *where, team)
        asked = {one.id for one in seen.raw.reviewers or ()}
        for name in request.reviewers:
            with self._noting(notes, f"reviewer {name}"):
                person = self._person(organisation, name)
                if person not in asked:
                    given = models.IdentityRefWithVote(vote=0)
                    client.create_pull_request_reviewer(given, *where, person, team)

    def _person(self, organisation: str, name: str) -> str:
        """Return the id of a user or a team."""
        found = self._client(organisation, "identity").read_identities(
            search_filter="General", filter_value=name
        )
        if not found:
            raise ForgeError(f"there is nobody called {name} in {organisation}")
        return str(found[0].id)

    def _stands(self, head: Head, seen: Seen) -> PullRequest:
        organisation, team, repository = _parts(head.project)
        pull = self._client(organisation).get_pull_request(repository, seen.number, team)
        artifact = f"vstfs:///CodeReview/CodeReviewId/{pull.repository.project.id}/{seen.number}"
        policies = self._client(organisation, "policy").get_policy_evaluations(team, artifact)
        told = [
            (one.configuration.type.display_name, one.status, one.configuration.is_blocking)
            for one in policies or ()
            if one.status != "notApplicable"
        ]
        statuses = [_CHECKS.get(status, "failed") for kind, status, _ in told if kind == "Build"]
        rest = [
            kind
            for kind, status, blocks in told
            if blocks and status != "approved" and kind not in (*_REVIEWERS, "Build")
        ]
        merge = _MERGE.get(str(pull.merge_status), "unknown")
        if merge == "ready" and rest:
            merge = "blocked"
        waits = any(kind in _REVIEWERS and status != "approved" for kind, status, _ in told)
        return seen_now(
            self._seen(head, pull),
            checks=together(statuses),
            review=_review(pull, waits),
            merge=merge,
            why=rest[0] if rest else "",
            draft=bool(pull.is_draft),
            head=self._tip(head.home, head.branch),
        )

    def _merge(self, head: Head, seen: Seen, method: str, commit: str) -> None:
        how = models.GitPullRequestCompletionOptions(
            merge_strategy=_METHODS[method], delete_source_branch=True
        )
        self._change(
            head,
            seen,
            status="completed",
            last_merge_source_commit=models.GitCommitRef(commit_id=commit),
            completion_options=how,
        )
        until = time.monotonic() + _MERGE_SECONDS
        while time.monotonic() < until:  # it is done in the background
            newest = self._newest(head)
            if newest is None or newest.state != "open":
                return
            time.sleep(0.5)

    def _fork(self, project: str, owner: str) -> Fork:
        """Return the fork in the team project `owner` of the same organisation."""
        if not owner:
            raise ForgeError(f"{project}: name the project of the fork with --fork-owner")
        organisation, _, repository = _parts(project)
        client, there = self._client(organisation), self._repository(project)
        for one in client.get_repositories(owner):
            if one.name == repository and one.is_fork:
                return Fork(_named(organisation, one), _address(one.remote_url))
        home = client.get_repositories(owner)[0].project.id
        made = client.create_repository(
            models.GitRepositoryCreateOptions(
                name=repository,
                project=models.TeamProjectReference(id=home),
                parent_repository=models.GitRepositoryRef(
                    id=there.id, project=models.TeamProjectReference(id=there.project.id)
                ),
            ),
            owner,
        )
        name = _named(organisation, made)
        until = time.monotonic() + _FORK_SECONDS
        while not self._tip(name, str(there.default_branch).removeprefix(_REF)):
            if time.monotonic() > until:
                raise ForgeError(f"{project}: {self.NAME} did not finish the fork")
            time.sleep(1)
        return Fork(name, _address(made.remote_url))

    def _said(self, error: Any) -> tuple[int | None, str]:
        status = getattr(self._last, "status", None)
        known = status if isinstance(status, int) and status >= 400 else None
        return known, str(getattr(error, "message", "") or error)

    def _seen(self, head: Head, pull: Any) -> Seen:
        organisation, team, repository = _parts(head.project)
        number = int(pull.pull_request_id)
        url = f"{self._address}/{organisation}/{team}/_git/{repository}/pullrequest/{number}"
        state = _STATES.get(str(pull.status), "open")
        return Seen(number, url, state, pull.description or "", pull)


def _parts(name: str) -> tuple[str, str, str]:
    """Return organisation, project and repository of a path, which may be one of an address."""
    words = [unquote(word) for word in name.split("/") if word != "_git"]
    if len(words) == 2:
        words.append(words[1])
    if len(words) != 3:
        raise ForgeError(f"{name}: expected ORGANISATION/PROJECT/REPOSITORY")
    return words[0], words[1], words[2]


def _named(organisation: str, repository: Any) -> str:
    project = str(repository.project.name)
    same = project == repository.name
    return f"{organisation}/{project}" if same else f"{organisation}/{project}/{repository.name}"


def _review(pull: Any, waits: bool) -> str:
    votes = [one.vote for one in pull.reviewers or ()]
    if any(vote < 0 for vote in votes):
        return "changes"
    if any(vote > 0 for vote in votes) and not waits:
        return "approved"
    return "wanted" if votes or waits else "none"


def _address(url: str) -> str:
    """Return where git finds a repository; a user's name in it is left out."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def connect(api: str, token: str) -> Forge:
    """Return Azure DevOps Services, or a Server's at the address of its collections."""
    return Azure(api, token)
