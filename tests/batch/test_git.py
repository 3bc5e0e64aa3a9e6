"""git with real repositories, some of which mean harm."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from samedevice.batch import branches, git, trees
from samedevice.batch.git import Credentials, Git, GitError
from samedevice.batch.sandbox import Limits

from . import repositories

LIMITS = Limits(seconds=60, memory=1 << 30, disk=4 << 20)
AUTHOR = ("Ann", "ann@example.org")


def cloned(folder: Path, source: Path, ref: str = "", limits: Limits = LIMITS) -> Git:
    folder.mkdir()
    made = Git(folder, allow=("file",))
    git.clone(made, f"file://{source}", ref, limits)
    return made


def change(made: Git, files: dict[str, bytes], when: int = 1) -> str:
    head = git.head(made)
    tree = trees.changed_tree(made, head, files)
    return branches.commit(made, tree, head, f"ours\n\n{branches.TRAILER} 1\n", AUTHOR, when)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return repositories.make(tmp_path / "there", {"a.py": "x = 1\n", "package/b.py": "y\n"})


@pytest.mark.parametrize("what", ["", "main", "tag", "commit"])
def test_one_commit_is_fetched_by_any_name(there: Path, tmp_path: Path, what: str) -> None:
    old = repositories.git(there, "rev-parse", "HEAD")
    repositories.git(there, "tag", "tag")
    (there / "a.py").write_text("x = 2\n")
    new = repositories.commit(there)
    made = cloned(tmp_path / "clone", there, old if what == "commit" else what)
    assert git.head(made) == (old if what in ("commit", "tag") else new)
    assert made.word("rev-list", "--count", "HEAD") == "1"


def test_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    repositories.git(tmp_path / "empty", "init", "--quiet")
    assert git.head(cloned(tmp_path / "clone", tmp_path / "empty")) == ""


def test_a_large_pack_is_refused(there: Path, tmp_path: Path) -> None:
    (there / "noise").write_bytes(os.urandom(6 << 20))
    repositories.commit(there)
    with pytest.raises(GitError, match="more than 4194304 bytes"):
        cloned(tmp_path / "clone", there)


@pytest.mark.parametrize("ref", ["--upload-pack=touch", "a b", "a\nb"])
def test_a_ref_is_no_option(there: Path, tmp_path: Path, ref: str) -> None:
    with pytest.raises(GitError, match="no name of a branch"):
        cloned(tmp_path / "clone", there, ref)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ext::sh -c 'touch x'", "ext is not allowed and cannot be"),
        ("file:///x", "file is not allowed"),
        ("/x", "file is not allowed"),
        ("http://h/x", "http is not allowed"),
        ("--upload-pack=x", "no address"),
        ("https://h/x\n", "no address"),
        ("https://ann:secret@h/x", "take the password out"),
    ],
)
def test_sources_that_are_refused(source: str, said: str) -> None:
    with pytest.raises(GitError, match=said) as caught:
        git.check_source(source, git.PROTOCOLS)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("source", ["https://h/x", "ssh://git@h/x", "git@h:group/x.git"])
def test_sources_that_are_taken(source: str) -> None:
    assert git.check_source(source, git.PROTOCOLS) in git.PROTOCOLS


def test_git_itself_refuses_other_protocols(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "clone").mkdir()
    made = Git(tmp_path / "clone")
    with pytest.raises(GitError, match="not allowed"):
        git.clone(made, f"ext::sh -c 'touch {trap}'", "", LIMITS)
    assert not trap.exists()


def test_files_are_written_as_they_are_and_links_stay_inside(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    for name, leads_to in {
        "in": "package/b.py", "out": "/etc", "up": "../..", "chain": "out/passwd", "dead": "nowhere"
    }.items():  # fmt: skip
        (folder / name).symlink_to(leads_to)
    there = repositories.make(folder, {
        "package/b.py": b"a\r\nb\xff", "run.sh": "#!/bin/sh\n", ".gitattributes": "* text eol=lf\n"
    })  # fmt: skip
    repositories.git(there, "update-index", "--chmod=+x", "run.sh")
    repositories.git(there, "commit", "--quiet", "-m", "may run")
    made = cloned(tmp_path / "clone", there)
    left_out = trees.write_files(made, trees.tree(made, "HEAD"), tmp_path / "files")
    assert left_out == ["chain", "out", "up"]
    assert (tmp_path / "files" / "in").resolve() == tmp_path / "files" / "package" / "b.py"
    assert os.readlink(tmp_path / "files" / "dead") == "nowhere"
    assert os.access(tmp_path / "files" / "run.sh", os.X_OK)
    assert (tmp_path / "files" / "package" / "b.py").read_bytes() == repositories_bytes(there)


def repositories_bytes(there: Path) -> bytes:
    return subprocess.run(
        ["git", "show", "HEAD:package/b.py"], cwd=there, capture_output=True, check=True
    ).stdout


def test_a_patch_leads_to_the_same_tree_and_a_commit_is_the_same_twice(
    there: Path, tmp_path: Path
) -> None:
    made = cloned(tmp_path / "clone", there)
    head = git.head(made)
    files = {"a.py": b"x = 1\r\nno newline", "new/\xe9\n\"it's.py": b"\xff\n"}
    tree = trees.changed_tree(made, head, files)
    patch = trees.patch(made, head, tree)
    assert trees.patched_tree(made, head, patch) == tree
    assert trees.lines_changed(made, head, tree)["a.py"] == (2, 1)
    assert change(made, files) == change(made, files) != change(made, files, when=2)


@pytest.mark.parametrize("path", ["../x.py", "/x.py", ".git/config", "a/.GIT/x", "a//b"])
def test_a_path_that_leads_out_is_refused(there: Path, tmp_path: Path, path: str) -> None:
    made = cloned(tmp_path / "clone", there)
    with pytest.raises(GitError, match="path"):
        trees.changed_tree(made, "HEAD", {path: b""})


def test_a_checkout_gets_a_branch_and_nothing_else(there: Path, tmp_path: Path) -> None:
    made = cloned(tmp_path / "clone", there)
    here = branches.checkout(there)
    head = repositories.git(there, "rev-parse", "HEAD")
    index = (there / ".git" / "index").read_bytes()
    one, two = change(made, {"a.py": b"1\n"}), change(made, {"a.py": b"2\n"})
    for commit in (one, one, two):  # twice is once; ours may be replaced
        branches.add_branch(here, made, "ours/branch", commit)
        assert branches.tip(here, "ours/branch") == commit
    assert branches.uncommitted(here) == 0
    assert repositories.git(there, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert repositories.git(there, "rev-parse", "HEAD") == head
    assert (there / ".git" / "index").read_bytes() == index
    assert not branches.drop_branch(here, "ours/branch", one)
    assert branches.drop_branch(here, "ours/branch", two)
    assert branches.tip(here, "ours/branch") == ""


def test_a_branch_of_others_is_left_alone(there: Path, tmp_path: Path) -> None:
    made = cloned(tmp_path / "clone", there)
    with pytest.raises(GitError, match="not one of ours"):
        branches.add_branch(branches.checkout(there), made, "main", change(made, {"a.py": b"1\n"}))
    commit = change(made, {"a.py": b"1\n"})
    branches.add_branch(branches.checkout(there), made, "ours", commit)
    repositories.git(there, "switch", "--quiet", "ours")
    with pytest.raises(GitError, match="checked out"):
        branches.add_branch(branches.checkout(there), made, "ours", change(made, {"a.py": b"2\n"}))


def test_pushing_replaces_ours_only(there: Path, tmp_path: Path) -> None:
    repositories.git(tmp_path, "clone", "--quiet", "--bare", str(there), "remote")
    remote, url = tmp_path / "remote", f"file://{tmp_path / 'remote'}"
    made = cloned(tmp_path / "clone", remote)
    one, two = change(made, {"a.py": b"1\n"}), change(made, {"a.py": b"2\n"})
    for commit in (one, one, two):
        branches.push(made, url, "ours", commit)
        assert repositories.git(remote, "rev-parse", "ours") == commit
    with pytest.raises(GitError, match="not one of ours"):
        branches.push(made, url, "main", two)
    assert not branches.unpush(made, url, "ours", one)
    assert branches.unpush(made, url, "ours", two)
    assert branches.unpush(made, url, "ours", two)


def test_a_checkouts_own_settings_run_nothing(tmp_path: Path) -> None:
    trap = tmp_path / "outside" / "trap"
    trap.parent.mkdir()
    repositories.programs_in_its_settings(tmp_path / "there", trap)
    repositories.hooks(tmp_path / "hooks", trap)
    trap.unlink(missing_ok=True)  # what the user's own git ran while it was made
    here = branches.checkout(tmp_path / "there")
    assert branches.uncommitted(here) == 0
    made = cloned(tmp_path / "clone", tmp_path / "there")
    commit = change(made, {"main.py": b"1\n"})
    branches.add_branch(here, made, "ours", commit)
    beside = branches.beside(here, tmp_path / "beside", ("file",), git.NO_CREDENTIALS)
    assert branches.is_ours(beside, commit)
    assert not trap.exists()
    # The trap is one: git as a user has it does step into it.
    with contextlib.suppress(subprocess.CalledProcessError):
        repositories.git(tmp_path / "there", "status")
    assert trap.exists()


def test_tokens_are_in_no_argument_and_no_message(tmp_path: Path) -> None:
    secret = Credentials({"forge.example": ("oauth2", "t0ken")})
    made = Git(tmp_path, credentials=secret)
    told = made.environment()
    assert sum("extraHeader" in value for value in told.values()) == 1
    assert not any("t0ken" in value for value in told.values())  # it is encoded
    assert "t0ken" not in repr(secret) and "t0ken" not in repr(made)
    header = secret.settings()["http.https://forge.example/.extraHeader"]
    said = f"failed: https://ann:pw@forge.example/x with {header} or t0ken"
    assert secret.scrub(said).count("***") == 3
    assert "ann" not in secret.scrub(said)


def test_the_users_own_settings_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Somebody\n[core]\n\tpager = touch x\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert Git(tmp_path).word("config", "user.name") == "samedevice"
