"""Bytes -> disk: a file is replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ..reading.source import SourceError


def replace(path: str, data: bytes) -> None:
    """Write a file, new or in the place of an old one, whose mode and owner it keeps.

    The data goes to a temporary file in the same folder, is synced to the disk and then renamed,
    so that a run that is killed leaves either the old file or the new one. Raises `SourceError`
    when that cannot be done, and for a symbolic link: what it points to may lie elsewhere, and
    renaming over it would lose the link.
    """
    target = Path(path)
    try:
        old = _existing(target, path)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                _dress(name, old)
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise SourceError(path, f"cannot be written: {error.strerror or error}") from None


def _existing(target: Path, path: str) -> os.stat_result | None:
    """Return the state of the file to be replaced, None when it is new."""
    try:
        old = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(old.st_mode):
        message = "is a symbolic link and is left alone; name the file that it points to"
        raise SourceError(path, message)
    if not stat.S_ISREG(old.st_mode):
        raise SourceError(path, "is not a regular file")
    if not old.st_mode & 0o222:
        raise SourceError(path, "cannot be written: it is read-only")
    return old


def _dress(name: str, old: os.stat_result | None) -> None:
    """Give the temporary file the mode and owner that the file had, or those of a new file."""
    if old is None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
        with contextlib.suppress(OSError):  # only root may give files away
            os.chown(name, old.st_uid, old.st_gid)
    os.chmod(name, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the renaming last; not every system lets folders be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
