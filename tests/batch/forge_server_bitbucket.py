"""Bitbucket Cloud's REST API, as `forge_server` serves it: /2.0, as Atlassian documents it."""

from __future__ import annotations

import re
from typing import Any

from .forge_server import PAGE, TIME, Answer, Forge, Request, Route, sliced

_STATES = {"open": "OPEN", "merged": "MERGED", "closed": "DECLINED"}


def token(headers: Any) -> str:
    return str(headers.get("Authorization", "")).removeprefix("Bearer ")


def wrong(message: str, status: int = 400) -> Answer:
    return Answer(status, {"type": "error", "error": {"message": message}})


def page(forge: Forge, entries: list[Any], path: str, asked: dict[str, str]) -> Answer:
    """Return a page of a list, with where the next one is beside it."""
    number = int(asked.get("page", 1))
    body: dict[str, Any] = {"values": sliced(entries, number), "page": number, "pagelen": PAGE}
    if len(entries) > number * PAGE:
        body["next"] = f"{forge.url}{path}?page={number + 1}"
    return Answer(200, body)


def person(name: str) -> dict[str, Any]:
    return {"type": "user", "uuid": f"{{{name}}}", "nickname": name, "display_name": name.title()}


def repository(forge: Forge, name: str) -> dict[str, Any]:
    flags = forge.flags.get(name, {})
    here = f"{forge.url}/2.0/repositories/{name}"
    given = {
        "type": "repository", "full_name": name, "name": name.rpartition("/")[2],
        "uuid": f"{{{name}}}", "mainbranch": {"type": "branch", "name": "main"},
        "slug": name.rpartition("/")[2], "created_on": TIME, "updated_on": TIME,
        "links": {
            "self": {"href": here}, "html": {"href": f"{forge.url}/{name}"},
            "pullrequests": {"href": f"{here}/pullrequests"},
            "clone": [
                {"name": "https", "href": f"http://ann@{forge.url[7:]}/{name}.git"},
                {"name": "ssh", "href": f"git@127.0.0.1:{name}.git"},
            ],
        },
        **{key: value for key, value in flags.items() if key != "fork_of"},
    }  # fmt: skip
    if "fork_of" in flags:
        given["parent"] = {"type": "repository", "full_name": flags["fork_of"]}
    return given


def pull(forge: Forge, request: Request) -> dict[str, Any]:
    here = f"{forge.url}/2.0/repositories/{request.project}/pullrequests/{request.number}"
    says = {"approved": "approved", "changes": "changes_requested"}

    def end(name: str, branch: str) -> dict[str, Any]:
        commit = forge.branches[name].get(branch, "")[:12]
        return {
            "branch": {"name": branch},
            "commit": {"type": "commit", "hash": commit},
            "repository": {"type": "repository", "full_name": name},
        }

    return {
        "type": "pullrequest", "id": request.number, "title": request.title,
        "description": request.body, "state": _STATES[request.state], "draft": request.draft,
        "source": end(request.home or request.project, request.head),
        "destination": end(request.project, request.base),
        "reviewers": [person(name) for name in request.reviewers],
        "participants": [
            {"type": "participant", "user": person(who), "role": "REVIEWER",
             "approved": said == "approved", "state": says[said]}
            for who, said in request.reviews.items()
        ],
        "created_on": TIME, "updated_on": TIME,
        "links": {
            "self": {"href": here}, "diffstat": {"href": f"{here}/diffstat"},
            "html": {"href": f"{forge.url}/{request.project}/pull-requests/{request.number}"},
        },
    }  # fmt: skip


def _repos(forge: Forge, workspace: str, **_: Any) -> Answer:
    found = [one for one in sorted(forge.branches) if one.startswith(f"{workspace}/")]
    if not found:
        return wrong(f"No workspace with identifier '{workspace}'.", 404)
    return Answer(200, [repository(forge, one) for one in found])


def _repo(forge: Forge, name: str, **_: Any) -> Answer:
    if name not in forge.branches:
        return wrong(f"Repository {name} not found", 404)
    return Answer(200, repository(forge, name))


def _members(forge: Forge, workspace: str, **_: Any) -> Answer:
    kind = "workspace_membership"
    return Answer(200, [{"type": kind, "user": person(name)} for name in forge.users])


def _branch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    sha = forge.branches.get(name, {}).get(branch)
    if sha is None:
        return wrong(f'Branch "{branch}" not found', 404)
    return Answer(200, {"type": "branch", "name": branch, "target": {"hash": sha}})


def _unbranch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    if forge.branches[name].pop(branch, None) is None:
        return wrong(f'Branch "{branch}" not found', 404)
    return Answer(204)


def _pulls(forge: Forge, name: str, asked: dict[str, str], **_: Any) -> Answer:
    """Answer a list with the one form of question that is asked."""
    form = r'source\.branch\.name = "([^"]+)" AND \(((?:state = "\w+"(?: OR )?)+)\)'
    query = re.fullmatch(form, asked.get("q", ""))
    if query is None or asked.get("sort") != "-created_on":
        return wrong(f"q: {asked}")
    states = re.findall(r'"(\w+)"', query[2])
    found = [one for one in forge.of(name, query[1]) if _STATES[one.state] in states]
    return Answer(200, [pull(forge, one) for one in found])


def _create(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    source, base = data["source"], data["destination"]["branch"]["name"]
    home, branch = source["repository"]["full_name"], source["branch"]["name"]
    if branch not in forge.branches.get(home, {}):
        return wrong("branch not found", 400 if name in forge.branches else 404)
    if len(data["description"]) > 32_768:
        return wrong("description: Ensure this value has at most 32768 characters")
    for one in forge.of(name, branch):
        if (one.state, one.home or name, one.base) == ("open", home, base):
            one.title, one.body = data["title"], data["description"]  # there is no second
            return Answer(201, pull(forge, one))
    number = len(forge.requests) + 1
    made = Request(name, number, branch, base, data["title"], data["description"])
    made.draft, made.home = bool(data.get("draft")), home if home != name else ""
    forge.requests.append(made)
    return Answer(201, pull(forge, made))


def _get(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    return Answer(200, pull(forge, forge.requests[int(number) - 1]))


def _edit(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    if not data.get("title"):
        return wrong("title: This field is required.")
    request.title, request.body = data["title"], data.get("description", request.body)
    request.reviewers = [one["uuid"].strip("{}") for one in data.get("reviewers", ())]
    return Answer(200, pull(forge, request))


def _decline(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    forge.requests[int(number) - 1].state = "closed"
    return Answer(200, pull(forge, forge.requests[int(number) - 1]))


def _merge(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    if data.get("merge_strategy") not in ("merge_commit", "squash", "rebase_fast_forward"):
        return wrong(f"merge_strategy: {data}")
    if not forge.is_ready(request):
        return wrong("You can't merge until you resolve all merge checks", 409)
    forge.merge(request)
    return Answer(200, pull(forge, request))


def _statuses(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    words = {"passed": "SUCCESSFUL", "failed": "FAILED", "running": "INPROGRESS"}
    checks = forge.requests[int(number) - 1].checks
    return Answer(
        200, [{"type": "build", "key": key, "state": words[one]} for key, one in checks.items()]
    )


def _diffstat(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    conflicts = forge.merged(forge.requests[int(number) - 1]) is None
    status = "merge conflict" if conflicts else "modified"
    return Answer(200, [{"type": "diffstat", "status": status, "lines_added": 1}])


def _fork(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    return Answer(201, repository(forge, forge.fork(name, data["workspace"]["slug"])))


_REPO = r"/2\.0/repositories/([^/]+/[^/]+)"
_PULL = _REPO + r"/pullrequests/(\d+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("GET", r"/2\.0/repositories/([^/]+)", _repos),
    ("GET", r"/2\.0/workspaces/([^/]+)/members", _members),
    ("GET", _REPO, _repo),
    ("GET", _REPO + r"/refs/branches/(.+)", _branch),
    ("DELETE", _REPO + r"/refs/branches/(.+)", _unbranch),
    ("GET", _REPO + r"/pullrequests/?", _pulls),
    ("POST", _REPO + r"/pullrequests", _create),
    ("GET", _PULL, _get),
    ("PUT", _PULL, _edit),
    ("POST", _PULL + r"/decline", _decline),
    ("POST", _PULL + r"/merge", _merge),
    ("GET", _PULL + r"/statuses", _statuses),
    ("GET", _PULL + r"/diffstat", _diffstat),
    ("POST", _REPO + r"/forks", _fork),
]
