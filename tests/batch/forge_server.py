"""GitHub's and GitLab's REST APIs on loopback: what a batch asks of them, with memory.

Over real repositories (`Forge.serve`) it speaks git's protocol, too, and its branches are theirs.

The shapes and the rules (422 and 409 for a second request of one branch, paging by the Link
header, what counts as a state) are those of the two APIs' documentation. Answers are made from
`Forge`'s state, so a client that asks wrongly is told so.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "t0ken-0123456789abcdef"
TIME = "2026-01-02T03:04:05Z"
PAGE = 2  # entries on a page, whatever is asked for, so that paging is needed


@dataclass
class Request:
    """A pull request; `state` is "open", "closed" or "merged"."""

    project: str
    number: int
    head: str
    base: str
    title: str
    body: str
    draft: bool = False
    state: str = "open"
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)


class Branches(MutableMapping[str, str]):
    """The branches of a bare repository and their commits."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def _all(self) -> dict[str, str]:
        listed = self._git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
        return dict(line.split(" ") for line in listed.splitlines())

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __setitem__(self, name: str, commit: str) -> None:
        self._git("update-ref", f"refs/heads/{name}", commit)

    def __delitem__(self, name: str) -> None:
        self._git("update-ref", "-d", f"refs/heads/{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


@dataclass
class Forge:
    """The state that tests set up and look at.

    `branches` has each project's branches and their commits. `trouble` is asked before (and
    "after" acting on) each request and may return a status, headers and a body to send instead.
    """

    url: str = ""
    branches: dict[str, MutableMapping[str, str]] = field(default_factory=dict)
    flags: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: tuple[str, ...] = ("ann", "bob")
    requests: list[Request] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    trouble: Callable[[str, str], tuple[int, dict[str, str], Any] | None] = lambda when, what: None

    root: Path | None = None

    def serve(self, root: Path) -> None:
        """Serve the bare repositories group/name.git under `root`."""
        self.root = root
        for path in sorted(root.glob("*/*.git")):
            subprocess.run(["git", "-C", path, "config", "http.receivepack", "true"], check=True)
            self.branches[f"{path.parent.name}/{path.stem}"] = Branches(path)

    @property
    def api(self) -> str:
        """The address of GitHub's API, as an Enterprise Server has it."""
        return f"{self.url}/api/v3"

    def of(self, project: str, branch: str) -> list[Request]:
        """Return a branch's pull requests, the newest first."""
        return [
            one for one in reversed(self.requests) if (one.project, one.head) == (project, branch)
        ]


@dataclass
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Route = Callable[..., Answer]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # a head and a body in two packets would wait for each other
    forge: Forge
    routes: list[tuple[str, re.Pattern[str], Route]]
    token: Callable[[Any], str]

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(size)
        address = urlsplit(self.path)
        what = f"{self.command} {address.path}"
        if self.forge.root is not None and ".git/" in address.path:
            self._git(address.path, address.query, raw)
            return
        self.forge.log.append(what)
        trouble = self.forge.trouble("before", what)
        if trouble is None:
            answer = self._routed(address.path, address.query, json.loads(raw) if raw else {})
            trouble = self.forge.trouble("after", what)
        if trouble is not None:
            status, headers, body = trouble
            answer = Answer(status, body, headers)
        data = b"" if answer.body is None else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _git(self, path: str, query: str, data: bytes) -> None:
        """Answer git as git's own server does."""
        backend = subprocess.run(
            ["git", "http-backend"],
            input=data,
            capture_output=True,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.forge.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(data)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            },
        )
        head, _, body = backend.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _routed(self, path: str, query: str, data: dict[str, Any]) -> Answer:
        if self.token(self.headers) not in ("", TOKEN):
            return Answer(401, {"message": "Bad credentials", "documentation_url": "x"})
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        for method, pattern, route in self.routes:
            match = pattern.fullmatch(path)
            if match and method == self.command:
                answer = route(self.forge, *map(unquote, match.groups()), asked=asked, data=data)
                if isinstance(answer.body, list):
                    return self._paged(answer.body, path, asked)
                return answer
        return Answer(404, {"message": "Not Found", "documentation_url": "x"})

    def _paged(self, entries: list[Any], path: str, asked: dict[str, str]) -> Answer:
        number = int(asked.get("page", 1))
        headers = {}
        if len(entries) > number * PAGE:
            rest = "&".join(f"{k}={v}" for k, v in {**asked, "page": number + 1}.items())
            headers["Link"] = f'<{self.forge.url}{path}?{rest}>; rel="next"'
        return Answer(200, entries[(number - 1) * PAGE : number * PAGE], headers)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(kind: str) -> Iterator[Forge]:
    """Serve a forge on a free port of this machine."""
    forge = Forge()
    routes, token = (GITHUB, _github_token) if kind == "github" else (GITLAB, _gitlab_token)
    body = {
        "forge": forge,
        "routes": [(method, re.compile(path), route) for method, path, route in routes],
        "token": staticmethod(token),
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), body))
    server.daemon_threads = True
    forge.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# GitHub


def _github_token(headers: Any) -> str:
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
        "id": 1 + sorted(forge.branches).index(name),
        "node_id": name,
        "name": short,
        "full_name": name,
        "owner": user(forge, owner),
        "private": False,
        "html_url": page,
        "description": None,
        "fork": False,
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
        **forge.flags.get(name, {}),
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
    owner = request.project.partition("/")[0]
    merged = request.state == "merged"

    def end(branch: str) -> dict[str, Any]:
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": forge.branches[request.project].get(branch, "0" * 40),
            "user": user(forge, owner),
            "repo": repository(forge, request.project),
        }

    links = ("self", "html", "issue", "comments", "review_comments", "review_comment", "commits")
    whole = {
        "merged": merged,
        "mergeable": None,
        "mergeable_state": "unknown",
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
        "head": end(request.head),
        "base": end(request.base),
        "_links": {name: {"href": url} for name in (*links, "statuses")},
        "author_association": "MEMBER",
        "auto_merge": None,
        "draft": request.draft,
        **(whole if full else {}),
    }


def label(forge: Forge, name: str) -> dict[str, Any]:
    colour = {"color": "ededed", "default": False, "description": None}
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
    owner = name.partition("/")[0]
    state, head = asked.get("state", "open"), asked.get("head", "")
    found = [
        one
        for one in reversed(forge.requests)
        if one.project == name
        and (state == "all" or (state == "open") == (one.state == "open"))
        and (":" not in head or head == f"{owner}:{one.head}")
    ]
    return Answer(200, [pull(forge, one, full=False) for one in found])


def _gh_open(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    owner, head, base = name.partition("/")[0], data["head"], data["base"]
    there = forge.branches[name]
    if head not in there:
        return _invalid("PullRequest", "head is invalid")
    if base not in there:
        return _invalid("PullRequest", "base is invalid")
    if there[head] == there[base]:
        return _invalid("PullRequest", f"No commits between {base} and {head}")
    if any(one.state == "open" and one.base == base for one in forge.of(name, head)):
        message = f"A pull request already exists for {owner}:{head}."
        return _invalid("PullRequest", message)
    if len(data.get("body") or "") > 65536:
        return _invalid("PullRequest", "body is too long (maximum is 65536 characters)")
    number = len(forge.requests) + 1
    draft = bool(data.get("draft"))
    request = Request(name, number, head, base, data["title"], data.get("body") or "", draft)
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


_API = r"/api/v3"
_PROJECT = _API + r"/repos/([^/]+/[^/]+)"
GITHUB: list[tuple[str, str, Route]] = [
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
    ("GET", _PROJECT + r"/git/refs?/heads/(.+)", _gh_ref),
    ("DELETE", _PROJECT + r"/git/refs/heads/(.+)", _gh_unref),
]


# GitLab


def _gitlab_token(headers: Any) -> str:
    return str(headers.get("PRIVATE-TOKEN", ""))


def project(forge: Forge, name: str) -> dict[str, Any]:
    page = f"{forge.url}/{name}"
    short = name.rpartition("/")[2]
    return {
        "id": 1 + sorted(forge.branches).index(name),
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
        "source_project_id": ident,
        "target_project_id": ident,
        "labels": request.labels,
        "draft": request.title.startswith("Draft: "),
        "author": {"id": 3, "username": "bot", "name": "bot", "state": "active"},
        "assignees": [],
        "reviewers": [_gl_person(forge, name) for name in request.reviewers],
        "sha": forge.branches[request.project].get(request.head),
        "web_url": f"{forge.url}/{request.project}/-/merge_requests/{request.number}",
        "should_remove_source_branch": None,
        "force_remove_source_branch": True,
        "has_conflicts": False,
        "merge_status": "checking",
    }


def _gl_person(forge: Forge, name: str) -> dict[str, Any]:
    ident = 50 + forge.users.index(name)
    return {"id": ident, "username": name, "name": name, "state": "active", "web_url": name}


def _gl_name(forge: Forge, name: str) -> str:
    return sorted(forge.branches)[int(name) - 1] if name.isdigit() else name


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
            one
            for one in found
            if state in ("all", one["state"])
            and asked.get("source_branch") in (None, one["source_branch"])
        ],
    )


def _gl_create(forge: Forge, name: str, data: dict[str, Any], **_: Any) -> Answer:
    name = _gl_name(forge, name)
    head, base = data["source_branch"], data["target_branch"]
    if head not in forge.branches[name]:
        return Answer(400, {"message": {"source_branch": ["does not exist"]}})
    if any(one.state == "open" and one.base == base for one in forge.of(name, head)):
        message = f"Another open merge request already exists for this source branch: {head}"
        return Answer(409, {"message": [message]})
    number = len(forge.requests) + 1
    request = Request(name, number, head, base, data["title"], data.get("description", ""))
    request.labels = _gl_labels(data.get("labels", ""))
    request.reviewers = [forge.users[ident - 50] for ident in data.get("reviewer_ids", ())]
    forge.requests.append(request)
    return Answer(201, merge_request(forge, request))


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
GITLAB: list[tuple[str, str, Route]] = [
    ("GET", r"/api/v4/groups/([^/]+)", _gl_group),
    ("GET", r"/api/v4/groups/([^/]+)/projects", _gl_group_projects),
    ("GET", r"/api/v4/users", _gl_users),
    ("GET", r"/api/v4/users/(\d+)/projects", _gl_user_projects),
    ("GET", _AT, _gl_project),
    ("GET", _AT + r"/merge_requests", _gl_list),
    ("POST", _AT + r"/merge_requests", _gl_create),
    ("PUT", _AT + r"/merge_requests/(\d+)", _gl_update),
    ("GET", _AT + r"/repository/branches/([^/]+)", _gl_branch),
    ("DELETE", _AT + r"/repository/branches/([^/]+)", _gl_unbranch),
]
