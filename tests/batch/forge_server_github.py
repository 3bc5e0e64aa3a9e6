"""GitHub's REST API, as `forge_server` serves it."""

from __future__ import annotations

from typing import Any

from .forge_server import TIME, Answer, Forge, Request, Route


def token(headers: Any) -> str:
    return str(headers.get("Authorization", "")).removeprefix("token ").removeprefix("Bearer ")


_USER_URLS = (
    "followers following gists starred subscriptions organizations repos events received_events"
)
_REPO_URLS = (
    "archive assignees blobs branches collaborators comments commits compare contents contributors "
    "deployments downloads events forks git_commits git_refs git_tags hooks issue_comment "
    "issue_events issues keys labels languages merges milestones notifications pulls releases "
    "stargazers statuses subscribers subscription tags teams trees"
)


def user(forge: Forge, login: str) -> dict[str, Any]:
    url = f"{forge.api}/users/{login}"
    return {
        "login": login,
        "id": len(login),
        "node_id": login,
        "avatar_url": f"{url}.png",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{forge.url}/{login}",
        **{f"{name}_url": f"{url}/{name}" for name in _USER_URLS.split()},
        "type": "User",
        "site_admin": False,
    }


def repository(forge: Forge, name: str) -> dict[str, Any]:
    owner, _, short = name.partition("/")
    url, page = f"{forge.api}/repos/{name}", f"{forge.url}/{name}"
    return {
        "id": 1 + list(forge.branches).index(name),
        "node_id": name,
        "name": short,
        "full_name": name,
        "owner": user(forge, owner),
        "private": False,
        "html_url": page,
        "description": None,
        "url": url,
        **{f"{name}_url": f"{url}/{name}" for name in _REPO_URLS.split()},
        "git_url": f"git://127.0.0.1/{name}.git",
        "ssh_url": f"git@127.0.0.1:{name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": "Python",
        **dict.fromkeys(("forks_count", "stargazers_count", "watchers_count"), 0),
        **dict.fromkeys(("open_issues_count", "subscribers_count", "network_count"), 0),
        **dict.fromkeys(("forks", "open_issues", "watchers"), 0),
        "size": 12,
        "default_branch": "main",
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_discussions"), True),
        **dict.fromkeys(("has_pages", "archived", "disabled"), False),
        **dict.fromkeys(("pushed_at", "created_at", "updated_at"), TIME),
        "license": None,
        **{key: value for key, value in forge.flags.get(name, {}).items() if key != "fork_of"},
        "fork": bool({"fork", "fork_of"} & set(forge.flags.get(name, {}))),
    }


def organisation(forge: Forge, login: str) -> dict[str, Any]:
    url = f"{forge.api}/orgs/{login}"
    return {
        "login": login,
        "id": 7,
        "node_id": login,
        "url": url,
        **{f"{name}_url": f"{url}/{name}" for name in ("repos", "events", "hooks", "issues")},
        **{f"{name}_url": f"{url}/{name}" for name in ("members", "public_members", "avatar")},
        "description": None,
        "has_organization_projects": True,
        "has_repository_projects": True,
        **dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0),
        "html_url": f"{forge.url}/{login}",
        "type": "Organization",
        "created_at": TIME,
        "updated_at": TIME,
        "archived_at": None,
    }


def pull(forge: Forge, request: Request, *, full: bool) -> dict[str, Any]:
    url = f"{forge.api}/repos/{request.project}/pulls/{request.number}"
    page = f"{forge.url}/{request.project}/pull/{request.number}"
    merged = request.state == "merged"

    def end(name: str, branch: str) -> dict[str, Any]:
        owner = name.partition("/")[0]
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": forge.branches[name].get(branch, "0" * 40),
            "user": user(forge, owner),
            "repo": repository(forge, name),
        }

    links = ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits")
    whole = {
        "merged": merged,
        "mergeable": forge.is_ready(request),
        "mergeable_state": _mergeable(forge, request),
        "merged_by": None,
        "maintainer_can_modify": False,
        **dict.fromkeys(("comments", "review_comments", "commits"), 1),
        **dict.fromkeys(("additions", "deletions", "changed_files"), 1),
    }
    return {
        "url": url,
        "id": 1000 + request.number,
        "node_id": str(request.number),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": f"{forge.api}/repos/{request.project}/issues/{request.number}",
        "commits_url": f"{url}/commits",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{url}/comments{{/number}}",
        "comments_url": f"{url}/comments",
        "statuses_url": f"{url}/statuses",
        "number": request.number,
        "state": "open" if request.state == "open" else "closed",
        "locked": False,
        "title": request.title,
        "user": user(forge, "bot"),
        "body": request.body or None,
        "labels": [label(forge, name) for name in request.labels],
        "milestone": None,
        "created_at": TIME,
        "updated_at": TIME,
        "closed_at": None if request.state == "open" else TIME,
        "merged_at": TIME if merged else None,
        "merge_commit_sha": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [user(forge, name) for name in request.reviewers],
        "requested_teams": [team(forge, name) for name in request.teams],
        "head": end(request.home or request.project, request.head),
        "base": end(request.project, request.base),
        "_links": {name: {"href": url} for name in (*links, "statuses")},
        "author_association": "MEMBER",
        "auto_merge": None,
        "draft": request.draft,
        **(whole if full else {}),
    }


def _mergeable(forge: Forge, request: Request) -> str:
    if request.state != "open":
        return "unknown"
    if forge.merged(request) is None:
        return "dirty"
    if request.draft:
        return "draft"
    if request.blocked:
        return "blocked"
    return "unstable" if "failed" in request.checks.values() else "clean"


def label(forge: Forge, name: str) -> dict[str, Any]:
    colour = {"color": "ededed", "default": False, "description": None}
    colour |= {"archived_by": None, "archived_at": None}
    return {"id": 5, "node_id": "l", "url": f"{forge.api}/labels/{name}", "name": name, **colour}


def team(forge: Forge, slug: str) -> dict[str, Any]:
    url = f"{forge.api}/teams/{slug}"
    return {
        "id": 9,
        "node_id": slug,
        "name": slug,
        "slug": slug,
        "description": None,
        "privacy": "closed",
        "notification_setting": "notifications_enabled",
        "permission": "push",
        "url": url,
        "html_url": url,
        "members_url": f"{url}/members{{/member}}",
        "repositories_url": f"{url}/repos",
        "parent": None,
        "type": "organization",
        "organization_id": 7,
    }


def _invalid(resource: str, message: str) -> Answer:
    error = {"resource": resource, "code": "custom", "message": message}
    return Answer(
        422, {"message": "Validation Failed", "errors": [error], "documentation_url": "x"}
    )


def _gh_org(forge: Forge, login: str, **_: Any) -> Answer:
    missing = {"message": "Not Found", "documentation_url": "x"}
    if not login.startswith(("acme", "your-organisation")):
        return Answer(404, missing)
    return Answer(200, organisation(forge, login))


def _gh_repos(forge: Forge, login: str, **_: Any) -> Answer:
    names = [name for name in sorted(forge.branches) if name.startswith(f"{login}/")]
    return Answer(200, [repository(forge, name) for name in names])


def _gh_user(forge: Forge, login: str, **_: Any) -> Answer:
    if login not in forge.users:
        return Answer(404, {"message": "Not Found", "documentation_url": "x"})
    return Answer(200, user(forge, login))


def _gh_repo(forge: Forge, name: str, **_: Any) -> Answer:
    if name not in forge.branches:
        return Answer(404, {"message": "Not Found", "documentation_url": "x"})
    return Answer(200, repository(forge, name))


def _gh_pulls(forge: Forge, name: str, asked: dict[str, str], **_: Any) -> Answer:
    state, head = asked.get("state", "open"), asked.get("head", "")
    found = [
        one
        for one in reversed(forge.requests)
        if one.project == name
        and (state == "all" or (state == "open") == (one.state == "open"))
        and (":" not in head or head == f"{(one.home or name).partition('/')[0]}:{one.head}")
    ]
    return Answer(200, [pull(forge, one, full=False) for one in found])


def _gh_open(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    owner, head, base = name.partition("/")[0], data["head"], data["base"]
    home = name
    if ":" in head:
        owner, _, head = head.partition(":")
        home = f"{owner}/{name.partition('/')[2]}"
    there = forge.branches[name]
    if head not in forge.branches.get(home, {}):
        return _invalid("PullRequest", "head is invalid")
    if base not in there:
        return _invalid("PullRequest", "base is invalid")
    if forge.branches[home][head] == there[base]:
        return _invalid("PullRequest", f"No commits between {base} and {head}")
    if any(one.state == "open" and one.base == base for one in forge.of(name, head)):
        message = f"A pull request already exists for {owner}:{head}."
        return _invalid("PullRequest", message)
    if len(data.get("body") or "") > 65536:
        return _invalid("PullRequest", "body is too long (maximum is 65536 characters)")
    number = len(forge.requests) + 1
    draft = bool(data.get("draft"))
    request = Request(name, number, head, base, data["title"], data.get("body") or "", draft)
    request.home = home if home != name else ""
    forge.requests.append(request)
    return Answer(201, pull(forge, request, full=True))


def _gh_edit(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    request.title = data.get("title", request.title)
    request.body = data.get("body", request.body)
    request.state = data.get("state", request.state)
    return Answer(200, pull(forge, request, full=True))


def _gh_pull(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    return Answer(200, pull(forge, forge.requests[int(number) - 1], full=True))


def _gh_labels(forge: Forge, name: str, number: str, data: Any, **_: Any) -> Answer:
    names = data["labels"] if isinstance(data, dict) else data
    request = forge.requests[int(number) - 1]
    request.labels += [one for one in names if one not in request.labels]
    return Answer(200, [label(forge, one) for one in request.labels])


def _gh_reviewers(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    if any(one not in forge.users for one in data.get("reviewers", ())):
        message = "Reviews may only be requested from collaborators."
        return Answer(422, {"message": message, "documentation_url": "x"})
    request.reviewers += data.get("reviewers", [])
    request.teams += data.get("team_reviewers", [])
    return Answer(201, pull(forge, request, full=False))


def _gh_ref(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    sha = forge.branches[name].get(branch)
    if sha is None:
        return Answer(404, {"message": "Not Found", "documentation_url": "x"})
    url = f"{forge.api}/repos/{name}/git/refs/heads/{branch}"
    target = {"type": "commit", "sha": sha, "url": f"{forge.api}/repos/{name}/git/commits/{sha}"}
    return Answer(
        200, {"ref": f"refs/heads/{branch}", "node_id": "r", "url": url, "object": target}
    )


def _gh_unref(forge: Forge, name: str, branch: str, **_: Any) -> Answer:
    if forge.branches[name].pop(branch, None) is None:
        return Answer(422, {"message": "Reference does not exist", "documentation_url": "x"})
    for one in forge.of(name, branch):  # a pull request without its branch is closed
        one.state = "closed" if one.state == "open" else one.state
    return Answer(204)


def _gh_merge(forge: Forge, name: str, number: str, data: dict[str, Any], **_: Any) -> Answer:
    request = forge.requests[int(number) - 1]
    if data.get("sha") not in (None, forge.tip(request)):
        message = "Head branch was modified. Review and try the merge again."
        return Answer(409, {"message": message, "documentation_url": "x"})
    if not forge.is_ready(request) or data.get("merge_method") not in ("merge", "squash"):
        message = "Pull Request is not mergeable"
        return Answer(405, {"message": message, "documentation_url": "x"})
    forge.merge(request)
    return Answer(200, {"sha": "e" * 40, "merged": True, "message": "merged"})


def _gh_reviews(forge: Forge, name: str, number: str, **_: Any) -> Answer:
    words = {"approved": "APPROVED", "changes": "CHANGES_REQUESTED"}
    request = forge.requests[int(number) - 1]
    url = f"{forge.api}/repos/{name}/pulls/{number}"
    given = [("zoe", "COMMENTED"), *((who, words[said]) for who, said in request.reviews.items())]
    return Answer(
        200,
        [
            {
                "id": 70 + index,
                "node_id": "v",
                "user": user(forge, who),
                "body": "",
                "state": state,
                "html_url": url,
                "pull_request_url": url,
                "_links": {"html": {"href": url}, "pull_request": {"href": url}},
                "submitted_at": TIME,
                "commit_id": forge.tip(request),
                "author_association": "MEMBER",
            }
            for index, (who, state) in enumerate(given)
        ],
    )


def _gh_commit(forge: Forge, name: str, commit: str, **_: Any) -> Answer:
    url = f"{forge.api}/repos/{name}/commits/{commit}"
    return Answer(200, {"sha": commit, "node_id": "c", "url": url, "html_url": url})


def _checks(forge: Forge, commit: str) -> dict[str, str]:
    return {
        name: said
        for one in forge.requests
        if forge.tip(one) == commit
        for name, said in one.checks.items()
    }


def _gh_status(forge: Forge, name: str, commit: str, **_: Any) -> Answer:
    """Answer with those checks that are statuses: the ones named after a service."""
    words = {"passed": "success", "failed": "failure", "running": "pending"}
    url = f"{forge.api}/repos/{name}/commits/{commit}"
    given = [
        {
            "url": url, "avatar_url": None, "id": 1, "node_id": "s", "state": words[said],
            "description": None, "target_url": None, "context": check, "required": None,
            "created_at": TIME, "updated_at": TIME,
        }
        for check, said in _checks(forge, commit).items() if "/" in check
    ]  # fmt: skip
    whole = {"state": "pending", "statuses": given, "sha": commit, "total_count": len(given)}
    whole["repository"] = repository(forge, name)
    return Answer(200, {**whole, "commit_url": url, "url": f"{url}/status"})


def _app(forge: Forge) -> dict[str, Any]:
    facts = {"description": None, "external_url": forge.url, "html_url": forge.url}
    times = {"created_at": TIME, "updated_at": TIME}
    given: dict[str, Any] = {"permissions": {"checks": "write"}, "events": []}
    owner = user(forge, "acme")
    return {"id": 6, "node_id": "a", "name": "ci", "owner": owner, **facts, **times, **given}


def _gh_runs(forge: Forge, name: str, commit: str, **_: Any) -> Answer:
    words = {"passed": "success", "failed": "timed_out", "running": None}
    url = f"{forge.api}/repos/{name}/check-runs"
    given = [
        {
            "id": 3, "head_sha": commit, "node_id": "r", "external_id": None, "url": url,
            "html_url": url, "details_url": url, "name": check, "started_at": TIME,
            "check_suite": {"id": 4}, "app": _app(forge),
            "pull_requests": [],
            "output": {"title": None, "summary": None, "text": None, "annotations_count": 0,
                       "annotations_url": url},
            "status": "in_progress" if said == "running" else "completed",
            "conclusion": words[said], "completed_at": None if said == "running" else TIME,
        }
        for check, said in _checks(forge, commit).items() if "/" not in check
    ]  # fmt: skip
    return Answer(200, {"total_count": len(given), "check_runs": given})


def _gh_fork(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    made = forge.fork(name, data.get("organization") or "bot")
    return Answer(202, repository(forge, made))


_API = r"/api/v3"
_PROJECT = _API + r"/repos/([^/]+/[^/]+)"
ROUTES: list[tuple[str, str, Route]] = [
    ("GET", _API + r"/orgs/([^/]+)", _gh_org),
    ("GET", _API + r"/(?:orgs|users)/([^/]+)/repos", _gh_repos),
    ("GET", _API + r"/users/([^/]+)", _gh_user),
    ("GET", _PROJECT, _gh_repo),
    ("GET", _PROJECT + r"/pulls", _gh_pulls),
    ("POST", _PROJECT + r"/pulls", _gh_open),
    ("GET", _PROJECT + r"/pulls/(\d+)", _gh_pull),
    ("PATCH", _PROJECT + r"/pulls/(\d+)", _gh_edit),
    ("POST", _PROJECT + r"/issues/(\d+)/labels", _gh_labels),
    ("POST", _PROJECT + r"/pulls/(\d+)/requested_reviewers", _gh_reviewers),
    ("PUT", _PROJECT + r"/pulls/(\d+)/merge", _gh_merge),
    ("GET", _PROJECT + r"/pulls/(\d+)/reviews", _gh_reviews),
    ("GET", _PROJECT + r"/commits/([0-9a-f]+)", _gh_commit),
    ("GET", _PROJECT + r"/commits/([0-9a-f]+)/status", _gh_status),
    ("GET", _PROJECT + r"/commits/([0-9a-f]+)/check-runs", _gh_runs),
    ("POST", _PROJECT + r"/forks", _gh_fork),
    ("GET", _PROJECT + r"/git/refs?/heads/(.+)", _gh_ref),
    ("DELETE", _PROJECT + r"/git/refs/heads/(.+)", _gh_unref),
]
