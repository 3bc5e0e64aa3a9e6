"""Which repositories: from what a user names to a list of `Repository`, each with its own name."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..reading.config import ConfigError
from . import forges
from .forges import KINDS, git_host, of_host
from .git import GitError, check_source
from .policy import Policy, read_toml
from .record import Repository

_DEPTH = 3  # levels of folders in which checkouts are looked for
_SCP = re.compile(r"(?:[^/@:]+@)?([^/@:]+):(?!//)(.+)")
_ENTRY = {item.name for item in fields(Repository)} - {"options", "checkout"}


@dataclass(frozen=True)
class Listed:
    """A list of repositories, the policy's settings for all of them, and who has tokens for what.

    `tokens` name the environment variable with the token for a host, never the token.
    """

    repositories: list[Repository]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)


def read(what: str, allow: Collection[str], *, api: str = "", token_env: str = "") -> Listed:
    """Return the repositories that a user names.

    A file `X.toml`, another file (a line each: its address and perhaps a branch, tag or commit), a
    folder of checkouts, or a group of a forge, "github:ORGANISATION" (at `api`, with the token in
    the variable `token_env`). `allow` are the protocols that git may speak. Raises `ConfigError`
    with the place of what cannot be used.
    """
    kind, colon, group = what.partition(":")
    if colon and kind in KINDS:
        tokens = {git_host(kind, api): token_env} if token_env else {}
        listed = Listed(_of_forge(kind, group, api, token_env), tokens=tokens)
    elif os.path.isdir(what):
        listed = Listed(list(_in_folder(Path(what))))
        if not listed.repositories:
            raise ConfigError(f"{what}: there is no git repository in this folder")
    elif what.endswith(".toml"):
        listed = _of_toml(what)
    else:
        listed = Listed(list(_of_text(what)))
    _check(what, listed.repositories, allow)
    return listed


def _of_forge(kind: str, group: str, api: str, token_env: str) -> list[Repository]:
    from .forge import ForgeError
    from .forges import connect

    if not group:
        raise ConfigError(f"{kind}: the name of an organisation or group is missing")
    try:
        return list(connect(kind, api, token_env).repositories(group))
    except ForgeError as error:
        raise ConfigError(f"{kind}:{group}: {error}") from None


def _in_folder(folder: Path) -> Iterator[Repository]:
    """Yield the checkouts (and bare repositories) in a folder; links are not followed."""
    root = folder.resolve()

    def walk(at: Path, depth: int) -> Iterator[Repository]:
        with os.scandir(at) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False) or entry.name == ".git":
                continue
            kind = _kind(Path(entry.path))
            if kind:
                name = Path(entry.path).relative_to(root).as_posix()
                yield Repository(name, entry.path, checkout=kind == "checkout")
            elif depth > 1:
                yield from walk(Path(entry.path), depth - 1)

    try:
        if _kind(root):
            yield Repository(root.name, str(root), checkout=_kind(root) == "checkout")
            return
        yield from walk(root, _DEPTH)
    except OSError as error:
        raise ConfigError(f"{error.filename}: cannot be read: {error.strerror}") from None


def _kind(folder: Path) -> str:
    """Return "checkout", "bare" or "" for no repository."""
    if (folder / ".git").exists():
        return "checkout"
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
        return "bare"
    return ""


def _of_text(path: str) -> Iterator[Repository]:
    for number, line in enumerate(_lines(path), 1):
        words = line.partition(" #")[0].split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise ConfigError(f"{path}:{number}: expected an address and perhaps a ref")
        ref = words[1] if len(words) == 2 else ""
        yield _entry({"source": words[0], "ref": ref}, f"{path}:{number}", path)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not text in UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def _of_toml(path: str) -> Listed:
    document = read_toml(path)
    entries = document.pop("repository", [])
    defaults = document.pop("defaults", {})
    tokens = document.pop("tokens", {})
    if document:
        there = "[[repository]], [defaults], [tokens]"
        raise ConfigError(f"{path}: {min(document)}: no such table; there are {there}")
    if not (isinstance(entries, list) and all(isinstance(one, dict) for one in entries)):
        raise ConfigError(f"{path}: expected [[repository]] tables")
    if not isinstance(defaults, dict):
        raise ConfigError(f"{path}: defaults: expected a table")
    if not (isinstance(tokens, dict) and all(isinstance(one, str) for one in tokens.values())):
        raise ConfigError(f"{path}: tokens: expected the name of a variable for each host")
    Policy().with_table(defaults, f"{path}: [defaults]")
    repositories = [
        _entry(entry, f"{path}: [[repository]] {number}", path)
        for number, entry in enumerate(entries, 1)
    ]
    return Listed(repositories, defaults, tokens)


def _entry(table: Mapping[str, Any], where: str, path: str) -> Repository:
    """Return what one entry of a list says."""
    named = {key: value for key, value in table.items() if key in _ENTRY}
    options = {key: value for key, value in table.items() if key not in _ENTRY}
    for key, value in named.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {key}: expected a string")
    source = named.get("source", "")
    if not source:
        raise ConfigError(f"{where}: source: expected an address or a path")
    Policy().with_table(options, where)
    local = "://" not in source and "::" not in source and not _SCP.fullmatch(source)
    if local:
        folder = os.path.abspath(os.path.join(os.path.dirname(path), os.path.expanduser(source)))
        kind = _kind(Path(folder))
        if not kind:
            raise ConfigError(f"{where}: {source}: there is no git repository")
        found = Repository(Path(folder).name, folder, checkout=kind == "checkout")
    else:
        host, inside = _parts(source)
        forge = of_host(host)
        found = Repository(inside, source, forge=forge, project=inside if forge else "")
    if named.get("forge", "") not in ("", *KINDS):
        raise ConfigError(f"{where}: forge: expected {forges.named()}")
    if named.get("forge") and not found.project:
        found = replace(found, project=_parts(source)[1])
    rest = {key: value for key, value in named.items() if key != "source"}
    return replace(found, **rest, options=options)


def _parts(source: str) -> tuple[str, str]:
    """Return the host and the path of a repository's address."""
    scp = None if "://" in source else _SCP.fullmatch(source)
    if scp:
        host, path = scp[1], scp[2]
    else:
        parts = urlsplit(source)
        host, path = parts.hostname or "", parts.path
    return host, path.strip("/").removesuffix(".git")


def _check(what: str, repositories: list[Repository], allow: Collection[str]) -> None:
    if not repositories:
        raise ConfigError(f"{what}: it lists no repository")
    seen: dict[str, str] = {}
    for one in repositories:
        if not one.name:
            raise ConfigError(f"{what}: {one.source}: give it a name")
        if one.name in seen:
            both = one.source if seen[one.name] == one.source else f"{seen[one.name]}, {one.source}"
            raise ConfigError(f"{what}: two repositories are called {one.name!r}: {both}")
        seen[one.name] = one.source
        if not one.checkout:
            try:
                check_source(one.source, (*allow, "file") if os.path.isdir(what) else allow)
            except GitError as error:
                raise ConfigError(f"{what}: {error}; see --allow") from None
