"""git on repositories that may be hostile.

Nothing of a repository's runs: no hooks, filters, templates, attributes, external programs or
submodules, whatever its files or its own settings say. Files never come from `git checkout`: the
blobs are read and written here, links last, so that nothing is written through one. The user's
own settings of git do not count either, so that a run gives the same on every machine.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..outside import git as outside
from . import sandbox
from .sandbox import Limits

TRAILER = "Migrated-by: samedevice"
"""Starts the last line of our commits' messages, by which a later run knows them for its own."""

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
        process = subprocess.Popen(
            outside.command("cat-file", "--batch"), cwd=git.folder, env=git.environment(),
            stdin=names, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
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


def commit(
    git: Git, tree: str, parent: str, message: str, author: tuple[str, str], when: int
) -> str:
    """Return a new commit. The same arguments give the same commit, so doing it twice is once."""
    name, email = author
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", name), ("EMAIL", email), ("DATE", f"@{when} +0000"))
    }
    made = git("commit-tree", tree, "-p", parent, "-F", "-", data=message.encode(), env=who)
    return made.decode().strip()


def is_ours(git: Git, commit: str) -> bool:
    """Tell whether a commit is one that a batch made, by its message's last line."""
    # Not `git log`, which settings lead to programs that check signatures.
    message = git("cat-file", "commit", commit).partition(b"\n\n")[2].strip()
    return message.rpartition(b"\n")[2].startswith(TRAILER.encode())


def checkout(folder: Path) -> Git:
    """Return git for a user's checkout, whose own settings must not run anything.

    Raises `GitError` when it is none.
    """
    plain = Git(folder, allow=("file",), marked=False)
    off = outside.switched_off(plain("config", "--includes", "--list", "--name-only", "-z"))
    # Never ended from outside: a lock that it left would stay in the user's repository.
    return Git(folder, allow=("file",), settings=off, marked=False)


def beside(checkout: Git, folder: Path, allow: Collection[str], credentials: Credentials) -> Git:
    """Return git in a new folder that has all commits of a checkout and none of its settings.

    What speaks to the network is done from there: settings of a checkout could lead it elsewhere.
    """
    folder.mkdir()
    git = Git(folder, allow=allow, credentials=credentials)
    git("init", "--quiet", "--bare", "--template=", ".")
    objects, shallow = (
        checkout.folder / checkout.word("rev-parse", "--git-path", name)
        for name in ("objects", "shallow")
    )
    (folder / "objects" / "info").mkdir(exist_ok=True)
    (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    if shallow.is_file():
        (folder / "shallow").write_bytes(shallow.read_bytes())
    return git


def origin(git: Git) -> str:
    """Return the address of a checkout's remote `origin`, "" for none."""
    try:
        return git.word("config", "--get", "remote.origin.url")
    except GitError:
        return ""


def push(git: Git, url: str, branch: str, commit: str) -> None:
    """Give a remote repository a branch; done already is no error.

    A branch of that name is replaced if its last commit is one of ours and nobody pushes at the
    same time. Raises `GitError` when it is not.
    """
    name = f"refs/heads/{branch}"
    old = _remote_tip(git, url, name)
    if old == commit:
        return
    if old:
        git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--", url, old)
        if not is_ours(git, old):
            raise GitError(f"{branch} exists there, and its last commit is not one of ours")
    lease = f"--force-with-lease={name}:{old}"
    git("push", "--quiet", "--no-verify", lease, "--", url, f"{commit}:{name}", seconds=600.0)


def unpush(git: Git, url: str, branch: str, commit: str) -> bool:
    """Delete a remote branch if it still is at `commit`; return whether it is gone."""
    name = f"refs/heads/{branch}"
    old = _remote_tip(git, url, name)
    if old == commit:
        lease = f"--force-with-lease={name}:{commit}"
        git("push", "--quiet", "--no-verify", lease, "--", url, f":{name}")
    return old in ("", commit)


def _remote_tip(git: Git, url: str, name: str) -> str:
    return git.word("ls-remote", "--", url, name).partition("\t")[0]


def uncommitted(git: Git) -> int:
    """Return how many files of a checkout are changed, staged or not under version control."""
    told = git("status", "--porcelain", "-z", "--untracked-files=normal",
               "--ignore-submodules=all", "--no-renames")  # fmt: skip
    return told.count(b"\0")


def add_branch(git: Git, source: Git, branch: str, commit: str) -> None:
    """Give a checkout a branch with a commit of the repository `source`, whose parent it has.

    Its files, index and HEAD stay as they are. A branch of that name is replaced if its last commit
    is one of ours. Raises `GitError` when it is not, or when it is checked out.
    """
    name = f"refs/heads/{branch}"
    old = tip(git, branch)
    if old == commit:
        return
    if old and not is_ours(git, old):
        raise GitError(
            f"the branch {branch} exists, and its last commit is not one of ours; "
            "rename it, or name another with --branch"
        )
    if f"branch {name}" in git.word("worktree", "list", "--porcelain").split("\n"):
        raise GitError(f"the branch {branch} is checked out; switch to another")
    objects = source("rev-list", "--objects", "--no-object-names", commit, f"^{commit}^")
    pack = source("pack-objects", "-q", "--stdout", data=objects)
    git("unpack-objects", "-q", "--strict", data=pack)
    git("update-ref", name, commit, old or "0" * len(commit))


def tip(git: Git, branch: str) -> str:
    """Return the last commit of a branch, "" when there is no such branch."""
    try:
        return git.word("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")
    except GitError:
        return ""


def drop_branch(git: Git, branch: str, commit: str) -> bool:
    """Delete a branch if it still is at `commit`; return whether it is gone."""
    old = tip(git, branch)
    if old == commit:
        git("update-ref", "-d", f"refs/heads/{branch}", commit)
    return old in ("", commit)
