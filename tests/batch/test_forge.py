"""Pull requests through the real client libraries, over HTTP, at forges with memory."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samedevice.batch import forge, forges
from samedevice.batch.forge import ForgeError, Request
from samedevice.batch.record import PullRequest, Record, Repository

from . import forge_server, forge_server_github
from .forge_server import TOKEN, served

BRANCH = "samedevice/migration"
ASKED = Request("Follow one device", "What changed: **all**")


LIBRARIES = {
    "github": "github", "gitlab": "gitlab", "gitea": "pyforgejo",
    "bitbucket": "atlassian.bitbucket", "azure": "azure.devops",
}  # fmt: skip
PATHS = {"github": "/", "gitlab": "/api/v4/", "gitea": "/api/v1/"}  # others: none


@pytest.fixture(params=LIBRARIES)
def kind(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(LIBRARIES[request.param], reason=f"needs samedevice[{request.param}]")
    return str(request.param)


@pytest.fixture
def there(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[forge_server.Forge]:
    """The forge as its users see it."""
    for names in forges.KINDS.values():
        for name in (*names.variables, *(names.own or ())):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BATCH_TOKEN", TOKEN)
    monkeypatch.setenv("AZURE_DEVOPS_CACHE_DIR", str(tmp_path / "cache"))
    with served(kind) as state:
        branches = {"main": "a" * 40, "dev": "b" * 40, BRANCH: "c" * 40}
        state.branches = {"acme/one": dict(branches), "acme/two": dict(branches)}
        yield state


@pytest.fixture
def ours(kind: str, there: forge_server.Forge, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The forge as a batch sees it."""
    found: Any = forges.connect(kind, api_of(kind, there), "BATCH_TOKEN")
    if kind == "github":  # the pauses that GitHub asks for, and a test does not need
        requester = found._client.requester
        requester._Requester__seconds_between_requests = 0
        requester._Requester__seconds_between_writes = 0
    return found


def api_of(kind: str, there: forge_server.Forge) -> str:
    return there.url + PATHS.get(kind, "")


def record(name: str = "acme/one", branch: str = BRANCH) -> Record:
    repository = Repository(name, "https://forge.test/x.git", forge="x", project=name)
    return Record(repository, branch=branch, commit="c" * 40, base_branch="main")


def test_opened_once_then_brought_up_to_date(ours: Any, there: forge_server.Forge) -> None:
    first = ours.open_or_update(record(), ASKED)
    (made,) = there.requests
    assert first == PullRequest(first.url, made.number, "open")
    assert first.url.startswith(there.url)
    assert (made.head, made.base, made.title) == (BRANCH, "main", ASKED.title)
    assert made.body == forge.wrapped(ASKED.body)
    made.title, made.body = "JIRA-1", f"Dear all\n\n{made.body}\n\nSee you"
    again = ours.open_or_update(record(), Request("Another title", "What changed: *more*"))
    assert again == first
    assert there.requests == [made]
    assert made.title == "JIRA-1"
    assert made.body == f"Dear all\n\n{forge.wrapped('What changed: *more*')}\n\nSee you"


def test_nothing_is_written_where_nothing_changed(ours: Any, there: forge_server.Forge) -> None:
    asked = Request("t", "b", labels=("torch",), reviewers=("ann",))
    ours.open_or_update(record(), asked)
    there.log.clear()
    ours.open_or_update(record(), asked)
    assert {line.partition(" ")[0] for line in there.log} == {"GET"}


def test_one_for_each_repository_and_branch(ours: Any, there: forge_server.Forge) -> None:
    there.branches["acme/one"]["other"] = "d" * 40
    for one in (record(), record("acme/two"), record(branch="other"), record("acme/two")):
        ours.open_or_update(one, ASKED)
    assert [(one.project, one.head) for one in there.requests] == [
        ("acme/one", BRANCH),
        ("acme/two", BRANCH),
        ("acme/one", "other"),
    ]


def test_base_draft_labels_reviewers(ours: Any, there: forge_server.Forge, kind: str) -> None:
    team = ("acme/ops",) if kind in ("github", "gitea") else ()
    asked = Request("t", "b", "dev", ("torch", "bot"), ("ann", "bob", *team), draft=True)
    one = record()
    ours.open_or_update(one, asked)
    (made,) = there.requests
    assert made.base == "dev"
    assert made.draft or made.title == "Draft: t"
    labelled = kind != "bitbucket"
    assert made.labels == (["torch", "bot"] if labelled else [])
    assert made.reviewers == ["ann", "bob"]
    assert made.teams == (["ops"] if team else [])
    assert one.notes == ([] if labelled else ["pull request: Bitbucket has no labels"])
    made.labels.append("mine")
    made.reviewers.remove("bob")
    ours.open_or_update(one, Request("t", "b", "dev", ("torch", "new"), ("bob",)))
    assert made.labels == (["torch", "bot", "mine", "new"] if labelled else ["mine"])
    assert made.reviewers == ["ann", "bob"]


def test_a_reviewer_that_cannot_be_asked_is_noted(ours: Any, there: forge_server.Forge) -> None:
    one = record()
    assert ours.open_or_update(one, Request("t", "b", reviewers=("zoe",))).state == "open"
    (note,) = one.notes
    assert note.startswith("pull request: ")
    assert "zoe" in note


def test_a_declined_one_is_not_asked_again(ours: Any, there: forge_server.Forge) -> None:
    ours.open_or_update(record(), ASKED)
    there.requests[0].state = "closed"
    one = record()
    assert ours.open_or_update(one, ASKED).state == "closed"
    assert "closed unmerged" in one.notes[0]
    assert len(there.requests) == 1
    assert ours.open_or_update(record(), Request("t", "b", reopen=True)).state == "open"
    assert len(there.requests) == 2


def test_after_a_merge_new_changes_get_a_new_one(ours: Any, there: forge_server.Forge) -> None:
    ours.open_or_update(record(), ASKED)
    there.requests[0].state = "merged"
    there.branches["acme/one"][BRANCH] = "e" * 40
    assert ours.open_or_update(record(), ASKED).number == 2


def test_rollback_closes_deletes_and_can_be_run_again(ours: Any, there: forge_server.Forge) -> None:
    opened = ours.open_or_update(record(), ASKED)
    for _ in range(2):
        assert ours.close(record()) == PullRequest(opened.url, opened.number, "closed")
        assert BRANCH not in there.branches["acme/one"]
        assert there.requests[0].state == "closed"
    assert ours.close(record("acme/two")) is None  # pushed, and never asked for
    assert BRANCH not in there.branches["acme/two"]
    there.branches["acme/one"][BRANCH] = "c" * 40
    assert ours.open_or_update(record(), ASKED).number == 2  # not declined: rolled back


def test_rollback_leaves_what_is_not_ours(ours: Any, there: forge_server.Forge) -> None:
    ours.open_or_update(record(), ASKED)
    there.branches["acme/one"][BRANCH] = "f" * 40
    with pytest.raises(ForgeError, match="commits that are not this run's"):
        ours.close(record())
    assert there.requests[0].state == "open"
    ours.close(record(), force=True)
    assert BRANCH not in there.branches["acme/one"]
    with pytest.raises(ForgeError, match="main is the default branch"):
        ours.close(record(branch="main"), force=True)
    ours.open_or_update(record("acme/two"), ASKED)
    there.requests[1].state = "merged"
    with pytest.raises(ForgeError, match="2 is merged"):
        ours.close(record("acme/two"))


def test_how_a_request_stands(ours: Any, there: forge_server.Forge, kind: str) -> None:
    assert ours.look(record()) is None
    opened = ours.open_or_update(record(), ASKED)
    (made,) = there.requests

    def stands() -> tuple[str, str, str, str]:
        found = ours.look(record())
        assert (found.url, found.number, found.head) == (opened.url, opened.number, "c" * 40)
        assert found.seen
        return found.state, found.checks, found.review, found.merge

    assert stands() == ("open", "none", "none", "ready")
    made.reviewers = ["ann"]
    made.checks = {"lint": "passed", "ci/tests": "running"}
    assert stands() == ("open", "running", "wanted", "ready")
    made.checks = {"lint": "failed", "ci/tests": "running"}
    assert stands() == ("open", "failed", "wanted", "ready")
    made.checks = dict.fromkeys(made.checks, "passed")
    made.reviews = {"ann": "approved"}
    assert stands() == ("open", "passed", "approved", "ready")
    made.reviews = {"ann": "approved", "bob": "changes"}
    assert stands()[:3] == ("open", "passed", "changes")
    if kind != "bitbucket":  # which tells only one that tries to merge
        made.reviews, made.blocked = {}, True
        assert stands()[3] == "blocked"
        assert ours.look(record()).why
    made.state = "merged"
    assert stands()[0] == "merged"


def test_only_our_commit_is_merged(ours: Any, there: forge_server.Forge) -> None:
    with pytest.raises(ForgeError, match="has no request"):
        ours.merge(record(), "squash")
    ours.open_or_update(record(), ASKED)
    there.branches["acme/one"][BRANCH] = "f" * 40  # somebody was faster
    with pytest.raises(ForgeError, match="acme/one: "):
        ours.merge(record(), "merge")
    there.branches["acme/one"][BRANCH] = "c" * 40
    there.requests[0].blocked = True
    with pytest.raises(ForgeError, match="acme/one: "):
        ours.merge(record(), "merge")
    there.requests[0].blocked = False
    assert ours.merge(record(), "squash").state == "merged"
    assert there.branches["acme/one"]["main"] == "c" * 40
    assert ours.merge(record(), "squash").state == "merged"  # and once more is no error


def test_one_that_is_closed_for_good_is_not_asked_again(
    ours: Any, there: forge_server.Forge
) -> None:
    ours.open_or_update(record(), ASKED)
    assert ours.close(record(), declined=True).state == "closed"
    assert BRANCH not in there.branches["acme/one"]
    there.branches["acme/one"][BRANCH] = "c" * 40
    assert ours.open_or_update(record(), ASKED).state == "closed"
    assert len(there.requests) == 1


def test_a_request_from_a_fork(ours: Any, there: forge_server.Forge, kind: str) -> None:
    fork = ours.fork("acme/one", "robots")
    assert fork == ours.fork("acme/one", "robots")
    where = "acme/robots/one" if kind == "azure" else "robots/one"
    assert (fork.project, fork.source) == (where, f"{there.url}/robots/one.git")
    if kind not in ("bitbucket", "azure"):  # where it has to be named
        assert ours.fork("acme/one", "").project == "bot/one"
    del there.branches["acme/one"][BRANCH]
    there.branches["robots/one"][BRANCH] = "c" * 40
    forked = record()
    forked.fork = fork
    opened = ours.open_or_update(forked, ASKED)
    assert ours.open_or_update(forked, ASKED) == opened
    (made,) = there.requests
    assert (made.project, made.home, made.base, made.state) == (
        "acme/one", "robots/one", "main", "open"
    )  # fmt: skip
    assert ours.look(forked).head == "c" * 40
    assert ours.look(record()) is None  # not one of the project's own branches
    assert ours.close(forked).state == "closed"
    assert BRANCH not in there.branches["robots/one"]


def test_what_the_forge_says_is_told(ours: Any, there: forge_server.Forge) -> None:
    with pytest.raises(
        ForgeError, match=r"^acme/none: (Git(Hub|Lab|ea)|Bitbucket|Azure DevOps) says 404: "
    ):
        ours.open_or_update(record("acme/none"), ASKED)
    with pytest.raises(
        ForgeError, match=r"^acme/one: (Git(Hub|Lab|ea)|Bitbucket|Azure DevOps) says 4\d\d: "
    ):
        ours.open_or_update(record(branch="never-pushed"), ASKED)


def test_an_answer_of_another_shape_is_told(ours: Any, there: forge_server.Forge) -> None:
    ours.open_or_update(record(), ASKED)
    strange = {"number": "one", "iid": "one", "state": [], "check_suite": None}
    there.trouble = lambda when, what: (200, {}, strange) if what.endswith("/1") else None
    with pytest.raises(ForgeError, match="^acme/one: "):
        ours.look(record())


def test_a_wrong_token_is_not_told(
    kind: str, there: forge_server.Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG", "s3cret-s3cret")
    found = forges.connect(kind, api_of(kind, there), "WRONG")
    there.trouble = lambda when, what: (403, {}, {"message": "who is s3cret-s3cret?"})
    with pytest.raises(ForgeError, match="403") as caught:
        found.open_or_update(record(), ASKED)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    there.trouble = lambda when, what: None
    with pytest.raises(ForgeError, match="401"):
        found.open_or_update(record(), ASKED)


def test_faults_and_limits_are_waited_out(ours: Any, there: forge_server.Forge, kind: str) -> None:
    slow = (
        (403, {"Retry-After": "1"}, {"message": "You have exceeded a secondary rate limit"})
        if kind == "github"
        else (429, {"Retry-After": "1"}, {"message": "Too many requests"})
    )
    answers = iter([(502, {}, {"message": "Bad gateway"}), slow])
    there.trouble = lambda when, what: next(answers, None) if when == "before" else None
    assert ours.open_or_update(record(), ASKED).state == "open"
    assert next(answers, None) is None
    assert len(there.requests) == 1


def test_an_answer_that_got_lost_makes_no_second(ours: Any, there: forge_server.Forge) -> None:
    lost = iter([(502, {}, {"message": "Bad gateway"})])

    def trouble(when: str, what: str) -> Any:
        opening = what.startswith("POST") and what.endswith(
            ("/pulls", "/merge_requests", "/pullrequests", "/pullRequests")
        )
        return next(lost, None) if when == "after" and opening else None

    there.trouble = trouble
    assert ours.open_or_update(record(), ASKED).number == 1
    assert next(lost, None) is None
    assert len(there.requests) == 1


def test_the_repositories_of_a_group(ours: Any, there: forge_server.Forge, kind: str) -> None:
    def listed(group: str, **more: Any) -> list[str]:
        return [one.name for one in ours.repositories(group, **more)]

    there.branches |= {f"acme/r{number}": {"main": "a" * 40} for number in range(4)}
    there.branches |= {"acme/old": {}, "acme/fork": {}, "acme/empty": {}, "ann/own": {}}
    if kind == "github":
        there.flags = {"acme/fork": {"fork": True}, "acme/empty": {"size": 0}}
    elif kind == "bitbucket":
        there.flags = {"acme/empty": {"mainbranch": None}, "acme/fork": {"fork_of": "x/fork"}}
        del there.branches["acme/old"]  # nothing is archived there
    elif kind == "azure":
        there.flags = {"acme/empty": {"defaultBranch": None}, "acme/fork": {"isFork": True}}
        there.flags["acme/old"] = {"isDisabled": True}
    elif kind == "gitea":
        there.flags = {"acme/fork": {"fork": True}, "acme/empty": {"empty": True}}
    else:
        there.branches["acme/sub/deep"] = {}
        there.flags["acme/fork"] = {"forked_from_project": {"id": 1}}
        there.flags["acme/empty"] = {"empty_repo": True}
    if "acme/old" in there.branches and kind != "azure":
        there.flags["acme/old"] = {"archived": True}
    deep = ["acme/sub/deep"] if kind == "gitlab" else []
    some = ["acme/one", "acme/r0", "acme/r1", "acme/r2", "acme/r3", *deep, "acme/two"]
    if kind == "gitlab":
        del there.branches["ann/own"]
    assert listed("acme") == some
    assert listed("acme", forks=True) == ["acme/fork", *some]
    there.branches = {"ann/own": {}}
    there.flags = {}
    (own,) = ours.repositories("ann")
    assert own == Repository(
        "ann/own", f"{there.url}/ann/own.git", forge=kind, project="ann/own", api=own.api
    )
    assert own.api == (there.api if kind == "github" else there.url)
    with pytest.raises(ForgeError, match="nobody: .*404"):
        listed("nobody")


@pytest.mark.parametrize(
    ("kind_", "api", "message"),
    [
        ("sourceforge", "", "there is no forge sourceforge"),
        ("github", "http://git.example.com", "in the clear"),
        ("gitlab", "git.example.com", "expected the address"),
        ("gitlab", "https://u:p4ss@git.example.com", "must not hold credentials"),
    ],
)
def test_addresses(kind_: str, api: str, message: str) -> None:
    with pytest.raises(ForgeError, match=message) as caught:
        forges.connect(kind_, api)
    assert "p4ss" not in str(caught.value)


def test_where_the_token_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for names in forges.KINDS.values():
        for name in (*names.variables, *(names.own or ())):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    assert forges.token("github") == ""
    store = tmp_path / "store"
    store.write_text("https://me:from-helper@github.com\nhttps://me:lab@gitlab.com\n")
    helper = f"store --file={store}"
    subprocess.run(["git", "config", "--global", "credential.helper", helper], check=True)
    assert forges.token("github") == "from-helper"
    assert forges.token("gitlab") == "lab"
    assert forges.token("gitlab", "https://git.example.com") == ""
    monkeypatch.setenv("GH_TOKEN", "gh")
    assert forges.token("github") == "gh"
    assert forges.token("github", "https://ghe.example.com") == ""  # not another host's
    monkeypatch.setenv("GITHUB_TOKEN", "github\n")
    assert forges.token("github") == "github"
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "ghe")
    assert forges.token("github", "https://ghe.example.com/api/v3") == "ghe"
    monkeypatch.setenv("MINE", "mine")
    assert forges.token("gitlab", "https://git.example.com", "MINE") == "mine"
    with pytest.raises(ForgeError, match="NOT_SET is not set"):
        forges.token("github", "", "NOT_SET")


def test_text_is_not_let_out_of_its_marks() -> None:
    hostile = f"x {forge.END} y {forge.START} {forge.ROLLED_BACK}"
    text = forge.wrapped(hostile)
    assert text.count(forge.START) == text.count(forge.END) == 1
    assert forge.ROLLED_BACK not in text
    assert forge.merged(f"a\n{text}\nb", "new") == f"a\n{forge.wrapped('new')}\nb"
    assert forge.merged(None, "new") == forge.merged("hand-written", "new") == forge.wrapped("new")


def test_the_shapes_are_those_that_github_documents() -> None:
    models = pytest.importorskip("githubkit.versions.latest.models")
    state = forge_server.Forge("http://x", {"acme/one": {"main": "a" * 40, BRANCH: "c" * 40}})
    asked = forge_server.Request("acme/one", 1, BRANCH, "main", "t", "b", False, "open", ["l"])
    asked.reviewers, asked.teams = ["ann"], ["ops"]
    models.FullRepository.model_validate(forge_server_github.repository(state, "acme/one"))
    models.OrganizationFull.model_validate(forge_server_github.organisation(state, "acme"))
    models.PullRequestSimple.model_validate(forge_server_github.pull(state, asked, full=False))
    models.PullRequest.model_validate(forge_server_github.pull(state, asked, full=True))
    models.GitRef.model_validate(forge_server_github._gh_ref(state, "acme/one", BRANCH).body)
    asked.checks, asked.reviews = {"ci/x": "passed", "lint": "running"}, {"ann": "approved"}
    state.requests = [asked]
    status = forge_server_github._gh_status(state, "acme/one", "c" * 40).body
    assert models.CombinedCommitStatus.model_validate(status).total_count == 1
    (run,) = forge_server_github._gh_runs(state, "acme/one", "c" * 40).body["check_runs"]
    models.CheckRun.model_validate(run)
    for one in forge_server_github._gh_reviews(state, "acme/one", "1").body:
        models.PullRequestReview.model_validate(one)
    merged = forge_server_github._gh_merge(state, "acme/one", "1", {"merge_method": "merge"}).body
    models.PullRequestMergeResult.model_validate(merged)
