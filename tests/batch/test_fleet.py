"""What becomes of requests: looked at, merged, closed; all over HTTP, with real merges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from samedevice.batch.record import PullRequest, Record, Repository
from samedevice.batch.standing import CHECKS, REVIEW, STANDINGS, counts, obstacle, standing
from samedevice.cli import app

from . import forge_server
from .forge_server import TOKEN, served
from .repositories import FIXABLE, commit, git, make
from .test_forge import LIBRARIES

BRANCH = "samedevice/one-device"


def batch(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run `samedevice batch` and return everything that it said."""
    done = CliRunner().invoke(app, ["batch", *arguments, "--folder", str(folder / "batch")])
    assert done.exit_code == code, done.output
    assert TOKEN not in done.output
    return done.output


def pushed(folder: Path, name: str, branch: str, text: str) -> None:
    """Have somebody push a commit with this train.py to a branch at the forge."""
    there, here = str(folder / f"root/acme/{name}.git"), folder / name
    git(here, "fetch", "-q", there, branch)
    git(here, "checkout", "-q", "FETCH_HEAD")
    (here / "train.py").write_text(text)
    commit(here, "somebody's")
    git(here, "push", "-q", there, f"HEAD:refs/heads/{branch}")


@pytest.fixture(params=LIBRARIES)
def kind(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(LIBRARIES[request.param], reason=f"needs samedevice[{request.param}]")
    return str(request.param)


@pytest.fixture
def there(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[forge_server.Forge]:
    """A forge with four repositories, and a batch that has asked for all of them."""
    monkeypatch.setenv("BATCH_TOKEN", TOKEN)
    monkeypatch.setenv("AZURE_DEVOPS_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("one", "two", "three", "four"):
        # With the same files two commits of one second would be one commit.
        make(tmp_path / name, {"train.py": FIXABLE, "NAME": name})
        (tmp_path / "root" / "acme").mkdir(parents=True, exist_ok=True)
        git(tmp_path, "clone", "-q", "--bare", name, f"root/acme/{name}.git")
    with served(kind) as state:
        state.serve(tmp_path / "root")
        begin = ("run", f"{kind}:acme", "--api", state.url, "--token-env", "BATCH_TOKEN")
        batch(tmp_path, *begin, "--allow", "http", "--pull-request")
        assert len(state.requests) == 4
        yield state


def test_from_open_to_merged_and_closed(there: forge_server.Forge, tmp_path: Path) -> None:
    by_name = {one.project.partition("/")[2]: one for one in there.requests}
    by_name["one"].checks = {"ci/tests": "passed"}
    by_name["one"].reviews = {"ann": "approved"}
    by_name["two"].checks = {"ci/tests": "failed"}
    pushed(tmp_path, "three", "main", "import torch\n\nx = torch.ones(3)\n")
    pushed(tmp_path, "four", BRANCH, "# reviewed\n")

    told = json.loads(batch(tmp_path, "requests", "--json").partition("\n")[0])
    assert {one["repository"]: one["standing"] for one in told["requests"]} == {
        "acme/one": "ready", "acme/two": "failing",
        "acme/three": "conflicts", "acme/four": "touched",
    }  # fmt: skip
    assert told["counts"] == {"ready": 1, "failing": 1, "conflicts": 1, "touched": 1}
    there.trouble = lambda when, what: (500, {}, {"message": "it is down"})
    assert "failing" in batch(tmp_path, "requests", "--kept")  # as it was told
    there.trouble = lambda when, what: None

    said = batch(tmp_path, "merge", "--yes", "--method", "squash", code=1)
    assert "acme/two: a check fails" in said
    assert "acme/three: conflicts with its target" in said
    assert "acme/four: somebody added commits to its branch" in said
    assert "1 merged or closed, 3 not" in said
    assert [one.state for one in by_name.values()].count("merged") == 1
    assert "cuda()" not in git(tmp_path / "root/acme/one.git", "show", "main:train.py")
    batch(tmp_path, "merge", "--yes", "--without-checks", "acme/two")
    assert by_name["two"].state == "merged"

    said = batch(tmp_path, "close", "--yes", code=1)
    assert "acme/four: " in said and "not this run's" in said
    assert "1 closed, 1 not" in said
    assert (by_name["three"].state, by_name["four"].state) == ("closed", "open")
    assert BRANCH not in there.branches["acme/three"]
    batch(tmp_path, "resume", "--pull-request")
    assert by_name["three"].state == "closed" and len(there.requests) == 4  # a no is a no

    by_name["four"].state = "closed"
    assert "2 merged, 2 closed" in batch(tmp_path, "requests")
    assert "no request is open" in batch(tmp_path, "merge", "--yes")
    assert "'acme/none' has no attempt" in batch(tmp_path, "requests", "acme/none", code=2)


@pytest.mark.parametrize("kind", ["github"], indirect=True)
def test_a_forge_that_does_not_answer_costs_nothing(
    there: forge_server.Forge, tmp_path: Path
) -> None:
    batch(tmp_path, "requests")

    def trouble(when: str, what: str) -> object:
        denied = (403, {}, {"message": "Resource not accessible by personal access token"})
        return denied if "two" in what else None

    there.trouble = trouble  # type: ignore[assignment]
    said = batch(tmp_path, "requests", code=1)
    assert "acme/two" in said and "the token lacks a right for this" in said
    assert "4 requests: 4 ready" in said  # what was known of it stays
    said = batch(tmp_path, "merge", "--yes", code=1)
    assert "acme/two: " in said and "3 merged or closed, 1 not" in said
    assert sorted(one.state for one in there.requests) == ["merged", "merged", "merged", "open"]


def record(**request: object) -> Record:
    told = {"checks": "passed", "review": "approved", "merge": "ready", "head": "c", **request}
    return Record(
        Repository("a", "https://x.test/a"), commit="c", pull_request=PullRequest("u", 1, **told)
    )


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({}, "ready"),
        ({"checks": "none", "review": "none"}, "ready"),
        ({"state": "merged", "merge": "conflicts"}, "merged"),
        ({"state": "closed"}, "closed"),
        ({"head": "d", "draft": True}, "touched"),
        ({"draft": True, "checks": "failed"}, "draft"),
        ({"merge": "conflicts", "checks": "failed"}, "conflicts"),
        ({"checks": "failed", "review": "changes"}, "failing"),
        ({"checks": "running", "review": "changes"}, "changes"),
        ({"checks": "running", "review": "wanted"}, "running"),
        ({"review": "wanted", "merge": "blocked"}, "review"),
        ({"merge": "behind"}, "behind"),
        ({"merge": "blocked"}, "blocked"),
        ({"merge": "unknown"}, "unknown"),
        ({"merge": "", "checks": "", "review": ""}, "open"),
    ],
)
def test_the_word_for_it(request_: dict[str, object], word: str) -> None:
    one = record(**request_)
    assert standing(one) == word
    assert counts([one]) == {word: 1}
    assert word in STANDINGS


def test_what_is_passed_over_and_what_never_is() -> None:
    assert obstacle(record()) == ""
    failing = record(checks="failed", review="wanted")
    assert "check" in obstacle(failing)
    assert "review" in obstacle(failing, CHECKS)
    assert obstacle(failing, (*CHECKS, *REVIEW)) == ""
    assert "conflicts" in obstacle(record(merge="conflicts", checks="failed"), CHECKS)
    why = obstacle(record(merge="blocked", why="discussions not resolved"))
    assert why.endswith(": discussions not resolved")


def test_no_request_stands_nowhere() -> None:
    nothing = Record(Repository("a", "https://x.test/a"))
    assert standing(nothing) == "" and counts([nothing]) == {}
