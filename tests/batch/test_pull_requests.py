"""A whole batch against a forge: list, clone, fix, push, ask, update, roll back. All over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("github", reason="needs samedevice[github]")
pytest.importorskip("gitlab", reason="needs samedevice[gitlab]")

from typer.testing import CliRunner

from samedevice.batch import state
from samedevice.cli import app

from . import forge_server
from .forge_server import TOKEN, served
from .repositories import FIXABLE, commit, git, make

BRANCH = "samedevice/one-device"


@pytest.fixture
def there(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[forge_server.Forge]:
    """A forge with an organisation of three repositories, one of which needs nothing."""
    monkeypatch.setenv("BATCH_TOKEN", TOKEN)
    for name in ("one", "two", "clean"):
        text = "x = 1\n" if name == "clean" else FIXABLE
        make(tmp_path / name, {"train.py": text})
        (tmp_path / "root" / "acme").mkdir(parents=True, exist_ok=True)
        git(tmp_path, "clone", "-q", "--bare", name, f"root/acme/{name}.git")
    with served(request.param) as state:
        state.serve(tmp_path / "root")
        yield state


def batch(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run `samedevice batch` and return everything that it said."""
    done = CliRunner().invoke(app, ["batch", *arguments, "--folder", str(folder / "batch")])
    assert done.exit_code == code, done.output
    assert TOKEN not in done.output
    return done.output


def forget_the_answer(folder: Path, name: str) -> None:
    """Leave a batch as one that was killed between asking and keeping the answer."""
    with state.open_(folder) as kept:
        (record,) = [one for one in kept.records() if one.repository.name == name]
        record.pull_request = None
        kept.lock()
        kept.save(record)


@pytest.mark.parametrize("there", ["github", "gitlab"], indirect=True)
def test_from_the_list_to_the_requests_and_back(
    there: forge_server.Forge, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kind = request.node.callspec.params["there"]
    begin = ("run", f"{kind}:acme", "--api", there.url, "--token-env", "BATCH_TOKEN")
    batch(tmp_path, *begin, "--allow", "http", "-j", "2")
    assert there.requests == []  # nothing leaves the machine unless it is asked to
    assert BRANCH not in there.branches["acme/one"]

    batch(tmp_path, "resume", "--pull-request")
    assert sorted(one.project for one in there.requests) == ["acme/one", "acme/two"]
    for one in there.requests:
        assert (one.head, one.base, one.state) == (BRANCH, "main", "open")
        assert "| hard-coded-device | 1 | 1 | 0 |" in one.body
        changed = git(tmp_path / "root" / f"{one.project}.git", "show", f"{BRANCH}:train.py")
        assert "cuda()" not in changed
    records = {
        record["repository"]["name"]: record
        for record in map(json.loads, batch(tmp_path, "records").splitlines())
    }
    assert {name: record["outcome"] for name, record in records.items()} == {
        "acme/one": "migrated", "acme/two": "migrated", "acme/clean": "unchanged"
    }  # fmt: skip
    for one in there.requests:
        assert records[one.project]["pull_request"]["number"] == one.number
        assert records[one.project]["commit"] == there.branches[one.project][BRANCH]

    batch(tmp_path, "resume", "--pull-request")
    assert len(there.requests) == 2  # never a second

    git(tmp_path / "two", "fetch", "-q", str(tmp_path / "root/acme/two.git"), BRANCH)
    git(tmp_path / "two", "checkout", "-q", "FETCH_HEAD")
    (tmp_path / "two" / "train.py").write_text("# reviewed\n")
    commit(tmp_path / "two", "a review")
    where = str(tmp_path / "root/acme/two.git")
    git(tmp_path / "two", "push", "-q", where, f"HEAD:refs/heads/{BRANCH}")
    forget_the_answer(tmp_path / "batch", "acme/one")
    said = batch(tmp_path, "rollback", "--yes", code=1)
    assert "acme/two" in said
    states = {one.project: one.state for one in there.requests}
    assert states == {"acme/one": "closed", "acme/two": "open"}  # not with somebody's work in it
    assert BRANCH not in there.branches["acme/one"]
    assert BRANCH in there.branches["acme/two"]

    for path in (tmp_path / "batch").rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
