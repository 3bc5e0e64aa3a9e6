"""git on repositories that may be hostile.

Nothing of a repository's runs: no hooks, filters, templates, attributes, external programs or
submodules, whatever its files or its own settings say. The user's own settings of git do not count
either, so that a run gives the same on every machine.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from ..outside import git as outside
from . import sandbox
from .sandbox import Limits

PROTOCOLS = ("https", "ssh")
"""What is spoken without being asked for; also "http", "git" and "file"."""

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_WITH_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/@\s]+@", re.IGNORECASE)
_MESSAGE = 2000  # characters of what git says that are kept


class GitError(Exception):
    """git refused, failed or took too long; the text is for the user and holds no credentials."""


@dataclass(frozen=True)
class Credentials:
    """Tokens by host; they are in no message and in no process's arguments.

    git gets them as a header for that host alone, through its environment.
    """

    tokens: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    """host -> user name, token"""

    def settings(self) -> dict[str, str]:
        """Return the settings of git that send them."""
        found = {}
        for host, (user, token) in self.tokens.items():
            word = base64.b64encode(f"{user}:{token}".encode()).decode()
            local = host.partition(":")[0] in ("localhost", "127.0.0.1")
            address = f"{'http' if local else 'https'}://{host}/"  # never in the clear
            found[f"http.{address}.extraHeader"] = f"Authorization: Basic {word}"
        return found

    def scrub(self, text: str) -> str:
        """Return `text` without any of them, and without the user part of URLs."""
        for user, token in self.tokens.values():
            word = base64.b64encode(f"{user}:{token}".encode()).decode()
            text = text.replace(token, "***").replace(word, "***")
        return _WITH_USER.sub(r"\1***@", text)


NO_CREDENTIALS = Credentials()


class Git:
    """git in one folder. `allow` are the protocols that it may speak.

    With `marked`, its processes end with the run (`sandbox.end_marked`).
    """

    def __init__(
        self,
        folder: Path,
        *,
        allow: Collection[str] = PROTOCOLS,
        credentials: Credentials = NO_CREDENTIALS,
        settings: Mapping[str, str] | None = None,
        marked: bool = True,
    ) -> None:
        self.folder = folder
        self.credentials = credentials
        self._allow = tuple(allow)
        self._settings = dict(settings or {})
        self._marked = marked

    def environment(self) -> dict[str, str]:
        """Return the environment in which git is started: nothing of the user's but the network."""
        environment = outside.environment(self._allow, self._settings | self.credentials.settings())
        if self._marked and sandbox.MARK in os.environ:
            environment[sandbox.MARK] = os.environ[sandbox.MARK]
        return environment

    def __call__(
        self,
        *arguments: str,
        data: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float = 120.0,
    ) -> bytes:
        """Run git and return what it prints; raises `GitError`."""
        try:
            done = subprocess.run(
                outside.command(*arguments), cwd=self.folder,
                env={**self.environment(), **(env or {})}, input=data, capture_output=True,
                timeout=seconds, check=False,
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise GitError(f"git {arguments[0]}: not done after {seconds:g} s") from None
        if done.returncode != 0:
            raise self._error(arguments[0], done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def word(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run git and return the one line that it prints."""
        return os.fsdecode(self(*arguments, env=env)).strip("\n")

    def started(self, *arguments: str, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start git, to read what it prints piece by piece."""
        return subprocess.Popen(
            outside.command(*arguments), cwd=self.folder, env=self.environment(),
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def bounded(self, *arguments: str, limits: Limits) -> None:
        """Run git with what comes from outside: its time, memory, disk and output are bounded."""
        result = sandbox.guarded(
            outside.command(*arguments), cwd=self.folder, env=self.environment(), limits=limits,
            folder=self.folder,
        )  # fmt: skip
        if result.status in ("time", "memory", "disk", "output"):
            raise GitError(f"git {arguments[0]}: {_TOO_MUCH[result.status].format(limits)}")
        if result.status != "passed":
            text = result.stderr.text
            if limits.disk is not None and ("File too large" in text or "signal 25" in text):
                raise GitError(f"git {arguments[0]}: {_TOO_MUCH['disk'].format(limits)}")
            raise self._error(arguments[0], text)

    def _error(self, what: str, text: str) -> GitError:
        lines = [
            line.strip()
            for line in text.splitlines()
            if line.strip() and not line.startswith(("hint:", "Cloning into"))
        ]
        said = self.credentials.scrub("; ".join(lines)[-_MESSAGE:]) or "failed"
        return GitError(f"git {what}: {said}")


_TOO_MUCH = {
    "time": "not done after {0.seconds:g} s",
    "memory": "needs more than {0.memory} bytes of memory",
    "disk": "more than {0.disk} bytes",
    "output": "prints without end",
}


def check_source(source: str, allow: Collection[str]) -> str:
    """Return the protocol that `source` asks for.

    Raises `GitError` for one that is not allowed, and for a URL with a password in it.
    """
    if source.startswith("-") or any(ord(letter) < 32 for letter in source):
        raise GitError(f"{source!r} is no address of a repository")
    protocol = _protocol(source)
    if protocol not in allow:
        known = "" if protocol in (*PROTOCOLS, "http", "git", "file") else " and cannot be"
        raise GitError(f"{_WITH_USER.sub(r'***@', source)}: {protocol} is not allowed{known}")
    if "://" in source and urlsplit(source).password:
        raise GitError(
            f"{_WITH_USER.sub(r'***@', source)}: take the password out of the address; "
            "tokens come from the environment"
        )
    return protocol


def _protocol(source: str) -> str:
    helper = re.match(r"([A-Za-z0-9+.-]+)::", source)
    if helper:
        return helper[1]
    if "://" in source:
        return source.partition("://")[0].lower()
    if os.path.isabs(source) or source.startswith(("./", "../")):
        return "file"
    return "ssh" if re.match(r"(?:[^/@:]+@)?[^/@:]+:(?!//)", source) else "file"


def clone(git: Git, source: str, ref: str, limits: Limits) -> str:
    """Fetch one commit of `source` into the empty folder of `git`; return the branch's name.

    The folder becomes a bare, shallow repository whose HEAD is that commit. `ref` is a branch, a
    tag, a commit, or "" for the default branch; the name is "" when HEAD is no branch. A repository
    without commits leaves HEAD unborn. Raises `GitError`.
    """
    if ref.startswith("-") or any(ord(letter) < 33 for letter in ref):
        raise GitError(f"{ref!r} is no name of a branch, tag or commit")
    quiet = ("--quiet", "--no-tags")
    if _HASH.fullmatch(ref):
        git("init", "--quiet", "--bare", "--template=", ".")
        git.bounded("fetch", *quiet, "--depth=1", "--", source, ref, limits=limits)
        git("update-ref", "--no-deref", "HEAD", ref)
        return ""
    branch = ("--branch", ref) if ref else ()
    shallow = ("--depth=1", "--single-branch", "--bare", "--template=")
    git.bounded("clone", *quiet, *shallow, *branch, "--", source, ".", limits=limits)
    try:
        return git.word("symbolic-ref", "--quiet", "--short", "HEAD")
    except GitError:
        return ""


def head(git: Git) -> str:
    """Return the commit that HEAD is, "" when it is unborn."""
    try:
        return git.word("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitError:
        return ""
