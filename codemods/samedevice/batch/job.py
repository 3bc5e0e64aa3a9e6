"""What one job is: a repository to work on, what may leave the machine, and where its files are."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from .. import __version__
from . import git as git_
from .git import NO_CREDENTIALS, Credentials
from .policy import Policy
from .record import Outcome, Record

if TYPE_CHECKING:
    pass

Emit = Callable[[Record, Mapping[str, bytes]], None]
"""Takes a record as it is now, and the files that came with it, by their path in the batch."""


@dataclass(frozen=True)
class Delivery:
    """What may leave the machine: nothing (a dry run), branches, or pull requests as well."""

    push: bool = False
    pull_request: bool = False


@dataclass(frozen=True)
class Job:
    """One repository to work on, from where its record stands.

    `files` are the patch and the list of changes that an earlier try left of a record whose fix is
    done, or that belong to `earlier`, an attempt before this one whose results may be those of this
    one as well. `allow` are git's protocols.
    `work` is the folder for temporary files (None: the system's), `hidden` one that no proof may
    see. `tokens` are those of forges, by the address of their API.
    """

    record: Record
    policy: Policy
    delivery: Delivery = Delivery()
    files: Mapping[str, bytes] = field(default_factory=dict)
    earlier: Record | None = None
    allow: tuple[str, ...] = git_.PROTOCOLS
    credentials: Credentials = NO_CREDENTIALS
    work: str | None = None
    hidden: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)


class Stop(Exception):
    """Ends an attempt with an outcome and its reason."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def file_url(path: str) -> str:
    """Return the URL of a path, which may hold any character."""
    return "file://" + quote(os.fsencode(os.path.abspath(path)))


def name_of(record: Record) -> str:
    """Return a name for the files of a record: plain, short, and no two repositories have one."""
    name = record.repository.name
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:60] or "repository"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain}-{digest[:10]}"


@contextlib.contextmanager
def workspace(root: str | None, name: str) -> Iterator[Path]:
    """Give a new folder for one attempt and remove it afterwards, whatever is in it."""
    if root is not None:
        os.makedirs(root, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f"samedevice-{name[:40]}-", dir=root)).resolve()
    try:
        yield place
    finally:
        remove(place)


def remove(folder: Path) -> None:
    """Delete a folder of which parts may be read-only; links in it are not followed."""
    for attempt in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or attempt:
            return
        for where, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                os.chmod(where, 0o700)


def now() -> str:
    """Return the time, in UTC, as records have it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def versions() -> dict[str, str]:
    """Return the versions that a record names."""
    return {"samedevice": __version__, "python": platform.python_version(), "system": sys.platform}


def with_outcome(record: Record, outcome: Outcome, reason: str) -> Record:
    """Return a record that ended without being worked on."""
    return replace(record, outcome=outcome, reason=reason, ended=now())
