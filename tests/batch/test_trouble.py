"""What people with many repositories meet: each is one clear message, and nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from samedevice.batch import attempt, branches

from . import forge_server
from .test_again import BRANCH, batch, begin, records, root, there

__all__ = ["root", "there"]  # fixtures of that module


def test_a_branch_that_the_forge_protects(there: forge_server.Forge, tmp_path: Path) -> None:
    hook = tmp_path / "root/acme/one.git/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed.' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(AssertionError, match="1 failed, 0 held back"):
        begin(there, tmp_path)
    one = records(tmp_path)["one"]
    assert (one["outcome"], one["phase"], one["pushed"]) == ("failed", "commit", False)
    assert "GH006" in one["error"]
    assert one["error"].endswith("(the forge protects this branch; name another with --branch)")
    assert (tmp_path / "batch" / one["patch"]).is_file()  # what was made is kept
    assert [one.project for one in there.requests] == ["acme/two"]
    hook.unlink()
    batch(tmp_path, "retry", "--failed")
    again = records(tmp_path)["one"]
    assert again["outcome"] == "migrated" and again["reused"] == ["fix"]
    assert sorted(one.project for one in there.requests) == ["acme/one", "acme/two"]


def test_a_token_that_may_push_and_not_ask(there: forge_server.Forge, tmp_path: Path) -> None:
    def denied(when: str, what: str) -> Any:
        words = {"message": "Resource not accessible by personal access token"}
        return (403, {}, words) if what.startswith("POST") and "/one/pulls" in what else None

    there.trouble = denied
    with pytest.raises(AssertionError, match="1 failed, 0 held back"):
        begin(there, tmp_path)
    one = records(tmp_path)["one"]
    assert one["error"] == (
        "acme/one: GitHub says 403: Resource not accessible by personal access token "
        "(the token lacks a right for this; docs/batch-forges.md has those that it needs)"
    )
    assert one["pushed"] and BRANCH in there.branches["acme/one"]
    there.trouble = lambda when, what: None
    batch(tmp_path, "retry", "--failed")
    assert records(tmp_path)["one"]["pull_request"]["state"] == "open"
    assert len(there.requests) == 2


def test_a_worker_that_dies(
    there: forge_server.Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that fixes one repository is killed: the others are done, and it is told."""
    ask = attempt.Server.ask

    def killed(self: Any, place: Path, *more: Any) -> int | None:
        if "acme-one" in str(place):
            self.close()
            return -int(signal.SIGKILL)
        return ask(self, place, *more)

    with monkeypatch.context() as patch:
        patch.setattr(attempt.Server, "ask", killed)
        with pytest.raises(AssertionError, match="1 failed, 0 held back"):
            begin(there, tmp_path)
    one = records(tmp_path)["one"]
    assert one["error"].startswith("the fix was ended by signal 9, as when it needs more than")
    assert [one.project for one in there.requests] == ["acme/two"]
    batch(tmp_path, "retry", "--failed")
    assert len(there.requests) == 2


def test_one_that_a_person_worked_on_is_not_made_anew(
    there: forge_server.Forge, tmp_path: Path
) -> None:
    begin(there, tmp_path)
    from .test_fleet import pushed

    pushed(tmp_path, "one", BRANCH, "# mine\n")
    pushed(tmp_path, "one", "main", "import torch\n\nx = torch.ones(5).cuda()\n")
    before = there.branches["acme/one"][BRANCH]
    assert "0 requests to make anew" in batch(tmp_path, "update")
    assert "0 requests to make anew" in batch(tmp_path, "update", "--moved")
    with pytest.raises(AssertionError, match="1 failed"):
        batch(tmp_path, "again")  # it would push, and does not
    assert "its last commit is not one of ours" in records(tmp_path)["one"]["error"]
    assert there.branches["acme/one"][BRANCH] == before
    assert records(tmp_path)["one"]["pull_request"]["state"] == "open"


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("git push: remote: GH006: Protected branch update failed", "the forge protects"),
        ("git push: remote: GitLab: You are not allowed to push code to protected branches",
         "the forge protects"),
        ("git push: error: TF402455: Pushes to this branch are not permitted",
         "the forge protects"),
        ("git push: remote: Permission to acme/one.git denied to bot.", "the token may not push"),
        ("git push: fatal: unable to access: The requested URL returned error: 403",
         "the token may not push"),
        ("git push: fatal: Authentication failed for 'https://x'", "the token may not push"),
        ("git push: fatal: the remote end hung up", ""),
    ],
)  # fmt: skip
def test_what_a_remote_means(said: str, meaning: str) -> None:
    assert meaning in branches._hint(said)
    assert bool(branches._hint(said)) == bool(meaning)
    assert os.linesep not in branches._hint(said)
