"""Azure DevOps' REST API, as `forge_server` serves it.

The organisation is acme, and each repository has a project of its name; a fork is in that of its
owner.
"""

from __future__ import annotations

import base64
from typing import Any

from .forge_server import Answer, Forge, Request, Route

_STATES = {"open": "active", "merged": "completed", "closed": "abandoned"}
_GIT = "{project}/_apis/git/repositories/{repositoryId}/"
_PULL = _GIT + "pullRequests/{pullRequestId}/{resource}/"
_PLACES = {
    "225f7195-f9c7-4d14-ab28-a83f7ff77e1f": (
        "git",
        "repositories",
        "{project}/_apis/{area}/{resource}/{repositoryId}",
    ),
    "2d874a60-a811-4f62-9c9f-963a6ea0a55b": ("git", "refs", _GIT + "{resource}/{*filter}"),
    "9946fd70-0d40-406e-b686-b4744cbbcc37": (
        "git",
        "pullRequests",
        _GIT + "{resource}/{pullRequestId}",
    ),
    "f22387e3-984e-4c52-9c6d-fbb8f14c812d": ("git", "labels", _PULL + "{labelIdOrName}"),
    "4b6702c7-aa35-4b89-9c96-b9abf6d3e540": ("git", "reviewers", _PULL + "{reviewerId}"),
    "c23ddff5-229c-4d04-a80b-0fdce9f360c8": (
        "policy",
        "evaluations",
        "{project}/_apis/{area}/{resource}/{evaluationId}",
    ),
    "28010c54-d0c0-4c89-a5b0-1c9e188b9fb7": ("IMS", "identities", "_apis/{resource}/{identityId}"),
    "e81700f7-3be2-46de-8624-2eb35882fcaa": (
        "Location",
        "ResourceAreas",
        "_apis/{resource}/{areaId}",
    ),
}


def token(headers: Any) -> str:
    given = str(headers.get("Authorization", "")).removeprefix("Basic ")
    return base64.b64decode(given).decode().partition(":")[2]


def listed(entries: list[Any]) -> Answer:
    return Answer(200, {"count": len(entries), "value": entries})


def wrong(status: int, kind: str, message: str) -> Answer:
    return Answer(
        status,
        {"$id": "1", "innerException": None, "message": message, "typeName": kind, "typeKey": kind,
         "errorCode": 0, "eventId": 3000},
    )  # fmt: skip


def missing(what: str) -> Answer:
    return wrong(404, "GitRepositoryNotFoundException", f"TF401019: {what} does not exist")


def _name(forge: Forge, org: str, project: str, repo: str) -> str:
    """Return the stand-in's name of a repository, which ids have as a number."""
    if repo.isdigit():
        return list(forge.branches)[int(repo) - 1]
    return f"{org}/{repo}" if project in (repo, "") else f"{project}/{repo}"


def repository(forge: Forge, name: str) -> dict[str, Any]:
    flags = forge.flags.get(name, {})
    owner, _, short = name.partition("/")
    project = owner if "fork_of" in flags else short
    return {
        "id": str(1 + list(forge.branches).index(name)), "name": short,
        "project": {"id": f"project-{project}", "name": project, "state": "wellFormed"},
        "defaultBranch": "refs/heads/main", "size": 12, "url": "x",
        "remoteUrl": f"{forge.url}/{name}.git", "isDisabled": False,
        **{key: value for key, value in flags.items() if key != "fork_of"},
        "isFork": "fork_of" in flags or flags.get("isFork", False),
    }  # fmt: skip


def pull(forge: Forge, request: Request) -> dict[str, Any]:
    votes = {"approved": 10, "changes": -5}
    people = dict.fromkeys(request.reviewers, 0)
    people |= {who: votes[said] for who, said in request.reviews.items()}
    conflicts = request.state == "open" and forge.merged(request) is None
    given = {
        "repository": repository(forge, request.project), "pullRequestId": request.number,
        "status": _STATES[request.state], "title": request.title, "description": request.body,
        "sourceRefName": f"refs/heads/{request.head}",
        "targetRefName": f"refs/heads/{request.base}",
        "mergeStatus": "conflicts" if conflicts else "succeeded", "isDraft": request.draft,
        "lastMergeSourceCommit": {"commitId": forge.tip(request)},
        "reviewers": [{"id": f"id-{who}", "vote": vote} for who, vote in people.items()],
    }  # fmt: skip
    if request.home:
        home = repository(forge, request.home)
        given["forkSource"] = {"name": f"refs/heads/{request.head}", "repository": home}
    return given


def _options(forge: Forge, org: str, **_: Any) -> Answer:
    return listed([
        {"id": ident, "area": area, "resourceName": name, "routeTemplate": template,
         "resourceVersion": 1, "minVersion": "1.0", "maxVersion": "7.1", "releasedVersion": "7.0"}
        for ident, (area, name, template) in _PLACES.items()
    ])  # fmt: skip


def _areas(forge: Forge, org: str, **_: Any) -> Answer:
    return listed([])  # as a Server answers: everything is at one address


def _repos(forge: Forge, org: str, project: str = "", **_: Any) -> Answer:
    start = f"{project}/" if project else f"{org}/"
    found = [one for one in sorted(forge.branches) if one.startswith(start)]
    if not found and not project:
        return wrong(404, "OrganizationNotFound", f"{org} does not exist")
    if not found:
        flags = {"id": "0", "name": "kept", "isFork": False, "defaultBranch": None}
        return listed([{**flags, "project": {"id": f"project-{project}", "name": project}}])
    return listed([repository(forge, one) for one in found])


def _repo(forge: Forge, org: str, project: str, repo: str, **_: Any) -> Answer:
    name = _name(forge, org, project, repo)
    return Answer(200, repository(forge, name)) if name in forge.branches else missing(name)


def _refs(
    forge: Forge, org: str, project: str, repo: str, asked: dict[str, str], **_: Any
) -> Answer:
    name = _name(forge, org, project, repo)
    if name not in forge.branches:
        return missing(name)
    start = asked["filter"].removeprefix("heads/")
    return listed([
        {"name": f"refs/heads/{branch}", "objectId": commit}
        for branch, commit in forge.branches[name].items() if branch.startswith(start)
    ])  # fmt: skip


def _update_refs(forge: Forge, org: str, project: str, repo: str, data: Any, **_: Any) -> Answer:
    name = _name(forge, org, project, repo)
    for one in data:
        branch = one["name"].removeprefix("refs/heads/")
        assert one["newObjectId"] == "0" * 40
        if forge.branches[name].get(branch) == one["oldObjectId"]:
            del forge.branches[name][branch]
    return listed([{"name": one["name"], "success": True} for one in data])


def _pulls(
    forge: Forge, org: str, project: str, repo: str, asked: dict[str, str], **_: Any
) -> Answer:
    name = _name(forge, org, project, repo)
    branch = asked["searchCriteria.sourceRefName"].removeprefix("refs/heads/")
    state = asked.get("searchCriteria.status", "active")
    found = [one for one in forge.of(name, branch) if state in ("all", _STATES[one.state])]
    return listed([pull(forge, one) for one in found])


def _create(
    forge: Forge, org: str, project: str, repo: str, data: dict[str, Any], **_: Any
) -> Answer:
    name = _name(forge, org, project, repo)
    head, base = (
        data[key].removeprefix("refs/heads/") for key in ("sourceRefName", "targetRefName")
    )
    home = name
    if data.get("forkSource"):
        home = list(forge.branches)[int(data["forkSource"]["repository"]["id"]) - 1]
    if head not in forge.branches[home]:
        return wrong(400, "GitPullRequestBranchNotFound", "TF401398: the source branch is missing")
    if len(data["description"]) > 4_000:
        return wrong(400, "InvalidArgumentValueException", "description: 4000 characters at most")
    for one in forge.of(name, head):
        if (one.state, one.home or name, one.base) == ("open", home, base):
            return wrong(409, "GitPullRequestExistsException", "TF401179: there is an active one")
    made = Request(name, len(forge.requests) + 1, head, base, data["title"], data["description"])
    made.draft, made.home = bool(data.get("isDraft")), home if home != name else ""
    forge.requests.append(made)
    return Answer(201, pull(forge, made))


def _get(forge: Forge, org: str, project: str, repo: str, number: str, **_: Any) -> Answer:
    return Answer(200, pull(forge, forge.requests[int(number) - 1]))


def _edit(
    forge: Forge, org: str, project: str, repo: str, number: str, data: dict[str, Any], **_: Any
) -> Answer:
    request = forge.requests[int(number) - 1]
    request.body = data.get("description", request.body)
    if data.get("status") == "abandoned":
        request.state = "closed"
    if data.get("status") == "completed":
        if data["lastMergeSourceCommit"]["commitId"] != forge.tip(request):
            return wrong(409, "GitPullRequestStaleException", "TF401192: the source has changed")
        if not forge.is_ready(request):
            return wrong(403, "GitPullRequestUpdateRejectedByPolicy", "TF402456: a policy says no")
        forge.merge(request)
    return Answer(200, pull(forge, request))


def _labels(forge: Forge, org: str, project: str, repo: str, number: str, **_: Any) -> Answer:
    there = forge.requests[int(number) - 1].labels
    return listed([{"id": name, "name": name, "active": True} for name in there])


def _label(
    forge: Forge, org: str, project: str, repo: str, number: str, data: Any, **_: Any
) -> Answer:
    forge.requests[int(number) - 1].labels.append(data["name"])
    return Answer(200, {"id": data["name"], "name": data["name"], "active": True})


def _reviewer(
    forge: Forge, org: str, project: str, repo: str, number: str, who: str, **_: Any
) -> Answer:
    forge.requests[int(number) - 1].reviewers.append(who.removeprefix("id-"))
    return Answer(200, {"id": who, "vote": 0})


def _people(forge: Forge, org: str, asked: dict[str, str], **_: Any) -> Answer:
    found = [one for one in forge.users if one == asked["filterValue"]]
    return listed([{"id": f"id-{one}", "providerDisplayName": one} for one in found])


def _policies(forge: Forge, org: str, project: str, asked: dict[str, str], **_: Any) -> Answer:
    words = {"passed": "approved", "failed": "rejected", "running": "running"}
    request = forge.requests[int(asked["artifactId"].rpartition("/")[2]) - 1]
    told = [("Build", words[said]) for said in request.checks.values()]
    if request.blocked:
        told.append(("Comment requirements", "rejected"))
    return listed([
        {"evaluationId": f"{number:08}-0000-0000-0000-000000000000", "status": status,
         "configuration": {"isBlocking": True, "isEnabled": True, "type": {"displayName": kind}}}
        for number, (kind, status) in enumerate(told)
    ])  # fmt: skip


def _fork(forge: Forge, org: str, project: str, data: dict[str, Any], **_: Any) -> Answer:
    of = list(forge.branches)[int(data["parentRepository"]["id"]) - 1]
    return Answer(201, repository(forge, forge.fork(of, project)))


_ORG = r"/([^/_]+)"
_IN = _ORG + r"/([^/_]+)/_apis/git/repositories"
_AT = _IN + r"/([^/]+)"
_NUMBER = _AT + r"/pullRequests/(\d+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("OPTIONS", _ORG + r"/_apis", _options),
    ("GET", _ORG + r"/_apis/ResourceAreas", _areas),
    ("GET", _ORG + r"/_apis/git/repositories", _repos),
    ("GET", _ORG + r"/_apis/identities", _people),
    ("GET", _ORG + r"/([^/_]+)/_apis/policy/evaluations", _policies),
    ("GET", _IN, _repos),
    ("POST", _IN, _fork),
    ("GET", _AT, _repo),
    ("GET", _AT + r"/refs", _refs),
    ("POST", _AT + r"/refs", _update_refs),
    ("GET", _AT + r"/pullRequests", _pulls),
    ("POST", _AT + r"/pullRequests", _create),
    ("GET", _NUMBER, _get),
    ("PATCH", _NUMBER, _edit),
    ("GET", _NUMBER + r"/labels", _labels),
    ("POST", _NUMBER + r"/labels", _label),
    ("PUT", _NUMBER + r"/reviewers/([^/]+)", _reviewer),
]
