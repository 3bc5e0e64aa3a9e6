"""Batches that run again: results that still hold are taken over, requests follow their targets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from samedevice.batch import attempt
from samedevice.cli import app

from . import forge_server
from .forge_server import TOKEN, served
from .repositories import FIXABLE, commit, git, make

BRANCH = "samedevice/one-device"


def batch(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run `samedevice batch` and return everything that it said."""
    done = CliRunner().invoke(app, ["batch", *arguments, "--folder", str(folder / "batch")])
    assert done.exit_code == code, done.output
    assert TOKEN not in done.output
    return done.output


def records(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the latest records by the last part of their names."""
    lines = batch(folder, "records").splitlines()
    found = map(json.loads, lines)
    return {Path(one["repository"]["name"]).name.removesuffix(".git"): one for one in found}


def pushed(folder: Path, name: str, files: dict[str, str]) -> str:
    """Have somebody push a commit with these files to the default branch; return the commit."""
    here, there = folder / name, str(folder / f"root/acme/{name}.git")
    for path, text in files.items():
        (here / path).write_text(text)
    commit(here, "somebody's")
    git(here, "push", "-q", there, "HEAD:refs/heads/main")
    return git(here, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three bare repositories."""
    for name in ("one", "two", "clean"):
        text = "x = 1\n" if name == "clean" else FIXABLE
        make(tmp_path / name, {"train.py": text, "README": "one\n"})
        (tmp_path / "root" / "acme").mkdir(parents=True, exist_ok=True)
        git(tmp_path, "clone", "-q", "--bare", name, f"root/acme/{name}.git")
    return tmp_path / "root"


def test_what_depends_on_nothing_that_changed_is_taken_over(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = ("--proof", "python -c pass")
    batch(tmp_path, "run", str(root), *proof)
    first = records(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(attempt, "fix", None)  # neither must be called
        patch.setattr(attempt, "prove", None)
        batch(tmp_path, "again")
    second = records(tmp_path)
    for name, record in second.items():
        assert (record["attempt"], record["run"]) == (2, 2)
        same = ("outcome", "reason", "commit", "found", "fixed", "patch", "proof", "changed", "map")
        assert {key: record[key] for key in same} == {key: first[name][key] for key in same}
    assert second["one"]["reused"] == ["fix", "prove"]
    assert second["clean"]["reused"] == ["fix"]

    policy = tmp_path / "policy.toml"
    policy.write_text('title = "Another"\nproof = "python -c pass"\n')
    with monkeypatch.context() as patch:
        patch.setattr(attempt, "fix", None)
        batch(tmp_path, "again", "--policy", str(policy))
    third = records(tmp_path)["one"]
    assert third["commit"] != first["one"]["commit"] and third["reused"] == ["fix", "prove"]

    policy.write_text('max-lines = 1\nproof = "python -c 1"\n')  # another proof, and a bound
    assert "2 held back" in batch(tmp_path, "again", "--policy", str(policy), code=1)
    assert records(tmp_path)["one"]["reused"] == ["fix"]

    policy.write_text('select = ["legacy-autograd"]\n')  # another fix
    batch(tmp_path, "again", "--policy", str(policy))
    last = records(tmp_path)
    assert all(record["reused"] == [] for record in last.values())
    assert last["one"]["outcome"] == "unchanged" and last["one"]["run"] == 5


def test_a_target_that_moved_where_the_fix_does_not_look(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch(tmp_path, "run", str(root), "--push")
    before = records(tmp_path)["one"]
    base = pushed(tmp_path, "one", {"README": "two\n"})
    with monkeypatch.context() as patch:
        patch.setattr(attempt, "fix", None)
        batch(tmp_path, "again", "--push")
    after = records(tmp_path)["one"]
    assert (after["base_commit"], after["patch"]) == (base, before["patch"])
    assert after["reused"] == ["fix"] and after["commit"] != before["commit"]
    there = tmp_path / "root/acme/one.git"
    assert git(there, "rev-parse", BRANCH).strip() == after["commit"]
    assert git(there, "rev-parse", f"{BRANCH}^").strip() == base
    base = pushed(tmp_path, "one", {"other.py": "y = 2\n"})
    batch(tmp_path, "again", "--push")
    assert records(tmp_path)["one"]["reused"] == []  # it reads all Python files


def test_one_that_was_killed_in_between_goes_on(root: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(root))
    from samedevice.batch import state

    with state.open_(tmp_path / "batch") as kept:
        kept.set("campaign", (2, "2999-01-01T00:00:00+00:00"))
        assert kept.counts()["waiting"] == 3  # those of the run before count as not done
        kept.set("campaign", (2, "2001-01-01T00:00:00+00:00"))
    batch(tmp_path, "resume")
    assert {(one["run"], one["attempt"]) for one in records(tmp_path).values()} == {(2, 2)}
    batch(tmp_path, "resume")
    assert {(one["run"], one["attempt"]) for one in records(tmp_path).values()} == {(2, 2)}


def test_what_is_new_on_the_list_is_added(root: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(root))
    make(tmp_path / "new", {"train.py": FIXABLE})
    git(tmp_path, "clone", "-q", "--bare", "new", "root/acme/new.git")
    batch(tmp_path, "again", str(root))
    found = records(tmp_path)
    assert sorted(found) == ["clean", "new", "one", "two"]
    assert (found["new"]["attempt"], found["new"]["run"]) == (1, 2)


# at a forge


@pytest.fixture
def there(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[forge_server.Forge]:
    pytest.importorskip("github", reason="needs samedevice[github]")
    monkeypatch.setenv("BATCH_TOKEN", TOKEN)
    with served("github") as state:
        state.serve(root)
        yield state


def begin(there: forge_server.Forge, tmp_path: Path, *more: str) -> str:
    where = ("github:acme", "--api", there.url, "--token-env", "BATCH_TOKEN", "--allow", "http")
    return batch(tmp_path, "run", *where, "--pull-request", *more)


def test_a_change_is_made_anew_where_its_target_moved(
    there: forge_server.Forge, tmp_path: Path
) -> None:
    begin(there, tmp_path)
    numbers = {one.project: one.number for one in there.requests}
    moved = "import torch\n\nx = torch.ones(5).cuda()\n"
    pushed(tmp_path, "one", {"train.py": moved})
    said = batch(tmp_path, "update")
    assert "1 request to make anew" in said
    (one,) = there.of("acme/one", BRANCH)
    assert (one.state, one.number) == ("open", numbers["acme/one"])  # the same request
    made = git(tmp_path / "root/acme/one.git", "show", f"{BRANCH}:train.py")
    assert "torch.ones(5" in made and ".cuda()" not in made
    assert "What changed, and why" in one.body
    assert "2 ready" in batch(tmp_path, "requests")
    assert records(tmp_path)["two"]["attempt"] == 1  # nothing was in its way

    pushed(tmp_path, "two", {"README": "two\n"})
    assert "0 requests to make anew" in batch(tmp_path, "update")
    assert "1 request to make anew" in batch(tmp_path, "update", "--moved")
    assert records(tmp_path)["two"]["reused"] == ["fix"]

    pushed(tmp_path, "two", {"train.py": "x = 1\n"})  # somebody did it
    batch(tmp_path, "update")
    record = records(tmp_path)["two"]
    assert record["outcome"] == "unchanged" and record["pull_request"]["state"] == "closed"
    assert "nothing is left to change" in record["notes"][-1]
    assert BRANCH not in there.branches["acme/two"]
    assert len(there.requests) == 2


def test_from_forks(there: forge_server.Forge, tmp_path: Path) -> None:
    there.fork("acme/one", "robots")
    pushed(tmp_path, "one", {"README": "two\n"})  # so the fork is behind
    begin(there, tmp_path, "--fork", "--fork-owner", "robots")
    assert sorted((one.project, one.home) for one in there.requests) == [
        ("acme/one", "robots/one"), ("acme/two", "robots/two")
    ]  # fmt: skip
    assert BRANCH not in there.branches["acme/one"]
    assert "2 ready" in batch(tmp_path, "requests")
    pushed(tmp_path, "one", {"train.py": FIXABLE + "y = 2\n"})
    batch(tmp_path, "update", "--moved")
    assert "1 merged or closed, 0 not" in batch(tmp_path, "merge", "--yes", "acme/one")
    batch(tmp_path, "rollback", "--yes", "acme/two")
    assert BRANCH not in there.branches["robots/two"]
    states = {one.project: one.state for one in there.requests}  # they are opened side by side
    assert states == {"acme/one": "merged", "acme/two": "closed"}


def test_requests_leave_as_the_rollout_says(there: forge_server.Forge, tmp_path: Path) -> None:
    make(tmp_path / "owned", {"train.py": FIXABLE, "CODEOWNERS": "* @acme/vision\n"})
    git(tmp_path, "clone", "-q", "--bare", "owned", "root/acme/owned.git")
    there.serve(tmp_path / "root")
    policy = tmp_path / "policy.toml"
    policy.write_text("[rollout]\nopen-per-team = 1\n")
    said = begin(there, tmp_path, "--policy", str(policy))
    assert "1 request not opened yet: acme has 1 open request, as many as a team may have" in said
    assert sorted(one.project for one in there.requests) == ["acme/one", "acme/owned"]
    waiting = records(tmp_path)["two"]
    assert waiting["outcome"] == "migrated" and not waiting["pushed"] and waiting["waits"]
    assert BRANCH not in there.branches["acme/two"]
    batch(tmp_path, "resume")
    assert len(there.requests) == 2
    there.of("acme/one", BRANCH)[0].state = "merged"  # by a person
    batch(tmp_path, "resume")
    assert [one.project for one in there.requests][2:] == ["acme/two"]
    assert records(tmp_path)["two"]["waits"] == ""
