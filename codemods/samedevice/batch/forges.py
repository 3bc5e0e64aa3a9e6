"""Which forges there are, where they are, and with whose token they are asked.

Tokens come from the environment or from git's credential helpers; none is in a message, a record or
an argument.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..outside import git
from .forge import Forge, ForgeError

_HELPER_SECONDS = 20


@dataclass(frozen=True)
class Kind:
    """A kind of forge: its class, its client library's extra, and where the public one is.

    `host` is that of the public one's repositories, "" where every installation is somebody's own.
    `variables` may hold a token, `own` those for another host than the public one (None: the same).
    `user` is the name that goes with a token over https.
    """

    name: str
    extra: str
    host: str
    api: str
    variables: tuple[str, ...]
    user: str
    own: tuple[str, ...] | None = None

    def variables_for(self, host: str) -> tuple[str, ...]:
        """Return the variables whose token may go to a host."""
        public = bool(host) and host in (self.host, urlsplit(self.api).hostname)
        return self.variables if self.own is None or public else self.own


KINDS = {
    "github": Kind(
        "GitHub", "github", "github.com", "https://api.github.com",
        ("GITHUB_TOKEN", "GH_TOKEN"), "x-access-token",
        ("GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"),
    ),
    "gitlab": Kind(
        "GitLab", "gitlab", "gitlab.com", "https://gitlab.com", ("GITLAB_TOKEN",), "oauth2"
    ),
    "bitbucket": Kind(
        "Bitbucket", "bitbucket", "bitbucket.org", "https://api.bitbucket.org",
        ("BITBUCKET_TOKEN",), "x-token-auth",
    ),
    "azure": Kind(
        "Azure DevOps", "azure", "dev.azure.com", "https://dev.azure.com",
        ("AZURE_DEVOPS_TOKEN", "AZURE_DEVOPS_EXT_PAT"), "token",
    ),
    "gitea": Kind("Gitea or Forgejo", "gitea", "", "", ("GITEA_TOKEN", "FORGEJO_TOKEN"), "oauth2"),
}  # fmt: skip
"""By the word that lists and records use."""


def connect(kind: str, api: str = "", token_env: str = "") -> Forge:
    """Return a forge of one of `KINDS`.

    `api` is the address of another installation than the public one, `token_env` the variable that
    holds the token (default: see docs/batch-forges.md). Without a token only public repositories
    can be listed. Raises `ForgeError` when the client library is missing, the address would send a
    token in the clear or the named variable is not set.
    """
    if kind not in KINDS:
        raise ForgeError(f"there is no forge {kind}: expected {named()}")
    known = KINDS[kind]
    if not api and not known.api:
        raise ForgeError(f"{known.name} has no public address: name yours with --api")
    address = urlsplit(api or known.api)
    local = address.hostname in ("localhost", "127.0.0.1", "::1")
    if not address.hostname or address.scheme not in ("https", "http"):
        raise ForgeError(f"{api}: expected the address of a forge, https://...")
    if address.username is not None or address.password is not None:
        raise ForgeError(f"the address of {address.hostname} must not hold credentials")
    if address.scheme == "http" and not local:
        raise ForgeError(f"{api}: the token would travel in the clear: expected https")
    secret = token(kind, api, token_env)
    try:
        module = importlib.import_module(f".forge_{kind}", __package__)
    except ImportError as error:
        raise ForgeError(
            f"{error.name} is missing: pip install 'samedevice[{known.extra}]'"
        ) from None
    except OSError as error:  # some keep a cache at home as soon as they are imported
        raise ForgeError(f"{known.name}: its client library does not start: {error}") from None
    made: Forge = module.connect(api, secret)
    return made


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
    known = KINDS[kind]
    host = urlsplit(api or known.api).hostname or ""
    for name in known.variables_for(host):
        if os.environ.get(name):
            return os.environ[name].strip()
    return _from_helpers(git_host(kind, api).partition(":")[0])


def git_host(kind: str, api: str = "") -> str:
    """Return the host, with its port, whose repositories a forge's token is for."""
    known = KINDS[kind]
    address = urlsplit(api)
    if not api or address.hostname in (known.host or None, urlsplit(known.api).hostname):
        return known.host
    return address.netloc


def of_host(host: str) -> str:
    """Return the kind of the public forge at a host, "" for none."""
    return next((name for name, kind in KINDS.items() if host and kind.host == host), "")


def named() -> str:
    """Return the kinds, for a message."""
    *most, last = KINDS
    return f"{', '.join(most)} or {last}"


def _from_helpers(host: str) -> str:
    answer = git.ask_user(
        "-c", "core.askPass=", "credential", "fill",
        data=f"protocol=https\nhost={host}\n\n", seconds=_HELPER_SECONDS,
    )  # fmt: skip
    fields = dict(line.partition("=")[::2] for line in answer.splitlines())
    return fields.get("password", "")
