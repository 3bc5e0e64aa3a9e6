"""Where pull requests are opened: GitHub and GitLab, behind one interface.

A forge is asked through its own client library (`pip install 'samedevice[github]'` or `[gitlab]`),
which waits where the rate limit says so and tries again where the network fails. Tokens come from
the environment or from git's credential helpers; none is in a message, a record or an argument.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from ..outside import git
from .record import PullRequest, Record, Repository

START, END = "<!-- samedevice: start -->", "<!-- samedevice: end -->"
ROLLED_BACK = "<!-- samedevice: rolled back -->"
DECLINED = "pull request: {} was closed unmerged, and is not asked for again"
_VARIABLES = {
    "github": ("GITHUB_TOKEN", "GH_TOKEN"),
    "github enterprise": ("GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"),
    "gitlab": ("GITLAB_TOKEN",),
}
_PUBLIC = {"github": "https://api.github.com", "gitlab": "https://gitlab.com"}
_HELPER_SECONDS = 20


class ForgeError(Exception):
    """What a forge refused, or why it could not be asked; the message holds no token."""


@dataclass(frozen=True)
class Request:
    """What is asked for in a pull request.

    `base` is the branch it goes to ("": the repository's own choice, then the default branch).
    `reviewers` are user names, on GitHub also teams as "organisation/team". `reopen`: ask again
    where a pull request of the same branch was closed unmerged.
    """

    title: str
    body: str
    base: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = False
    reopen: bool = False


class Forge(Protocol):
    """A forge. Every method raises `ForgeError`."""

    def repositories(self, group: str, *, forks: bool = False) -> Iterator[Repository]:
        """Yield the repositories of an organisation, a group with its subgroups, or a user.

        Archived, disabled and empty ones are left out, forks too unless `forks`.
        """

    def open_or_update(self, record: Record, request: Request) -> PullRequest:
        """Open the pull request of `record.branch`, or bring the open one's text up to date.

        There is never a second: an open one keeps its title and whatever was written around our
        text, and one that was closed unmerged is returned as it is, "closed", unless it was closed
        by `close` or `request.reopen` says so. What it could not do beside (a label, a reviewer)
        goes to `record.notes`.
        """

    def close(self, record: Record, *, force: bool = False) -> PullRequest | None:
        """Close the pull request of `record.branch` and delete the branch; None without one.

        A merged one, a branch that is the default branch and (unless `force`) a branch with other
        commits than `record.commit` at its end are refused. What is gone already is no error.
        """


def connect(kind: str, api: str = "", token_env: str = "") -> Forge:
    """Return the forge `kind`, "github" or "gitlab".

    `api` is the address of another installation than the public one, `token_env` the variable that
    holds the token (default: see docs/batch-forges.md). Without a token only public repositories
    can be listed. Raises `ForgeError` when the client library is missing, the address would send a
    token in the clear or the named variable is not set.
    """
    if kind not in _PUBLIC:
        raise ForgeError(f"there is no forge {kind}: expected github or gitlab")
    address = urlsplit(api or _PUBLIC[kind])
    local = address.hostname in ("localhost", "127.0.0.1", "::1")
    if not address.hostname or address.scheme not in ("https", "http"):
        raise ForgeError(f"{api}: expected the address of a forge, https://...")
    if address.username is not None or address.password is not None:
        raise ForgeError(f"the address of {address.hostname} must not hold credentials")
    if address.scheme == "http" and not local:
        raise ForgeError(f"{api}: the token would travel in the clear: expected https")
    secret = token(kind, api, token_env)
    try:
        if kind == "github":
            from .forge_github import GitHub

            return GitHub(api, secret)
        from .forge_gitlab import GitLab

        return GitLab(api, secret)
    except ImportError as error:
        raise ForgeError(f"{error.name} is missing: pip install 'samedevice[{kind}]'") from None


def token(kind: str, api: str = "", variable: str = "") -> str:
    """Return the token for a forge, "" without any.

    From the environment variable that is named, else from the usual ones of the forge, else from
    git's credential helpers (a keyring, a cache), which are asked without a prompt. The usual
    variables for GitHub go to github.com only.
    """
    if variable:
        if not os.environ.get(variable):
            raise ForgeError(f"the environment variable {variable} is not set")
        return os.environ[variable].strip()
    host = urlsplit(api or _PUBLIC[kind]).hostname or ""
    names = kind
    if kind == "github" and host != "api.github.com" and host != "github.com":
        names = "github enterprise"
    for name in _VARIABLES[names]:
        if os.environ.get(name):
            return os.environ[name].strip()
    return _from_helpers("github.com" if host == "api.github.com" else host)


def _from_helpers(host: str) -> str:
    answer = git.ask_user(
        "-c", "core.askPass=", "credential", "fill",
        data=f"protocol=https\nhost={host}\n\n", seconds=_HELPER_SECONDS,
    )  # fmt: skip
    fields = dict(line.partition("=")[::2] for line in answer.splitlines())
    return fields.get("password", "")


def wrapped(body: str) -> str:
    """Return our part of a pull request's text, between marks that no reader sees."""
    for mark in (START, END, ROLLED_BACK):
        body = body.replace(mark, "")
    return f"{START}\n{body.strip()}\n{END}"


def merged(old: str | None, body: str) -> str:
    """Return a pull request's text with our part replaced and what others wrote around it kept."""
    head, start, rest = (old or "").partition(START)
    _, end, tail = rest.partition(END)
    return head + wrapped(body) + tail if start and end else wrapped(body)


def hidden(message: str, secret: str) -> str:
    """Return `message` without the token."""
    return message.replace(secret, "***") if secret else message
