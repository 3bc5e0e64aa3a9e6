"""Whole batches on real repositories: outcomes, kills, retries, rollbacks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from samedevice.batch import attempt, branches, run, sandbox, state
from samedevice.batch import fix as fix_
from samedevice.batch.fix import Server
from samedevice.batch.job import Delivery, Job
from samedevice.batch.policy import Policy
from samedevice.batch.record import Outcome, Phase, Record, Repository
from samedevice.cli import app
from samedevice.reading.config import ConfigError

from . import repositories
from .repositories import FIXABLE, PASSES, make

BRANCH = "samedevice/one-device"
LIMITS = """\
proof = "auto"
proof-seconds = 60
proof-memory = 300
proof-disk = 50
file-size = 50
"""
# slow ones, in the benchmark, and what depends on the machine's sandbox, and below
ELSEWHERE = {"huge_files", "hanging_proof", "proof_that_reaches_out"}


def batch(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run `samedevice batch`; return what it wrote to its standard output."""
    done = CliRunner().invoke(app, ["batch", *arguments, "--folder", str(folder / "batch")])
    assert done.exit_code == code, done.output
    return done.stdout


def records(folder: Path, *arguments: str) -> dict[str, Record]:
    """Return the records of a batch by name."""
    lines = batch(folder, "records", *arguments).splitlines()
    return {record.repository.name: record for record in map(Record.load, lines)}


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with three checkouts: one to fix, one that is fine, one with passing tests."""
    make(tmp_path / "there" / "one", {"main.py": FIXABLE, "CODEOWNERS": "* @ann\n"})
    make(tmp_path / "there" / "fine", {"main.py": "print(1)\n"})
    make(tmp_path / "there" / "tested", {"main.py": FIXABLE, "test_it.py": PASSES})
    return tmp_path / "there"


def test_a_batch_from_its_list_to_its_branches(there: Path, tmp_path: Path) -> None:
    before = {path.name: repositories.git(path, "rev-parse", "HEAD") for path in there.iterdir()}
    author = ("--author", "Bob <bob@example.org>", "--sign-off", "--title", "One device")
    batch(tmp_path, "run", str(there), "--proof", "auto", "-j", "2", *author)
    known = records(tmp_path)
    assert {name: record.outcome.value for name, record in known.items()} == {
        "one": "migrated", "fine": "unchanged", "tested": "migrated"
    }  # fmt: skip
    one = known["one"]
    assert one.found == one.fixed == {"hard-coded-device": 1, "tensor-without-device": 1}
    assert (one.left, one.problems, one.owners) == ({}, [], ["@ann"])
    assert [change.path for change in one.changed] == ["main.py"]
    assert one.base_commit == before["one"] and one.base_branch == "main"
    assert set(one.seconds) == {"clone", "infer", "fix", "prove", "commit"}
    assert not one.pushed and one.proof is None
    proof = known["tested"].proof
    assert proof is not None and proof.passed and proof.after is not None and proof.limits
    message = repositories.git(there / "one", "log", "-1", "--format=%an %ae%n%B", BRANCH)
    head, title, *_, signed, ours = message.splitlines()
    assert (head, title) == ("Bob bob@example.org", "One device")
    assert signed == "Signed-off-by: Bob <bob@example.org>" and ours.startswith(branches.TRAILER)
    for path in there.iterdir():  # the checkouts are as they were, but for the branch
        assert repositories.git(path, "rev-parse", "HEAD") == before[path.name]
        assert repositories.git(path, "status", "--porcelain") == ""
    fixed = repositories.git(there / "one", "show", f"{BRANCH}:main.py")
    assert ".to(device)" in fixed and ".cuda()" not in fixed
    repositories.git(there / "one", "apply", "--check", str(tmp_path / "batch" / one.patch))
    changes = json.loads((tmp_path / "batch" / one.changes).read_text())
    assert {change["rule"] for change in changes["changed"]} >= set(one.fixed)
    drawn = (tmp_path / "batch" / one.map).read_text("utf-8")
    assert one.mapped == {"main.py": "main.py"} and 'id="after:main.py:5"' in drawn
    assert "<h1>one</h1>" in drawn and known["fine"].map == ""
    assert not (tmp_path / "batch" / "work").exists()


def test_hostile_repositories_are_contained(tmp_path: Path) -> None:
    root, trap = tmp_path / "there", tmp_path / "outside" / "trap"
    trap.parent.mkdir()
    root.mkdir()
    expected = {}
    for name, hostile in repositories.HOSTILE.items():
        if name not in ELSEWHERE:
            before = set(os.listdir(root))
            outcome = hostile(root / name, trap)
            expected[(set(os.listdir(root)) - before).pop()] = outcome
    trap.unlink(missing_ok=True)
    (tmp_path / "policy.toml").write_text(LIMITS)
    batch(tmp_path, "run", str(root), "--policy", str(tmp_path / "policy.toml"), code=1)
    known = records(tmp_path)
    assert {name: record.outcome.value for name, record in known.items()} == expected
    assert sorted(os.listdir(trap.parent)) == ["outside"]
    assert os.listdir(trap.parent / "outside") == ["secret.py"]

    def status(name: str) -> list[str]:
        proof = known[name].proof
        assert proof is not None
        return [run.status for run in (proof.before, proof.after) if run is not None]

    if sys.platform.startswith("linux"):
        assert status("proof_that_eats_memory") == ["memory", "memory"]
        assert status("proof_that_fills_the_disk") == ["disk", "disk"]
    assert "device.py exists" in known["links_out"].not_fixed[0].reason
    assert known["submodules"].notes == ["1 submodule was left alone"]
    assert {problem.path for problem in known["bad_encoding"].problems} == {
        "latin.py", "binary.py", "wrong.py"
    }  # fmt: skip
    assert len(known["syntax_errors"].problems) >= 2


@pytest.mark.parametrize("kind", ["bwrap", "unshare", "none"])
def test_a_proof_reaches_as_far_as_the_record_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    missing = {"bwrap": [], "unshare": ["bwrap"], "none": ["bwrap", "unshare"]}[kind]
    for name in missing:  # is there, and does not work
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    sandbox.sandbox.cache_clear()
    monkeypatch.setattr(sandbox, "sandbox", sandbox.sandbox.__wrapped__)
    if (sandbox.sandbox() or "none") != kind:
        pytest.skip(f"needs {'bubblewrap' if kind == 'bwrap' else kind}")
    trap = tmp_path / "outside" / "trap"
    trap.parent.mkdir()
    repositories.proof_that_reaches_out(tmp_path / "there", trap)
    (tmp_path / "policy.toml").write_text(LIMITS)
    batch(tmp_path, "run", str(tmp_path / "there"), "--policy", str(tmp_path / "policy.toml"))
    record = records(tmp_path)["there"]
    proof = record.proof
    assert record.outcome is Outcome.MIGRATED and proof is not None
    assert [run.status for run in (proof.before, proof.after) if run] == ["passed"]
    written = trap.read_text() if trap.exists() else ""
    said = "; ".join(proof.limits)
    if kind == "bwrap":
        assert written == "" and "nothing writable but its folder" in said
    elif kind == "unshare":  # what is left behind ends with the proof, if that ends before
        assert written in ("written by a proof", "left behind")
        assert "unshare: own processes" in said
    else:
        assert written and "no sandbox on this machine" in said
    assert ("no network" in said) == (kind != "none")


def test_a_proof_that_hangs_shows_nothing(tmp_path: Path) -> None:
    repositories.hanging_proof(tmp_path / "there", tmp_path / "trap")
    (tmp_path / "policy.toml").write_text('proof = "tests"\nproof-seconds = 0.5\n')
    batch(tmp_path, "run", str(tmp_path / "there"), "--policy", str(tmp_path / "policy.toml"))
    proof = records(tmp_path)["there"].proof
    assert proof is not None and not proof.passed and not proof.broken
    assert [run.status for run in (proof.before, proof.after) if run] == ["time", "time"]


def test_a_policy_holds_back(there: Path, tmp_path: Path) -> None:
    table = "[tool.samedevice.batch]\nmax-lines = 100\n"
    make(there / "own", {"main.py": FIXABLE, "pyproject.toml": table})
    batch(tmp_path, "run", str(there), "--max-lines", "2", "--require-proof", code=1)
    known = records(tmp_path)
    assert known["one"].outcome is Outcome.HELD and "asks for a proof" in known["one"].reason
    assert known["one"].branch == "" and (tmp_path / "batch" / known["one"].patch).exists()
    assert known["fine"].outcome is Outcome.UNCHANGED
    (tmp_path / "p.toml").write_text("max-lines = 2\n")
    batch(tmp_path, "retry", "--held", "--policy", str(tmp_path / "p.toml"), code=1)
    known = records(tmp_path)
    assert {name: record.attempt for name, record in known.items()} == {
        "one": 2, "fine": 1, "tested": 2, "own": 2
    }  # fmt: skip
    assert "changes 6 lines, and the policy allows 2" in known["one"].reason
    assert known["own"].outcome is Outcome.MIGRATED  # what a repository says itself wins
    assert repositories.git(there / "one", "branch") == "* main"


def test_files_that_are_left_alone_are_read(tmp_path: Path) -> None:
    main = "import torch\nfrom lib import model\n\nx = torch.ones(2)\nprint(model(x))\n"
    lib = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\n"
    make(tmp_path / "there" / "one", {"main.py": main, "lib.py": lib})
    batch(tmp_path, "run", str(tmp_path / "there"), "--leave-alone", "lib.py")
    record = records(tmp_path)["one"]
    assert "lib.py" not in [change.path for change in record.changed]
    assert "lib.py" in [left.path for left in record.not_fixed]


def test_dirty_and_skipped_ones_are_not_failures(there: Path, tmp_path: Path) -> None:
    (there / "one" / "new.py").write_text("x = 1\n")
    batch(tmp_path, "run", str(there))
    record = records(tmp_path)["one"]
    assert (record.outcome.value, record.reason) == ("skipped", "1 file is not committed")


@pytest.fixture
def bare(there: Path, tmp_path: Path) -> Path:
    """The three as bare repositories, as remotes are."""
    root = tmp_path / "bare"
    root.mkdir()
    for path in there.iterdir():
        repositories.git(root, "clone", "--quiet", "--bare", str(path), path.name)
    return root


def test_a_dry_run_is_delivered_later_and_rolled_back(bare: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(bare))
    dry = records(tmp_path)
    assert repositories.git(bare / "one", "branch") == "* main"
    batch(tmp_path, "resume", "--push")
    known = records(tmp_path)
    assert known["one"].pushed and known["one"].commit == dry["one"].commit
    assert known["one"].seconds["fix"] == dry["one"].seconds["fix"]  # it was not done again
    assert known["fine"] == dry["fine"]
    assert repositories.git(bare / "one", "rev-parse", BRANCH) == known["one"].commit
    assert records(tmp_path, "--all").keys() == known.keys()
    batch(tmp_path, "resume", "--push")
    assert records(tmp_path) == known
    batch(tmp_path, "rollback", "one", "--yes")
    known = records(tmp_path)
    assert known["one"].outcome is Outcome.ROLLED_BACK
    assert repositories.git(bare / "one", "branch") == "* main"
    assert BRANCH in repositories.git(bare / "tested", "branch")


def test_rollback_leaves_what_others_added_to(there: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(there))
    repositories.git(there / "one", "switch", "--quiet", BRANCH)
    (there / "one" / "more.py").write_text("x = 1\n")
    repositories.commit(there / "one")
    repositories.git(there / "one", "switch", "--quiet", "main")
    batch(tmp_path, "rollback", "--yes", code=1)
    known = records(tmp_path)
    assert known["one"].outcome is Outcome.MIGRATED and "added commits" in known["one"].error
    assert known["tested"].outcome is Outcome.ROLLED_BACK
    assert BRANCH in repositories.git(there / "one", "branch")
    assert repositories.git(there / "tested", "branch") == "* main"


def test_killed_and_resumed(tmp_path: Path) -> None:
    root = tmp_path / "there"
    for number in range(8):
        make(root / f"n{number}", {"main.py": FIXABLE})
    folder = tmp_path / "batch"
    command = [sys.executable, "-m", "samedevice", "batch"]
    final: dict[str, str] = {}
    for step in range(3):
        words = ["run", str(root)] if step == 0 else ["resume"]
        process = subprocess.Popen(
            [*command, *words, "--folder", str(folder), "-j", "2"], stderr=subprocess.PIPE
        )
        if step < 2:
            deadline = time.monotonic() + 60
            while len(done(folder)) < len(final) + 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        now = done(folder)
        assert {name: now[name] for name in final} == final  # nothing finished was done again
        final = now
    assert process.returncode == 0, said
    assert len(final) == 8
    known = records(tmp_path, "--all")
    assert len(known) == 8 and {record.attempt for record in known.values()} == {1}
    for name, record in known.items():
        assert repositories.git(root / name, "rev-parse", BRANCH) == record.commit
        assert repositories.git(root / name, "status", "--porcelain") == ""
    assert not (folder / "work").exists()


def done(folder: Path) -> dict[str, str]:
    """Return the final records of a batch, as text."""
    try:
        with state.open_(folder) as there:
            return {
                record.repository.name: record.dump()
                for record in there.records()
                if record.outcome.is_final
            }
    except ConfigError:
        return {}


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def perform(record: Record, server: Server, **options: Any) -> list[tuple[Record, Any]]:
    seen: list[tuple[Record, Any]] = []

    def emit(now: Record, files: Any) -> None:
        seen.append((Record.load(now.dump()), files))

    options.setdefault("policy", Policy())
    attempt.perform(Job(record=record, allow=("file",), **options), emit, server)
    return seen


def test_an_attempt_goes_on_behind_its_last_phase(
    bare: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository("one", str(bare / "one"))
    seen = perform(Record(repository), server)
    assert [record.phase for record, _ in seen] == [
        Phase.CLONE, Phase.FIX, Phase.PROVE, Phase.COMMIT, Phase.COMMIT
    ]  # fmt: skip
    last = seen[-1][0]
    after_fix, files = seen[1]
    assert after_fix.patch in files and after_fix.changes in files
    monkeypatch.setattr(attempt, "fix", None)  # must not be called again
    for record, _ in seen[1:-1]:
        again = perform(Record.load(record.dump()), server, files=files)[-1][0]
        assert (again.outcome, again.commit) == (Outcome.MIGRATED, last.commit), again.error


def test_an_attempt_whose_base_is_gone_starts_anew(bare: Path, server: Server) -> None:
    repository = Repository("one", str(bare / "one"))
    record, files = perform(Record(repository), server)[1]
    record.base_commit = "0" * 39 + "1"
    again = perform(record, server, files=files)[-1][0]
    assert again.outcome is Outcome.MIGRATED and "started anew" in again.notes[0]


def test_a_fix_out_of_time_or_memory_is_stopped_alone(bare: Path, server: Server) -> None:
    repository = Repository("one", str(bare / "one"))
    slow = perform(Record(repository), server, policy=Policy(fix_seconds=0.001))[-1][0]
    assert (slow.outcome, slow.error) == (Outcome.FAILED, "the fix was not done after 0.001 s")
    # What the process has already may do for a small one.
    repositories.git(bare.parent, "clone", "--quiet", str(bare / "one"), "big")
    (bare.parent / "big" / "big.py").write_text("import torch\nx = [" + "1, " * 300_000 + "]\n")
    repositories.git(bare.parent / "big", "add", ".")
    repositories.git(bare.parent / "big", "commit", "--quiet", "-m", "big")
    big = Record(Repository("big", str(bare.parent / "big")))
    large = perform(big, server, policy=Policy(fix_memory=1))[-1][0]
    assert large.outcome is Outcome.FAILED
    fine = perform(Record(repository), server)[-1][0]
    assert fine.outcome is Outcome.MIGRATED


def test_a_map_that_is_not_done_costs_nothing_else(tmp_path: Path) -> None:
    make(tmp_path / "one", {"main.py": FIXABLE})

    class Killed(Server):
        def ask(self, root: Path, policy: Policy, answer: Path, title: str = "") -> int | None:
            fix_.answer(str(root), replace(policy, map=False), str(answer), title)
            return -9

    here = os.getcwd()
    try:
        done = fix_.fix(Killed(), tmp_path / "one", Policy(), tmp_path / "answer")
    finally:
        os.chdir(here)
    assert list(done.changed) == ["main.py"] and done.map == ""
    assert done.unmapped.startswith("the map was ended by signal 9")


def test_a_map_shows_what_was_only_seen_and_stays_within_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = "import torch\n\nprint(torch.ones(2))\n"
    make(tmp_path / "one", {"a.py": FIXABLE, "b.py": FIXABLE, "c.py": fine})
    policy = Policy(leave_alone=("b.py",))
    monkeypatch.chdir(tmp_path / "one")
    task = fix_.Task(str(tmp_path / "one"), policy, "toy")
    assert list(task.fix()["changed"]) == ["a.py"]
    drawn = task.map()
    assert drawn["mapped"] == {"a.py": "a.py", "b.py": "b.py"} and drawn["unmapped"] == ""
    monkeypatch.setattr(fix_, "_MAPPED", 5)
    drawn = task.map()
    assert len(drawn["mapped"]) == 1 and drawn["unmapped"].startswith("1 file is not on the map")


def test_a_fault_of_ours_is_one_failed_repository(
    bare: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(attempt.trees, "tree", fault)
    record = perform(Record(Repository("one", str(bare / "one"))), server)[-1][0]
    assert record.outcome is Outcome.FAILED and "fault in samedevice" in record.error


@pytest.mark.slow
def test_a_proof_with_prove(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code = FIXABLE.replace("2).cuda()", "2)\nif torch.cuda.is_available():\n    model.cuda()")
    make(tmp_path / "one", {"main.py": "import torch\ntorch.manual_seed(0)\n" + code})
    batch(tmp_path, "run", str(tmp_path / "one"), "--proof", "prove: main.py", "--require-proof")
    proof = records(tmp_path)["one"].proof
    assert proof is not None and proof.passed and proof.kind == "prove"
    assert any(line.startswith("passed: after runs on virtual cuda") for line in proof.detail)


def test_one_process_at_a_time(there: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(there))
    with state.open_(tmp_path / "batch") as first, state.open_(tmp_path / "batch") as second:
        assert not first.is_locked()
        first.lock()
        assert second.is_locked()
        with pytest.raises(ConfigError, match="another process is running this batch"):
            run.go(second, run.Settings.of(second))
        batch(tmp_path, "status")  # looking is allowed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "{}"], "there is a batch already; `samedevice batch resume`"),
        (["run", "{}", "--push", "--dry-run"], "--dry-run goes without"),
        (["run", "{}", "--allow", "ext"], "--allow ext: expected http, git or file"),
        (["run", "{}", "--engine", "ray"], "--engine ray: checkouts are on this machine only"),
        (["run", "{}", "--resource", "x"], "--resource x: expected NAME=NUMBER"),
        (["retry"], "retry what?"),
        (["retry", "nobody"], "'nobody' has no attempt"),
        (["run", "{}", "--policy", "nowhere.toml"], "nowhere.toml: cannot be read"),
    ],
)
def test_what_cannot_be_run(there: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    with state.create(tmp_path / "batch") as made:
        run.Settings().keep(made)
    words = [word.format(there) for word in arguments]
    done = CliRunner().invoke(app, ["batch", *words, "--folder", str(tmp_path / "batch")])
    assert done.exit_code == 2 and said in done.output


def test_no_batch_is_one_message(tmp_path: Path) -> None:
    for word in ("status", "resume", "records", "report", "rollback"):
        done = CliRunner().invoke(app, ["batch", word, "--folder", str(tmp_path / "none")])
        assert done.exit_code == 2 and "there is no batch" in done.output


def test_plan_and_status(there: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["batch", "plan", str(there)])
    assert done.exit_code == 0 and done.output.count("in place") == 3
    batch(tmp_path, "run", str(there))
    told = json.loads(batch(tmp_path, "status", "--json"))
    assert (told["total"], told["finished"], told["running"]) == (3, 3, [])
    assert told["counts"] == {"waiting": 0, "migrated": 2, "unchanged": 1}
    assert "3 of 3" in batch(tmp_path, "status")


def test_rows_of_the_state(tmp_path: Path) -> None:
    with state.create(tmp_path / "batch") as made:
        names = [f"n{number}\n\udce9" for number in range(1200)]
        made.add([Repository(name, "/x") for name in names])
        for number, name in enumerate(names[:1100]):
            record = Record(Repository(name, "/x"), started="2026-01-01", ended="2026-01-02")
            record.error = "\udce9"
            record.outcome = Outcome.FAILED if number % 2 else Outcome.MIGRATED
            made.save(record, {f"results/{number}": b"x"} if number < 3 else None)
        record.attempt, record.outcome = 2, Outcome.RUNNING
        made.save(record)
        assert made.counts() == {"waiting": 100, "failed": 549, "migrated": 550, "running": 1}
        assert [one.name for one, _ in made.repositories()] == names
        assert sum(known is None for _, known in made.repositories()) == 100
        assert len(list(made.records())) == 1100 and len(list(made.records(every=True))) == 1101
        assert made.running() == [record]
        assert made.file("results/0") == b"x" and made.file("results/9") is None
        with pytest.raises(ConfigError, match="is not in this batch"):
            made.save(Record(Repository("another", "/x")))


def test_the_file_of_another_version(tmp_path: Path) -> None:
    with state.create(tmp_path / "batch") as made:
        made.set("schema", 99)
    with pytest.raises(ConfigError, match="of version 99"):
        state.open_(tmp_path / "batch")
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "batch.sqlite").write_text("no database at all, but long enough" * 9)
    with pytest.raises(ConfigError, match="file is not a database"):
        state.open_(tmp_path / "none")


def test_a_delivery_needs_an_origin(there: Path, tmp_path: Path) -> None:
    batch(tmp_path, "run", str(there / "one"), "--push", code=1)
    assert "no remote called origin" in records(tmp_path)["one"].error
    assert Delivery() == Delivery(push=False, pull_request=False)


def test_a_checkout_is_pushed_to_its_origin(there: Path, bare: Path, tmp_path: Path) -> None:
    repositories.git(there / "one", "remote", "add", "origin", f"file://{bare / 'one'}")
    (there / "one" / "main.py").write_text(FIXABLE + "# and a commit that is not pushed\n")
    repositories.commit(there / "one")
    batch(tmp_path, "run", str(there / "one"), "--push", "--allow", "file")
    record = records(tmp_path)["one"]
    assert record.pushed
    assert repositories.git(bare / "one", "rev-parse", BRANCH) == record.commit
    assert repositories.git(bare / "one", "rev-list", "--count", BRANCH) == "3"
