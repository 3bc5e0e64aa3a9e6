"""Copies of projects: whole, and nothing of the user's is touched."""

import os
import subprocess
from pathlib import Path

import pytest

from samedevice.prove import workspace
from samedevice.prove.run import ProgramError

posix = pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path: (folder / path).read_text("utf-8") for path in sorted(workspace.files(folder))}


def test_folder(tmp_path: Path) -> None:
    files = {"main.py": "1", "package/a.py": "2", "data/x.txt": "3"}
    junk = {
        ".git/config": "",
        "__pycache__/main.pyc": "",
        "env/pyvenv.cfg": "",
        "env/lib/x.py": "",
        "node_modules/x": "",
    }
    folder = write(tmp_path / "project", {**files, **junk})
    workspace.copy(workspace.find("project", tmp_path), tmp_path / "copy")
    assert contents(tmp_path / "copy") == files
    assert not (tmp_path / "copy" / "env").exists()
    workspace.copy(workspace.find(folder, tmp_path), tmp_path / "less", exclude=["data", "pack*/*"])
    assert contents(tmp_path / "less") == {"main.py": "1"}


@posix
def test_links(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"set/x.txt": "x", "one.txt": "1"})
    folder = write(tmp_path / "project", {"main.py": "", "real/a.txt": "a"})
    (folder / "inner").symlink_to("real")
    (folder / "absolute").symlink_to(folder / "real")
    (folder / "data").symlink_to(outside / "set")
    (folder / "one.txt").symlink_to(outside / "one.txt")
    (folder / "dead").symlink_to("/no/such/file")
    (outside / "set" / "around").symlink_to(outside / "set")
    (folder / "self").symlink_to(".")
    os.mkfifo(folder / "pipe")
    copy = tmp_path / "copy"
    workspace.copy(workspace.find("project", tmp_path), copy)
    (copy / "data" / "x.txt").write_text("changed", "utf-8")
    (copy / "one.txt").write_text("changed", "utf-8")
    (copy / "inner" / "a.txt").write_text("changed", "utf-8")
    (copy / "absolute" / "b.txt").write_text("new", "utf-8")
    assert (outside / "set" / "x.txt").read_text("utf-8") == "x"
    assert (outside / "one.txt").read_text("utf-8") == "1"
    assert (folder / "real" / "a.txt").read_text("utf-8") == "a"
    assert not (folder / "real" / "b.txt").exists()
    assert (copy / "real" / "a.txt").read_text("utf-8") == "changed"
    assert (copy / "dead").is_symlink() and not (copy / "pipe").exists()


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "COPY_LIMIT", 10)
    write(tmp_path / "project", {"a": "123456", "b": "123456"})
    with pytest.raises(ProgramError, match="--exclude"):
        workspace.copy(workspace.find("project", tmp_path), tmp_path / "copy")
    workspace.copy(workspace.find("project", tmp_path), tmp_path / "other", exclude=["b"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_unreadable(tmp_path: Path) -> None:
    folder = write(tmp_path / "project", {"a.py": ""})
    (folder / "a.py").chmod(0)
    with pytest.raises(ProgramError, match="a.py"):
        workspace.copy(workspace.find("project", tmp_path), tmp_path / "copy")


def test_replaced_files(tmp_path: Path) -> None:
    from dataclasses import replace

    write(tmp_path / "project", {"a.py": "1", "b.py": "2"})
    origin = workspace.find("project", tmp_path)
    changed = replace(origin, replaced={"a.py": b"new", "package/device.py": b"x"})
    workspace.copy(changed, tmp_path / "copy")
    assert contents(tmp_path / "copy") == {"a.py": "new", "b.py": "2", "package/device.py": "x"}
    assert contents(tmp_path / "project") == {"a.py": "1", "b.py": "2"}


def test_nothing_of_that_name(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="nowhere: no file, folder or git revision"):
        workspace.find("nowhere", tmp_path)


# Revisions


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = write(tmp_path / "repository", {"main.py": "old", "sub/inner.py": "old", "sub/x": "x"})

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)

    try:
        git("init", "-q")
    except FileNotFoundError:
        pytest.skip("needs git")
    git("config", "user.email", "test@example.org")
    git("config", "user.name", "test")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    write(folder, {"main.py": "new", "sub/inner.py": "new", "untracked.txt": "u"})
    git("add", "main.py")
    return folder


def status(folder: Path) -> str:
    command = ["git", "status", "--porcelain"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def test_revision(repository: Path, tmp_path: Path) -> None:
    before = status(repository)
    index = (repository / ".git" / "index").read_bytes()
    workspace.copy(workspace.find("HEAD", repository), tmp_path / "copy")
    assert contents(tmp_path / "copy") == {"main.py": "old", "sub/inner.py": "old", "sub/x": "x"}
    assert (repository / ".git" / "index").read_bytes() == index
    assert status(repository) == before
    assert contents(repository)["main.py"] == "new"


def test_revision_seen_from_a_folder(repository: Path, tmp_path: Path) -> None:
    origin = workspace.find("HEAD", repository / "sub")
    assert origin.name == "sub"
    workspace.copy(origin, tmp_path / "copy")
    assert contents(tmp_path / "copy") == {"inner.py": "old", "x": "x"}


def test_a_file_goes_before_a_revision(repository: Path) -> None:
    write(repository, {"HEAD": "a file"})
    assert workspace.find("HEAD", repository).file is not None
