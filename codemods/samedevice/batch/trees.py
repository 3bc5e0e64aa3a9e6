"""The files of a commit: read, written to a folder, changed.

Files never come from `git checkout`: the blobs are read and written here, links last, so that
nothing is written through one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .git import Git, GitError


@dataclass(frozen=True)
class Entry:
    """One path of a commit's tree. `mode` is git's ("100644", "120000" a link, ...)."""

    mode: str
    blob: str
    size: int
    path: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self.mode.startswith("100")


def tree(git: Git, commit: str) -> list[Entry]:
    """Return all paths of a commit; raises `GitError` for one that could lead out of a folder."""
    entries = []
    for line in git("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        about, _, name = line.partition(b"\t")
        mode, _, blob, size = about.decode().split()
        path = os.fsdecode(name)
        _check_path(path)
        entries.append(Entry(mode, blob, 0 if size == "-" else int(size), path))
    return entries


def _check_path(path: str) -> None:
    parts = path.split("/")
    wrong = {"", ".", ".."}
    if any(part in wrong or part.casefold() in (".git", "git~1") for part in parts) or (
        os.name == "nt" and any(set(part) & set('\\:*?"<>|') for part in parts)
    ):
        raise GitError(f"the path {path!r} is not one that git could have checked out")


def write_files(git: Git, entries: Sequence[Entry], folder: Path) -> list[str]:
    """Write files and links into the new folder `folder`; return the links that were left out.

    A link is left out when it leads out of the folder, by itself or through others.
    """
    folder.mkdir()
    links = []
    for entry, data in blobs(git, [one for one in entries if one.mode != "160000"]):
        target = folder / entry.path
        if entry.is_file:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
            if entry.mode == "100755":
                target.chmod(0o755)
        else:
            links.append((entry.path, os.fsdecode(data)))
    return _write_links(folder, links)


def _write_links(folder: Path, links: Sequence[tuple[str, str]]) -> list[str]:
    left_out = []
    made = []
    root = os.path.realpath(folder)
    for path, leads_to in links:
        parts = PurePosixPath(path).parent
        try:
            (folder / parts).mkdir(parents=True, exist_ok=True)
            if os.path.realpath(folder / parts) != os.path.join(root, *parts.parts):
                raise ValueError  # its folder is a link itself: not a tree that git would write
            os.symlink(leads_to, folder / path)
            made.append(path)
        except (OSError, ValueError):
            left_out.append(path)
    # All of them first: where one leads may depend on another.
    inside = os.path.join(root, "")
    out = [path for path in made if not os.path.realpath(folder / path).startswith(inside)]
    for path in out:
        os.unlink(folder / path)
    return sorted([*left_out, *out])


def keep_places(folder: Path, paths: Iterable[str]) -> None:
    """Put a link to nothing where a path of the repository is that was not written.

    What walks the folder passes over it, and what looks for the name of a new file finds it taken.
    """
    for path in paths:
        target = folder / path
        if target.suffix == ".py":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to("left-out")


def blobs(git: Git, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    """Yield the content of each entry."""
    if not entries:
        return
    with tempfile.TemporaryFile() as names:
        names.write("".join(f"{entry.blob}\n" for entry in entries).encode())
        names.seek(0)
        process = git.started("cat-file", "--batch", stdin=names)
        assert process.stdout is not None
        try:
            for entry in entries:
                about = process.stdout.readline().split()
                if len(about) != 3 or about[1] != b"blob":
                    raise GitError(f"{entry.path}: its content is missing")
                data = process.stdout.read(int(about[2]))
                process.stdout.read(1)
                yield entry, data
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


def changed_tree(git: Git, commit: str, files: Mapping[str, bytes]) -> str:
    """Return the tree of `commit` with these files, new or changed, which keep their modes."""
    modes = {entry.path: entry.mode for entry in tree(git, commit)}
    lines = []
    for path, content in sorted(files.items()):
        _check_path(path)
        mode = modes.get(path, "100644")
        if not mode.startswith("100"):
            raise GitError(f"{path}: is not a regular file")
        blob = git("hash-object", "-w", "--stdin", "--no-filters", data=content).decode().strip()
        lines.append(f"{mode} {blob}\t".encode() + os.fsencode(path) + b"\0")
    return _with_index(git, commit, ("update-index", "-z", "--index-info"), b"".join(lines))


def patched_tree(git: Git, commit: str, patch: bytes) -> str:
    """Return the tree of `commit` with a patch applied to it; raises `GitError`."""
    apply = ("apply", "--cached", "--whitespace=nowarn", "-")
    return _with_index(git, commit, apply, patch)


def _with_index(git: Git, commit: str, command: Sequence[str], data: bytes) -> str:
    with tempfile.TemporaryDirectory(prefix="samedevice-index-") as place:
        index = {"GIT_INDEX_FILE": os.path.join(place, "index")}
        git("read-tree", commit, env=index)
        git(*command, data=data, env=index)
        return git.word("write-tree", env=index)


def patch(git: Git, before: str, after: str) -> bytes:
    """Return what `git apply` takes to get from one commit or tree to another."""
    return git(
        "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-renames",
        "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", before, after,
    )  # fmt: skip


def lines_changed(git: Git, before: str, after: str) -> dict[str, tuple[int, int]]:
    """Return the lines added and removed in each changed file."""
    told = git("diff-tree", "-r", "--numstat", "-z", "--no-renames", "--no-ext-diff",
               "--no-textconv", before, after)  # fmt: skip
    found = {}
    for line in told.split(b"\0")[:-1]:
        added, removed, path = line.split(b"\t", 2)
        numbers = [0 if number == b"-" else int(number) for number in (added, removed)]
        found[os.fsdecode(path)] = (numbers[0], numbers[1])
    return found
