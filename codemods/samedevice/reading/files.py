"""Which files belong: from the paths a user names to the files to read, in a stable order.

A folder is walked as git would: `.gitignore` and `.git/info/exclude` count, hidden folders,
environments and `node_modules` are left out, and links are not followed, so that nothing outside
the given paths is read or written. A file that is named is taken as it is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .patterns import Matching, Patterns
from .source import SourceError

SUFFIXES = (".py", ".ipynb")
LARGEST = 4_000_000  # bytes of code; more than this was written by a program, not for one
LARGEST_NOTEBOOK = 100_000_000  # bytes; pictures in outputs make notebooks large
LARGEST_PATTERNS = 100_000  # bytes of one .gitignore; each path is held against each line of it
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass
class Files:
    """The files to read, and what could not be walked or is not for reading."""

    paths: list[str] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)


@dataclass(frozen=True)
class _Patterns:
    """Patterns of one .gitignore (or `--exclude`), read relative to the folder `root`."""

    root: str
    spec: Patterns

    def check(self, path: str, is_folder: bool) -> bool | None:
        """Tell whether `path` (absolute) is left out; None where no pattern speaks of it."""
        relative = os.path.relpath(path, self.root)
        if relative == os.curdir or relative.split(os.sep)[0] == os.pardir:
            return None
        return self.spec.verdict(relative.replace(os.sep, "/"), is_folder)


def find(paths: Sequence[str], exclude: Sequence[Matching] = ()) -> Files:
    """Return the files under `paths`, each once, sorted within each path; "-" stays as it is.

    `exclude` holds for named files too.
    """
    excluded = [_Patterns(item.root, Patterns(item.patterns)) for item in exclude]
    found = Files()
    seen: set[str] = set()
    for path in paths:
        for file in [path] if path == "-" else _under(path, excluded, found.errors):
            identity = os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
                found.paths.append(file)
    return found


def state(paths: Sequence[str], exclude: Sequence[Matching] = ()) -> dict[str, tuple[int, int]]:
    """Return the time of the last change and the size of each file under `paths`."""
    found: dict[str, tuple[int, int]] = {}
    for path in find(paths, exclude).paths:
        with contextlib.suppress(OSError, ValueError):  # gone since, or no path at all
            status = os.stat(path)
            found[path] = status.st_mtime_ns, status.st_size
    return found


def _under(path: str, excluded: Sequence[_Patterns], errors: list[SourceError]) -> Iterator[str]:
    path = os.path.normpath(path)
    absolute = os.path.abspath(path)
    is_folder = os.path.isdir(path)
    if any(_parents_left_out(absolute, patterns, is_folder) for patterns in excluded):
        return
    if is_folder:
        yield from _walk(path, _outer(absolute, errors), excluded, errors)
    elif _readable_size(path, errors):
        yield path


def _parents_left_out(path: str, patterns: _Patterns, is_folder: bool) -> bool:
    """Tell whether patterns leave out `path` or a folder around it."""
    while True:
        if patterns.check(path, is_folder):
            return True
        parent = os.path.dirname(path)
        if parent in (path, patterns.root):
            return False
        path, is_folder = parent, True


def _walk(
    folder: str,
    ignored: Sequence[_Patterns],
    excluded: Sequence[_Patterns],
    errors: list[SourceError],
) -> Iterator[str]:
    own = _read_patterns(folder, os.path.join(folder, ".gitignore"), errors)
    ignored = [own, *ignored] if own else ignored
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        errors.append(SourceError(folder, f"cannot be read: {error.strerror}"))
        return
    for entry in entries:
        path = entry.name if folder == os.curdir else entry.path
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.is_symlink():
            if _is_loop(path) and not _left_out(path, False, ignored, excluded):
                errors.append(SourceError(path, "this link leads back to itself"))
            continue
        if is_folder:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if _left_out(path, True, ignored, excluded) or _is_environment(path):
                continue
            yield from _walk(path, ignored, excluded, errors)
        elif (
            entry.name.endswith(SUFFIXES)
            and not _left_out(path, False, ignored, excluded)
            and _readable_size(path, errors)
        ):
            yield path


def _left_out(
    path: str, is_folder: bool, ignored: Sequence[_Patterns], excluded: Sequence[_Patterns]
) -> bool:
    absolute = os.path.abspath(path)
    if any(patterns.check(absolute, is_folder) for patterns in excluded):
        return True
    for patterns in ignored:  # the innermost .gitignore that speaks of it decides, as in git
        verdict = patterns.check(absolute, is_folder)
        if verdict is not None:
            return verdict
    return False


def _outer(folder: str, errors: list[SourceError]) -> list[_Patterns]:
    """Return the .gitignore files that hold in `folder` from above, innermost first.

    None hold when they leave out `folder` itself: it was named, so its files are wanted.
    """
    outer: list[_Patterns] = []
    at = folder
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return []  # not in a repository: only what is below `folder` counts
        at = parent
        outer += filter(None, [_read_patterns(at, os.path.join(at, ".gitignore"), errors)])
    path = os.path.join(at, ".git", "info", "exclude")
    outer += filter(None, [_read_patterns(at, path, errors)])
    if any(_parents_left_out(folder, patterns, True) for patterns in outer):
        return []
    return outer


def _read_patterns(root: str, path: str, errors: list[SourceError]) -> _Patterns | None:
    try:
        if not os.path.isfile(path):  # a FIFO would never end
            return None
        with open(path, "rb") as file:
            data = file.read(LARGEST_PATTERNS + 1)
    except OSError:  # git, too, passes over one that it cannot read
        return None
    if len(data) > LARGEST_PATTERNS:
        limit = f"{LARGEST_PATTERNS // 1000} kB"
        errors.append(SourceError(path, f"more than {limit} of patterns: none of them counts"))
        return None
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    return _Patterns(os.path.abspath(root), Patterns(lines))


def _is_loop(link: str) -> bool:
    """Tell whether following `link` would never end: it leads to itself or to a folder above."""
    try:
        target = os.path.realpath(link, strict=True)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    above = os.path.realpath(os.path.dirname(link) or os.curdir)
    return os.path.isdir(target) and os.path.join(above, "").startswith(os.path.join(target, ""))


def _is_environment(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _readable_size(path: str, errors: list[SourceError]) -> bool:
    """Tell whether `path` is small enough to be code; what cannot be read is `source`'s to say."""
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError):
        return True
    limit = LARGEST_NOTEBOOK if path.endswith(".ipynb") else LARGEST
    if size <= limit:
        return True
    message = f"too large to be code ({size / 1e6:.0f} MB); leave it out with --exclude"
    errors.append(SourceError(path, message))
    return False
