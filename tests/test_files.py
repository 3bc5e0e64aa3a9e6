import os
from pathlib import Path

import pytest

from samedevice.reading import files
from samedevice.reading.patterns import Matching


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("x = 1\n")


def found(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    result = files.find(paths or ["."], [Matching(os.getcwd(), exclude)])
    assert result.errors == []
    return result.paths


def test_python_files_and_notebooks_in_order() -> None:
    make("b.py", "a/z.py", "a/n.ipynb", "a/data.txt", "c.pyi")
    assert found() == ["a/n.ipynb", "a/z.py", "b.py"]
    assert found("a") == ["a/n.ipynb", "a/z.py"]


def test_a_file_is_taken_once_however_it_is_named() -> None:
    make("a/x.py")
    assert found("a/x.py", "a", "./a/../a/x.py") == ["a/x.py"]


def test_a_named_file_needs_no_suffix() -> None:
    make("train")
    assert found("train") == ["train"]


def test_environments_caches_and_hidden_folders_are_left_out() -> None:
    make(
        "keep.py",
        ".git/hook.py",
        ".ipynb_checkpoints/a.ipynb",
        "__pycache__/b.py",
        "node_modules/c.py",
        "env/lib/d.py",
        "env/pyvenv.cfg",
    )
    assert found() == ["keep.py"]
    assert found("env/lib") == ["env/lib/d.py"]


def test_gitignore_as_git_reads_it() -> None:
    make("a.py", "build/b.py", "src/build.py", "src/gen_x.py", "src/gen_keep.py", "src/sub/no.py")
    Path(".gitignore").write_text("build/\ngen_*.py\n/src/sub/no.py\n")
    Path("src/.gitignore").write_text("!gen_keep.py\n")
    assert found() == ["a.py", "src/build.py", "src/gen_keep.py"]


def test_gitignore_of_the_repository_holds_below_it_only_inside_a_repository() -> None:
    make("src/a.py", "src/gen.py")
    Path(".gitignore").write_text("gen.py\n")
    assert found("src") == ["src/a.py", "src/gen.py"]
    Path(".git/info").mkdir(parents=True)
    assert found("src") == ["src/a.py"]
    Path(".git/info/exclude").write_text("a.py\n")
    assert found("src") == []


def test_what_is_named_is_read_though_git_ignores_it() -> None:
    make(".git/config", "out/a.py", "out/b.py")
    Path(".gitignore").write_text("out/\n")
    assert found() == []
    assert found("out") == ["out/a.py", "out/b.py"]
    assert found("out/a.py") == ["out/a.py"]


def test_exclude_holds_for_named_files_too() -> None:
    make("a.py", "old/b.py", "old/deep/c.py")
    assert found(exclude=("old/",)) == ["a.py"]
    assert found("old/deep/c.py", "a.py", exclude=("old/",)) == ["a.py"]
    assert found("old", exclude=("/old/deep",)) == ["old/b.py"]


def test_links_are_not_followed_out_of_the_given_folder() -> None:
    make("inside/a.py", "outside/b.py")
    Path("inside/link.py").symlink_to("../outside/b.py")
    Path("inside/folder").symlink_to("../outside")
    Path("inside/dangling.py").symlink_to("nowhere.py")
    assert found("inside") == ["inside/a.py"]
    assert found("inside/link.py") == ["inside/link.py"]


@pytest.mark.parametrize("target", [".", "..", "loop.py"])
def test_a_link_that_leads_back_is_one_error(target: str) -> None:
    make("a/x.py", "a/y.py")
    Path("a/loop.py").symlink_to(target)
    result = files.find(["."])
    assert result.paths == ["a/x.py", "a/y.py"]
    assert [str(error) for error in result.errors] == ["a/loop.py: this link leads back to itself"]


def test_a_huge_file_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    make("a.py", "b.py")
    monkeypatch.setattr(files, "LARGEST", 1000)
    Path("b.py").write_text("#" * 2_000_000)
    result = files.find(["."])
    assert result.paths == ["a.py"]
    assert [str(error) for error in result.errors] == [
        "b.py: too large to be code (2 MB); leave it out with --exclude"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_one_error() -> None:
    make("a.py", "shut/b.py")
    Path("shut").chmod(0)
    try:
        result = files.find(["."])
    finally:
        Path("shut").chmod(0o755)
    assert result.paths == ["a.py"]
    assert [str(error) for error in result.errors] == ["shut: cannot be read: Permission denied"]
