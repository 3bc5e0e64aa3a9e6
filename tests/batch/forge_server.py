"""Forges on loopback: what a batch asks of their REST APIs, with memory; a file for each.

Over real repositories (`Forge.serve`) it speaks git's protocol, too, and its branches are theirs.

The shapes and the rules (what a second request of one branch is answered, how pages follow, what
counts as a state) are those of the APIs' documentation. Answers are made from `Forge`'s state, so a
client that asks wrongly is told so. Over real repositories a merge is a real one, and whether there
are conflicts is asked of git.
"""

from __future__ import annotations

import importlib
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
    home: str = ""
    """The project that has the branch, where it is a fork."""
    checks: dict[str, str] = field(default_factory=dict)
    """What each check says: "passed", "failed" or "running"."""
    reviews: dict[str, str] = field(default_factory=dict)
    """What each reviewer says: "approved" or "changes"."""
    blocked: bool = False
    """Whether a rule of the target branch is not met."""


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

    def tip(self, request: Request) -> str:
        """Return the last commit of a request's branch."""
        return self.branches[request.home or request.project].get(request.head, "0" * 40)

    def is_ready(self, request: Request) -> bool:
        """Tell whether a request can be merged as far as the forge is concerned."""
        return request.state == "open" and not request.blocked and self.merged(request) is not None

    def merged(self, request: Request) -> str | None:
        """Return the tree of a request with its target, None where they conflict."""
        if self.root is None:
            return ""
        base = self.branches[request.project].get(request.base, "")
        asked = ["merge-tree", "--write-tree", base, self.tip(request)]
        done = self._git(request, asked, check=False)
        return done.split("\n")[0] if done else None

    def merge(self, request: Request) -> None:
        """Merge a request."""
        branches = self.branches[request.project]
        tree, tip = self.merged(request), self.tip(request)
        if self.root is not None:
            parents = ["-p", branches[request.base], "-p", tip]
            made = self._git(request, ["commit-tree", str(tree), *parents, "-m", request.title])
            branches[request.base] = made.strip()
        else:
            branches[request.base] = tip
        request.state = "merged"

    def _git(self, request: Request, asked: list[str], check: bool = True) -> str:
        folder = f"{self.root}/{request.project}.git"
        who = {
            f"GIT_{role}_{key}": "forge@localhost"
            for role in ("AUTHOR", "COMMITTER")
            for key in ("NAME", "EMAIL")
        }
        homes = [f"{self.root}/{name}.git/objects" for name in {request.home} - {""}]
        env = {**os.environ, **who, "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(homes)}
        done = subprocess.run(
            ["git", "-C", folder, *asked], capture_output=True, text=True, env=env
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout if done.returncode == 0 else ""

    def fork(self, project: str, owner: str) -> str:
        """Make a fork, as forges do: once for each owner."""
        name = f"{owner}/{project.rpartition('/')[2]}"
        if name not in self.branches:
            if self.root is None:
                self.branches[name] = dict(self.branches[project])
            else:
                folder = self.root / f"{name}.git"
                folder.parent.mkdir(exist_ok=True)
                there = str(self.root / f"{project}.git")
                subprocess.run(["git", "clone", "-q", "--bare", there, folder], check=True)
                subprocess.run(
                    ["git", "-C", folder, "config", "http.receivepack", "true"], check=True
                )
                self.branches[name] = Branches(folder)
            self.flags[name] = {"fork_of": project}
        return name

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
    page: Callable[..., Answer]

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
                    return self.page(self.forge, answer.body, path, asked)
                return answer
        return Answer(404, {"message": "Not Found", "documentation_url": "x"})

    do_OPTIONS = do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


def sliced(entries: list[Any], number: int) -> list[Any]:
    """Return one page, from 1, of a list."""
    return entries[(number - 1) * PAGE : number * PAGE]


def _linked(forge: Forge, entries: list[Any], path: str, asked: dict[str, str]) -> Answer:
    """Return a page of a list, with where the next one is in a header."""
    number = int(asked.get("page", 1))
    headers = {}
    if len(entries) > number * PAGE:
        rest = "&".join(f"{k}={v}" for k, v in {**asked, "page": number + 1}.items())
        headers["Link"] = f'<{forge.url}{path}?{rest}>; rel="next"'
    return Answer(200, sliced(entries, number), headers)


@contextmanager
def served(kind: str) -> Iterator[Forge]:
    """Serve a forge on a free port of this machine."""
    forge = Forge()
    spoken = importlib.import_module(f".forge_server_{kind}", __package__)
    body = {
        "forge": forge,
        "routes": [(method, re.compile(path), route) for method, path, route in spoken.ROUTES],
        "token": staticmethod(spoken.token),
        "page": staticmethod(getattr(spoken, "page", _linked)),
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
