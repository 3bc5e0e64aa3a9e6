"""GitLab's REST API, as `forge_server` serves it."""

from __future__ import annotations

from typing import Any

from .forge_server import TIME, Answer, Forge, Request, Route


def token(headers: Any) -> str:
    return str(headers.get("PRIVATE-TOKEN", ""))


def project(forge: Forge, name: str) -> dict[str, Any]:
    page = f"{forge.url}/{name}"
    short = name.rpartition("/")[2]
    return {
        "id": 1 + list(forge.branches).index(name),
        "description": None,
        "name": short,
        "name_with_namespace": name.replace("/", " / "),
        "path": short,
        "path_with_namespace": name,
        "created_at": TIME,
        "default_branch": "main",
        "tag_list": [],
        "topics": [],
        "ssh_url_to_repo": f"git@127.0.0.1:{name}.git",
        "http_url_to_repo": f"{page}.git",
        "web_url": page,
        "forks_count": 0,
        "star_count": 0,
        "last_activity_at": TIME,
        "visibility": "private",
        "archived": False,
        "empty_repo": False,
        **forge.flags.get(name, {}),
    }


def merge_request(forge: Forge, request: Request) -> dict[str, Any]:
    ident = project(forge, request.project)["id"]
    home = project(forge, request.home or request.project)["id"]
    merged = forge.merged(request) if request.state == "open" else ""
    conflicts = merged is None
    says = {"passed": "success", "failed": "failed", "running": "running"}
    said = next(
        (one for one in ("failed", "running", "passed") if one in request.checks.values()), ""
    )
    states = {"open": "opened"}
    return {
        "id": 1000 + request.number,
        "iid": request.number,
        "project_id": ident,
        "title": request.title,
        "description": request.body,
        "state": states.get(request.state, request.state),
        "created_at": TIME,
        "updated_at": TIME,
        "merged_at": TIME if request.state == "merged" else None,
        "closed_at": TIME if request.state == "closed" else None,
        "target_branch": request.base,
        "source_branch": request.head,
        "source_project_id": home,
        "target_project_id": ident,
        "labels": request.labels,
        "draft": request.title.startswith("Draft: "),
        "author": {"id": 3, "username": "bot", "name": "bot", "state": "active"},
        "assignees": [],
        "reviewers": [_gl_person(forge, name) for name in request.reviewers],
        "sha": forge.tip(request),
        "web_url": f"{forge.url}/{request.project}/-/merge_requests/{request.number}",
        "should_remove_source_branch": None,
        "force_remove_source_branch": True,
        "has_conflicts": conflicts,
        "merge_status": "cannot_be_merged" if conflicts else "can_be_merged",
        "detailed_merge_status": _detailed(request, conflicts, said),
        "head_pipeline": {"id": 8, "status": says[said], "sha": forge.tip(request)}
        if said
        else None,
    }


def _detailed(request: Request, conflicts: bool, said: str) -> str:
    if request.state != "open":
        return "not_open"
    if request.title.startswith("Draft: "):
        return "draft_status"
    if conflicts:
        return "conflict"
    if "changes" in request.reviews.values():
        return "requested_changes"
    if request.blocked:
        return "discussions_not_resolved"
    if said in ("failed", "running"):
        return {"failed": "ci_must_pass", "running": "ci_still_running"}[said]
    return "mergeable"


def _gl_person(forge: Forge, name: str) -> dict[str, Any]:
    ident = 50 + forge.users.index(name)
    return {"id": ident, "username": name, "name": name, "state": "active", "web_url": name}


def _gl_name(forge: Forge, name: str) -> str:
    return list(forge.branches)[int(name) - 1] if name.isdigit() else name


def _gl_group(forge: Forge, name: str, **_: Any) -> Answer:
    if not any(one.startswith(f"{name}/") for one in forge.branches) or name in forge.users:
        return Answer(404, {"message": "404 Group Not Found"})
    return Answer(200, {"id": 4, "name": name, "path": name, "full_path": name})


def _gl_group_projects(forge: Forge, name: str, asked: dict[str, str], **_: Any) -> Answer:
    found = [one for one in sorted(forge.branches) if name == "4" or one.startswith(f"{name}/")]
    shown = [project(forge, one) for one in found]
    if asked.get("include_subgroups") != "True":
        shown = [one for one in shown if one["path_with_namespace"].count("/") == 1]
    if asked.get("archived") == "False":
        shown = [one for one in shown if not one["archived"]]
    return Answer(200, shown)


def _gl_users(forge: Forge, asked: dict[str, str], **_: Any) -> Answer:
    found = [one for one in forge.users if asked.get("username") in (None, one)]
    return Answer(200, [_gl_person(forge, one) for one in found])


def _gl_user_projects(forge: Forge, ident: str, **_: Any) -> Answer:
    name = forge.users[int(ident) - 50]
    found = [one for one in sorted(forge.branches) if one.startswith(f"{name}/")]
    return Answer(200, [project(forge, one) for one in found])


def _gl_project(forge: Forge, name: str, **_: Any) -> Answer:
    name = _gl_name(forge, name)
    if name not in forge.branches:
        return Answer(404, {"message": "404 Project Not Found"})
    return Answer(200, project(forge, name))


def _gl_list(forge: Forge, name: str, asked: dict[str, str], **_: Any) -> Answer:
    name = _gl_name(forge, name)
    state = asked.get("state", "all")
    found = [merge_request(forge, one) for one in reversed(forge.requests) if one.project == name]
    return Answer(
        200,
        [
            {key: value for key, value in one.items() if key != "head_pipeline"}
            for one in found
            if state in ("all", one["state"])
            and asked.get("source_branch") in (None, one["source_branch"])
        ],
    )


def _gl_create(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    home = _gl_name(forge, name)
    name = _gl_name(forge, str(data.get("target_project_id", name)))
    head, base = data["source_branch"], data["target_branch"]
    if head not in forge.branches[home]:
        return Answer(400, {"message": {"source_branch": ["does not exist"]}})
    if any(one.state == "open" and one.base == base for one in forge.of(name, head)):
        message = f"Another open merge request already exists for this source branch: {head}"
        return Answer(409, {"message": [message]})
    number = len(forge.requests) + 1
    request = Request(name, number, head, base, data["title"], data.get("description", ""))
    request.home = home if home != name else ""
    request.labels = _gl_labels(data.get("labels", ""))
    request.reviewers = [forge.users[ident - 50] for ident in data.get("reviewer_ids", ())]
    forge.requests.append(request)
    return Answer(201, merge_request(forge, request))


def _gl_get(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    return Answer(200, merge_request(forge, forge.requests[int(number) - 1]))


def _gl_merge(
    forge: Forge, name: str, number: str, asked: dict[str, str], data: dict[str, Any]
) -> Answer:
    request = forge.requests[int(number) - 1]
    if {**asked, **data}.get("sha") not in (None, forge.tip(request)):
        return Answer(409, {"message": "SHA does not match HEAD of source branch"})
    if not forge.is_ready(request):
        return Answer(405, {"message": "405 Method Not Allowed"})
    forge.merge(request)
    return Answer(200, merge_request(forge, request))


def _gl_approvals(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    by = [who for who, said in request.reviews.items() if said == "approved"]
    given = [{"user": _gl_person(forge, who)} for who in by]
    return Answer(200, {"approved": True, "approvals_left": 0, "approved_by": given})


def _gl_fork(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    made = forge.fork(_gl_name(forge, name), data.get("namespace_path") or "bot")
    return Answer(201, {**project(forge, made), "import_status": "finished"})


def _gl_user(forge: Forge, **_: Any) -> Answer:
    return Answer(200, {"id": 3, "username": "bot", "name": "bot", "state": "active"})


def _gl_forks(forge: Forge, name: str, **_: Any) -> Answer:
    of = _gl_name(forge, name)
    there = [one for one, flags in forge.flags.items() if flags.get("fork_of") == of]
    return Answer(200, [project(forge, one) for one in there])


def _gl_labels(labels: str | list[str]) -> list[str]:
    return labels if isinstance(labels, list) else [one for one in labels.split(",") if one]


def _gl_update(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    known = {"description", "state_event", "add_labels", "reviewer_ids"}
    if not data or set(data) - known:
        return Answer(400, {"error": f"parameters: {sorted(data)}"})
    request.body = data.get("description", request.body)
    if data.get("state_event") == "close":
        request.state = "closed"
    request.labels = request.labels + _gl_labels(data.get("add_labels", ""))
    if "reviewer_ids" in data:
        request.reviewers = [forge.users[ident - 50] for ident in data["reviewer_ids"]]
    return Answer(200, merge_request(forge, request))


def _gl_branch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    sha = forge.branches[_gl_name(forge, name)].get(branch)
    if sha is None:
        return Answer(404, {"message": "404 Branch Not Found"})
    commit = {"id": sha, "short_id": sha[:8], "title": "t", "created_at": TIME}
    facts = {"merged": False, "protected": False, "default": False, "can_push": True}
    return Answer(200, {"name": branch, "commit": commit, "web_url": "x", **facts})


def _gl_unbranch(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    del forge.branches[_gl_name(forge, name)][branch]
    return Answer(204)


_AT = r"/api/v4/projects/([^/]+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("GET", r"/api/v4/groups/([^/]+)", _gl_group),
    ("GET", r"/api/v4/groups/([^/]+)/projects", _gl_group_projects),
    ("GET", r"/api/v4/user", _gl_user),
    ("GET", r"/api/v4/users", _gl_users),
    ("GET", r"/api/v4/users/(\d+)/projects", _gl_user_projects),
    ("GET", _AT, _gl_project),
    ("GET", _AT + r"/merge_requests", _gl_list),
    ("POST", _AT + r"/merge_requests", _gl_create),
    ("PUT", _AT + r"/merge_requests/(\d+)", _gl_update),
    ("GET", _AT + r"/merge_requests/(\d+)", _gl_get),
    ("PUT", _AT + r"/merge_requests/(\d+)/merge", _gl_merge),
    ("GET", _AT + r"/merge_requests/(\d+)/approvals", _gl_approvals),
    ("POST", _AT + r"/fork", _gl_fork),
    ("GET", _AT + r"/forks", _gl_forks),
    ("GET", _AT + r"/repository/branches/([^/]+)", _gl_branch),
    ("DELETE", _AT + r"/repository/branches/([^/]+)", _gl_unbranch),
]
