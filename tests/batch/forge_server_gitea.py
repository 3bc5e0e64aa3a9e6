"""Gitea's and Forgejo's REST API, as `forge_server` serves it: /api/v1, as their swagger has it."""

from __future__ import annotations

from typing import Any

from .forge_server import TIME, Answer, Forge, Request, Route, sliced

_MISSING = {"message": "The target couldn't be found.", "url": "x", "errors": None}


def token(headers: Any) -> str:
    return str(headers.get("Authorization", "")).removeprefix("token ")


def page(forge: Forge, entries: list[Any], path: str, asked: dict[str, str]) -> Answer:
    """Return a page of a list: there is no link, the last one is empty."""
    return Answer(200, sliced(entries, int(asked.get("page", 1))))


def user(login: str) -> dict[str, Any]:
    return {"id": len(login), "login": login, "full_name": login, "email": f"{login}@x.test"}


def repository(forge: Forge, name: str) -> dict[str, Any]:
    owner, _, short = name.rpartition("/")
    flags = forge.flags.get(name, {})
    return {
        "id": 1 + list(forge.branches).index(name), "owner": user(owner), "name": short,
        "full_name": name, "empty": False, "private": False, "archived": False,
        "html_url": f"{forge.url}/{name}", "clone_url": f"{forge.url}/{name}.git",
        "default_branch": "main", "created_at": TIME,
        **{key: value for key, value in flags.items() if key != "fork_of"},
        "fork": bool({"fork", "fork_of"} & set(flags)),
    }  # fmt: skip


def pull(forge: Forge, request: Request) -> dict[str, Any]:
    page = f"{forge.url}/{request.project}/pulls/{request.number}"
    draft = request.draft or request.title.startswith("WIP: ")

    def end(name: str, branch: str) -> dict[str, Any]:
        sha = forge.branches[name].get(branch, "")
        where = repository(forge, name)
        return {"label": branch, "ref": branch, "sha": sha, "repo_id": where["id"], "repo": where}

    merged = request.state == "merged"
    return {
        "id": 1000 + request.number, "url": page, "html_url": page, "number": request.number,
        "user": user("bot"), "title": request.title, "body": request.body, "draft": draft,
        "labels": [{"id": 5, "name": name, "color": "ededed"} for name in request.labels],
        "state": "open" if request.state == "open" else "closed", "is_locked": False,
        "merged": merged, "merged_at": TIME if merged else None,
        "mergeable": request.state == "open" and not draft and forge.merged(request) is not None,
        "requested_reviewers": [user(name) for name in request.reviewers],
        "requested_reviewers_teams": [{"id": 9, "name": name} for name in request.teams],
        "head": end(request.home or request.project, request.head),
        "base": end(request.project, request.base), "created_at": TIME, "updated_at": TIME,
    }  # fmt: skip


def _org_repos(forge: Forge, name: str, **_: Any) -> Answer:
    found = [one for one in sorted(forge.branches) if one.startswith(f"{name}/")]
    if not found or name in forge.users:
        return Answer(404, _MISSING)
    return Answer(200, [repository(forge, one) for one in found])


def _user_repos(forge: Forge, name: str, **_: Any) -> Answer:
    if name not in forge.users:
        return Answer(404, _MISSING)
    found = [one for one in sorted(forge.branches) if one.startswith(f"{name}/")]
    return Answer(200, [repository(forge, one) for one in found])


def _repo(forge: Forge, name: str, **_: Any) -> Answer:
    return Answer(200, repository(forge, name)) if name in forge.branches else Answer(404, _MISSING)


def _branch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    sha = forge.branches.get(name, {}).get(branch)
    if sha is None:
        return Answer(404, _MISSING)
    blocked = any(one.blocked for one in forge.requests if one.project == name)
    rules = {"protected": blocked, "required_approvals": 0, "enable_status_check": False}
    whole = {"name": branch, "commit": {"id": sha}, "user_can_merge": not blocked, **rules}
    return Answer(200, whole)


def _unbranch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    if forge.branches[name].pop(branch, None) is None:
        return Answer(404, _MISSING)
    return Answer(204)


def _pulls(forge: Forge, name: str, asked: dict[str, str], **_: Any) -> Answer:
    if name not in forge.branches:
        return Answer(404, _MISSING)
    state = asked.get("state", "open")
    found = [one for one in reversed(forge.requests) if one.project == name]
    shown = [one for one in found if state == "all" or (state == "open") == (one.state == "open")]
    return Answer(200, [pull(forge, one) for one in shown])


def _create(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    owner, _, branch = data["head"].rpartition(":")
    home = f"{owner}/{name.rpartition('/')[2]}" if owner else name
    if name not in forge.branches or branch not in forge.branches.get(home, {}):
        return Answer(404, _MISSING)
    for one in forge.of(name, branch):
        if one.state == "open" and (one.home or name, one.base) == (home, data["base"]):
            return Answer(409, {"message": "pull request already exists for these targets"})
    number = len(forge.requests) + 1
    made = Request(name, number, branch, data["base"], data["title"], data.get("body", ""))
    made.home = home if home != name else ""
    made.draft = made.title.startswith("WIP: ")
    forge.requests.append(made)
    return Answer(201, pull(forge, made))


def _get(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    return Answer(200, pull(forge, forge.requests[int(number) - 1]))


def _edit(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    request.body = data.get("body", request.body)
    request.state = data.get("state", request.state)
    return Answer(201, pull(forge, request))


def _merge(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    if data["Do"] not in ("merge", "squash", "rebase"):
        return Answer(422, {"message": f"Do: {data['Do']}"})
    if data.get("head_commit_id") not in (None, forge.tip(request)):
        return Answer(409, {"message": "head out of date"})
    if not forge.is_ready(request):
        return Answer(405, {"message": "Please try again later"})
    forge.merge(request)
    return Answer(200)


def _labels(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    request.labels += [one for one in data["labels"] if one not in request.labels]
    return Answer(200, [{"id": 5, "name": one} for one in request.labels])


def _reviewers(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    for one in data.get("reviewers", ()):
        if one not in forge.users:
            return Answer(404, {"message": f"Reviewer '{one}' not exist", "url": "x"})
    request.reviewers += data.get("reviewers", [])
    request.teams += data.get("team_reviewers", [])
    return Answer(201, [])


def _reviews(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    words = {"approved": "APPROVED", "changes": "REQUEST_CHANGES"}
    request = forge.requests[int(number) - 1]
    given = [("zoe", "COMMENT"), *((who, words[said]) for who, said in request.reviews.items())]
    return Answer(
        200,
        [
            {"id": 70 + index, "user": user(who), "state": state, "dismissed": False, "body": ""}
            for index, (who, state) in enumerate(given)
        ],
    )


def _status(forge: Forge, name: str, commit: str, **_: Any) -> Answer:
    words = {"passed": "success", "failed": "failure", "running": "pending"}
    given = [
        {"id": 1, "context": check, "status": words[said], "created_at": TIME}
        for one in forge.requests
        if forge.tip(one) == commit
        for check, said in one.checks.items()
    ]
    whole = {"sha": commit, "total_count": len(given), "state": "", "statuses": given}
    return Answer(200, whole)


def _forks(forge: Forge, name: str, **_: Any) -> Answer:
    there = [one for one, flags in forge.flags.items() if flags.get("fork_of") == name]
    return Answer(200, [repository(forge, one) for one in there])


def _fork(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    return Answer(202, repository(forge, forge.fork(name, data.get("organization") or "bot")))


def _me(forge: Forge, **_: Any) -> Answer:
    return Answer(200, user("bot"))


_REPO = r"/api/v1/repos/([^/]+/[^/]+)"
_PULL = _REPO + r"/pulls/(\d+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("GET", r"/api/v1/user", _me),
    ("GET", r"/api/v1/orgs/([^/]+)/repos", _org_repos),
    ("GET", r"/api/v1/users/([^/]+)/repos", _user_repos),
    ("GET", _REPO, _repo),
    ("GET", _REPO + r"/branches/(.+)", _branch),
    ("DELETE", _REPO + r"/branches/(.+)", _unbranch),
    ("GET", _REPO + r"/pulls", _pulls),
    ("POST", _REPO + r"/pulls", _create),
    ("GET", _PULL, _get),
    ("PATCH", _PULL, _edit),
    ("POST", _PULL + r"/merge", _merge),
    ("GET", _PULL + r"/reviews", _reviews),
    ("POST", _PULL + r"/requested_reviewers", _reviewers),
    ("POST", _REPO + r"/issues/(\d+)/labels", _labels),
    ("GET", _REPO + r"/commits/([^/]+)/status", _status),
    ("GET", _REPO + r"/forks", _forks),
    ("POST", _REPO + r"/forks", _fork),
]
