"""Commits of a batch, and the branches that it makes, pushes and takes back.

A branch is replaced or deleted only where its last commit was made by a batch.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from ..outside import git as outside
from .git import Credentials, Git, GitError

TRAILER = "Migrated-by: samedevice"
"""Starts the last line of a batch's commit messages, by which a later run knows them."""


_REFUSALS = {
    ("protected branch", "gh006", "gh013", "pre-receive hook declined", "tf402455"): (
        "the forge protects this branch; name another with --branch"
    ),
    ("403", "401", "permission", "denied", "not allowed to push", "authentication failed"): (
        "the token may not push there; give it that right, or use --fork"
    ),
}
"""Parts of what GitHub, GitLab, Gitea, Bitbucket and Azure DevOps say, and what is to be done."""


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
    # It has no time limit: a git that is killed would leave a lock in the user's repository.
    return Git(folder, allow=("file",), settings=off, marked=False)


def beside(checkout: Git, folder: Path, allow: Collection[str], credentials: Credentials) -> Git:
    """Return git in a new folder that has all commits of a checkout and none of its settings.

    What uses the network is done from there: settings of a checkout could lead it elsewhere.
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


def push(git: Git, url: str, branch: str, commit: str, *, whole: str = "") -> None:
    """Give a remote repository a branch; it is no error if it has it already.

    A branch of that name is replaced if its last commit is one of ours and nobody pushes at the
    same time. Raises `GitError` when it is not. `whole` is where the whole history is, for a remote
    that lacks what the branch stands on: a fork that is behind.
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
    give = ("push", "--quiet", "--no-verify", lease, "--", url, f"{commit}:{name}")
    try:
        git(*give, seconds=600.0)
    except GitError as error:
        if not whole or "shallow update not allowed" not in str(error):
            raise GitError(f"{error}{_hint(str(error))}") from None
        parent = git.word("rev-parse", f"{commit}^")
        git("fetch", "--quiet", "--no-tags", "--unshallow", "--", whole, parent, seconds=600.0)
        git(*give, seconds=600.0)


def _hint(said: str) -> str:
    """Return what a remote's refusal means, where its words are known."""
    for words, meaning in _REFUSALS.items():
        if any(word in said.lower() for word in words):
            return f" ({meaning})"
    return ""


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
