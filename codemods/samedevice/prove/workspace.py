"""Copies of projects to run in, so that nothing of the user's is touched.

A copy comes from a folder, a file, a git revision, or a folder with some files replaced.
"""

from __future__ import annotations

import filecmp
import fnmatch
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samedevice.outside import git
from samedevice.prove.run import ProgramError

# Never needed to run a program, and often large. Virtual environments are known by their file.
_LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".ipynb_checkpoints",
        "__pycache__",
        "node_modules",
    }
)
COPY_LIMIT = 2 << 30


@dataclass(frozen=True)
class Origin:
    """Where a copy comes from.

    `folder` is set for a folder (and `replaced`: paths in it and their new bytes), `file` for a
    single file, `revision` for a git commit, whose tree at `prefix` in the repository at `folder`
    is meant. `label` names it for the user.
    """

    label: str
    folder: Path | None = None
    file: Path | None = None
    revision: str = ""
    prefix: str = ""
    replaced: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The user's folder or file that a copy stands for."""
        if self.file is not None:
            return self.file
        assert self.folder is not None
        return self.folder / self.prefix

    @property
    def name(self) -> str:
        """A name for the folder of the copy."""
        if self.file is not None:
            return self.file.stem
        return self.root.resolve().name or "project"


def find(what: str | Path, near: Path) -> Origin:
    """Return what a path or a git revision means, seen from the folder `near`.

    Raises ProgramError when it is neither.
    """
    path = near / what
    if path.is_dir():
        return Origin(str(what), folder=path)
    if path.is_file():
        return Origin(str(what), file=path)
    try:
        commit = _git(near, "rev-parse", "--verify", "--quiet", f"{what}^{{commit}}")
        root = _git(near, "rev-parse", "--show-toplevel")
        prefix = _git(near, "rev-parse", "--show-prefix")
    except ProgramError:
        raise ProgramError(f"{what}: no file, folder or git revision") from None
    return Origin(str(what), folder=Path(root), revision=commit, prefix=prefix)


def copy(origin: Origin, to: Path, *, file_name: str = "", exclude: Sequence[str] = ()) -> None:
    """Write a copy of `origin` into the new folder `to`; a single file is called `file_name` there.

    `exclude` are shell patterns for names or paths to leave out. Raises ProgramError when something
    cannot be read or is larger than `COPY_LIMIT` bytes.
    """
    if origin.file is not None:
        to.mkdir(parents=True)
        shutil.copy2(origin.file, to / (file_name or origin.file.name))
    elif origin.revision:
        _check_out(origin, to)
    else:
        assert origin.folder is not None
        copy_folder(origin.folder, to, exclude)
    for path, content in origin.replaced.items():
        target = to / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def copy_folder(folder: Path, to: Path, exclude: Sequence[str] = ()) -> None:
    """Copy a folder without caches, version control and virtual environments.

    A link to something inside stays a link; of one that leads outside, a copy is made: a program
    that writes there must not write into the user's files. Raises ProgramError as `copy` does.
    """
    copier = _Copier(folder.resolve(), to, tuple(exclude))
    try:
        copier.copy(folder, Path("."))
    except OSError as error:
        raise ProgramError(f"{error.filename}: {error.strerror}") from None


class _Copier:
    def __init__(self, root: Path, to: Path, exclude: tuple[str, ...]) -> None:
        self._root, self._to, self._exclude = root, to, exclude
        self._size = 0
        self._open: set[Path] = set()  # folders outside that are being copied: links may go round

    def copy(self, folder: Path, at: Path) -> None:
        (self._to / at).mkdir(parents=True, exist_ok=True)
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if not self._is_left_out(entry, at / entry.name):
                    self._copy(Path(entry.path), at / entry.name)

    def _copy(self, path: Path, at: Path) -> None:
        target = self._to / at
        if path.is_symlink():
            real = Path(os.path.realpath(path))
            if real.is_relative_to(self._root) or not real.exists():
                inside = self._to / os.path.relpath(real, self._root)
                dead = not real.is_relative_to(self._root)
                link = os.readlink(path) if dead else os.path.relpath(inside, target.parent)
                target.symlink_to(link)
                return
            if real in self._open:
                return
            self._open.add(real)
            self._copy(real, at)
            self._open.discard(real)
        elif path.is_dir():
            self.copy(path, at)
        elif path.is_file():
            self._size += path.stat().st_size
            if self._size > COPY_LIMIT:
                raise ProgramError(
                    f"{self._root}: more than {COPY_LIMIT >> 30} GiB to copy; leave out what the "
                    "program does not need with --exclude PATTERN"
                )
            shutil.copy2(path, target)

    def _is_left_out(self, entry: os.DirEntry[str], at: Path) -> bool:
        if entry.name in _LEFT_OUT or Path(entry.path, "pyvenv.cfg").exists():
            return True
        return any(
            fnmatch.fnmatch(entry.name, pattern) or fnmatch.fnmatch(at.as_posix(), pattern)
            for pattern in self._exclude
        )


def _check_out(origin: Origin, to: Path) -> None:
    """Write a revision's files, through an index made for it: the user's stays as it is.

    They are as they were committed: filters (such as LFS's) that the repository names do not run.
    """
    assert origin.folder is not None
    to.mkdir(parents=True)
    index = to.with_name(f"{to.name}.index")
    tree = f"{origin.revision}:{origin.prefix}" if origin.prefix else origin.revision
    _git(origin.folder, "read-tree", tree, index=index, work_tree=to)
    _git(origin.folder, "checkout-index", "--all", "--force", index=index, work_tree=to)
    index.unlink(missing_ok=True)


def _git(
    cwd: Path, *arguments: str, index: Path | None = None, work_tree: Path | None = None
) -> str:
    try:
        return git.ask(cwd, *arguments, index=index, work_tree=work_tree)
    except OSError as error:
        raise ProgramError(f"git: {error.strerror}") from None
    except ValueError as error:
        raise ProgramError(str(error)) from None


def text(path: Path) -> str | None:
    """Return a small text file's content; None for others, and for files that are not there."""
    try:
        if path.stat().st_size <= 1 << 20:
            return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    return None


def differing(one: Path, two: Path) -> list[str]:
    """Return the paths of the files in two folders that are not the same in both, in order."""
    sides = [set(files(folder)) for folder in (one, two)]
    found = sides[0] ^ sides[1]
    found |= {path for path in sides[0] & sides[1] if not same(one / path, two / path)}
    return sorted(found)


def same(one: Path, two: Path) -> bool:
    """Tell whether two files are there, with the same bytes."""
    try:
        return filecmp.cmp(one, two, shallow=False)
    except OSError:
        return False


def files(folder: Path) -> Iterator[str]:
    """Yield the path of every file under `folder`, links to folders not followed."""
    for where, names, found in os.walk(folder):
        names[:] = [name for name in names if name not in _LEFT_OUT]
        for name in found:
            full = Path(where, name)
            if full.is_file():
                yield full.relative_to(folder).as_posix()
