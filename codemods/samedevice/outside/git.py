"""git as it is started here: nothing that a repository hands in is executed.

A repository has settings of its own (`.git/config` and what that includes), hooks, attributes and
filters, and many of them name programs. All calls of git go through `command` and an environment
from here, in which such settings are overridden by name. Where a name has a part that anybody can
choose (`filter.NAME.clean`), the settings are listed first: see `switched_off`.

The list of settings is git's own (`git help --config`); docs/proof/security.md says what was tried.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from .programs import find, search_path

_PASSED_ON = [
    "PATH",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SYSTEMROOT",
]

_SSH = "ssh -oBatchMode=yes"

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.askPass": "",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.pager": "cat",
    "core.editor": ":",
    "core.sshCommand": _SSH,
    "core.gitProxy": "",
    "core.alternateRefsCommand": ":",
    "sequence.editor": ":",
    "diff.external": ":",
    "interactive.diffFilter": "",
    "init.templateDir": "",
    "credential.helper": "",
    "gpg.program": ":",
    "log.showSignature": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "protocol.allow": "never",
    "transfer.fsckObjects": "true",
    # untidy, and common in old histories; harmless
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsck.badTimezone": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.missingSpaceBeforeEmail": "ignore",
    "fetch.fsck.missingNameBeforeEmail": "ignore",
    "fetch.fsck.badDateOverflow": "ignore",
    "fetch.fsck.badEmail": "ignore",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "user.name": "samedevice",
    "user.email": "samedevice@localhost",
    "advice.detachedHead": "false",
}

# Settings whose name has a part of somebody's choice, and what they are set to.
_NAMED = {
    r"filter\..+\.(clean|smudge|process)": "",
    r"filter\..+\.required": "false",
    r"(diff\..+\.(command|textconv)|merge\..+\.driver|trailer\..+\.(command|cmd))": ":",
    r"pager\..+|tar\..+\.command": "cat",
    r"(difftool|mergetool|man|browser|guitool)\..+\.(cmd|path)": ":",
    r"gpg\..+\.(program|defaultkeycommand)": ":",
    r"credential\..+\.helper": "",
    r"remote\..+\.uploadpack": "git-upload-pack",
    r"remote\..+\.receivepack": "git-receive-pack",
    r"submodule\..+\.update": "none",
    r"hook\..+\.(command|event)": "",
    r"lfs\.customtransfer\..+\.path": ":",
}
_SWITCHES = [(re.compile(name, re.DOTALL | re.IGNORECASE), to) for name, to in _NAMED.items()]

_SECONDS = 60.0


def command(*arguments: str) -> list[str]:
    """Return the command for git; raises `FileNotFoundError` where there is none."""
    program = find("git")
    if not program:
        raise FileNotFoundError(2, os.strerror(2), "git")
    return [program, "--no-pager", *arguments]


def environment(
    allow: Collection[str] = (), settings: Mapping[str, str] | None = None, *, users: bool = False
) -> dict[str, str]:
    """Return the environment for git; `allow` are the protocols that it may speak.

    Nothing of the user's but the network is in it, so that git does the same on every machine. With
    `users`, the user's settings count (whom to trust, credentials), and still no repository's.
    """
    if users:
        found = dict(os.environ)
    else:
        found = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        found |= {
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_SSH_COMMAND": _SSH,
        }
    given = _SETTINGS | {f"protocol.{name}.allow": "always" for name in allow}
    given |= settings or {}
    found |= {
        "PATH": search_path(),
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": ":".join(allow),  # stronger than `protocol.ext.allow` of a repository
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_CONFIG_COUNT": str(len(given)),
    }
    for number, (key, value) in enumerate(given.items()):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found


def switched_off(told: bytes) -> dict[str, str]:
    """Return settings that make harmless what `git config --list --name-only -z` has `told`."""
    off: dict[str, str] = {}
    for name in map(os.fsdecode, told.split(b"\0")):
        for pattern, to in _SWITCHES:
            if pattern.fullmatch(name):
                off[name] = to
    return off


def ask(
    folder: Path | str, *arguments: str, index: Path | None = None, work_tree: Path | None = None
) -> str:
    """Return what git says in a repository of the user's, which may have hostile settings.

    The user's own settings count: whom to trust with repositories of others. `index` and
    `work_tree` are used in place of the repository's. Raises `ValueError` with what git said when
    it refuses, and `OSError` when there is no git.
    """
    listed = _run(folder, environment(users=True), "config", "--list", "--name-only", "-z")
    env = environment(settings=switched_off(listed.stdout), users=True)
    if index is not None:
        env["GIT_INDEX_FILE"] = str(index)
    if work_tree is not None:  # without --git-dir: the settings of another folder would count
        env["GIT_DIR"] = ask(folder, "rev-parse", "--absolute-git-dir")
        env["GIT_WORK_TREE"] = str(work_tree)
    done = _run(folder, env, *arguments)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise ValueError(f"git {arguments[0]}: {said or 'failed'}")
    return os.fsdecode(done.stdout).strip()


def ask_user(*arguments: str, data: str = "", seconds: float = _SECONDS) -> str:
    """Return what git knows of its user, in no repository; "" where it knows nothing.

    The working directory may be a repository whose settings name a helper for credentials.
    """
    env = {name: value for name, value in os.environ.items() if name not in _PLACES}
    env |= {"PATH": search_path(), "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": ""}
    with tempfile.TemporaryDirectory(prefix="samedevice-") as nowhere:
        env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.path.realpath(nowhere))
        try:
            done = _run(nowhere, env, *arguments, data=data.encode(), seconds=seconds)
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else ""


_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


def _run(
    folder: Path | str,
    env: Mapping[str, str],
    *arguments: str,
    data: bytes = b"",
    seconds: float = _SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*arguments), cwd=folder, env=dict(env), input=data, capture_output=True,
        timeout=seconds, check=False,
    )  # fmt: skip
