"""What is proved, incomplete and refused, over the runs of a batch; and numbers in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samedevice.batch import report
from samedevice.batch.fix import Task
from samedevice.batch.policy import Policy
from samedevice.batch.record import Outcome, Proof, PullRequest, Record, Repository
from samedevice.batch.report_data import Totals, counted
from samedevice.batch.trend import VERDICTS, trend, verdict


def record(
    name: str, outcome: Outcome, *, run: int = 1, attempt: int = 1, left: int = 0, fixed: int = 0,
    proof: str = "", reused: bool = False,
) -> Record:  # fmt: skip
    one = Record(Repository(name, "/srv/x"), attempt=attempt, run=run, outcome=outcome)
    one.found = {"loss-not-moved": left + fixed} if left + fixed else {}
    one.left = {"loss-not-moved": left} if left else {}
    one.fixed = {"loss-not-moved": fixed} if fixed else {}
    one.proof = Proof("tests", "pytest", proof == "passed", proof == "broken") if proof else None
    one.started = f"2026-01-0{run}T00:00:00+00:00"
    one.reused = ["fix"] if reused else []
    return one


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (record("a", Outcome.MIGRATED, fixed=2, proof="passed"), "proved"),
        (record("a", Outcome.MIGRATED, fixed=2), "unproved"),
        (record("a", Outcome.MIGRATED, fixed=2, proof="no proof"), "unproved"),
        (record("a", Outcome.MIGRATED, fixed=2, left=1, proof="passed"), "incomplete"),
        (record("a", Outcome.UNCHANGED, left=1), "incomplete"),
        (record("a", Outcome.HELD, fixed=2, proof="broken"), "refused"),
        (record("a", Outcome.UNCHANGED), "clean"),
        (record("a", Outcome.FAILED), "unknown"),
        (record("a", Outcome.RUNNING), "unknown"),
    ],
)
def test_one_word_for_each(one: Record, word: str) -> None:
    assert verdict(one) == word
    assert word in VERDICTS


def attempts() -> list[Record]:
    return [
        record("a", Outcome.FAILED, attempt=1),
        record("a", Outcome.MIGRATED, attempt=2, fixed=3, left=1),
        record("a", Outcome.MIGRATED, attempt=3, run=2, fixed=4, proof="passed"),
        record("b", Outcome.HELD, fixed=1, proof="broken"),
        record("b", Outcome.HELD, attempt=2, run=2, fixed=1, proof="broken", reused=True),
        record("c", Outcome.UNCHANGED),
        record("d", Outcome.MIGRATED, run=2, fixed=1),  # new on the list
    ]


def test_a_row_for_each_run() -> None:
    first, second = trend(attempts())
    assert first.verdicts == {"incomplete": 1, "refused": 1, "clean": 1}  # of a, its last attempt
    assert (first.run, first.found, first.fixed, first.left, first.reused) == (1, 5, 4, 1, 0)
    # c was not come to in the second run, and counts as the first one left it
    assert second.verdicts == {"proved": 1, "refused": 1, "clean": 1, "unproved": 1}
    assert (second.run, second.found, second.fixed, second.left, second.reused) == (2, 6, 6, 0, 1)
    assert (first.begun[:10], second.begun[:10]) == ("2026-01-01", "2026-01-02")
    assert trend([]) == []


def test_the_report_has_the_trend(tmp_path: Path) -> None:
    every = attempts()
    latest = [every[2], every[4], every[5], every[6]]
    latest[0].pull_request = PullRequest("https://x.test/1", 1, "open", "passed", "none", "ready")
    latest[3].waits = "acme has 1 open request, as many as a team may have"
    report.write(latest, tmp_path, every)
    told = json.loads((tmp_path / "report.json").read_text())
    assert [run["verdicts"] for run in told["runs"]][1] == {
        "proved": 1, "refused": 1, "clean": 1, "unproved": 1
    }  # fmt: skip
    assert told["totals"]["verdicts"] == {"proved": 1, "refused": 1, "clean": 1, "unproved": 1}
    assert told["totals"]["requests"] == {"ready": 1}
    markdown = (tmp_path / "report.md").read_text()
    assert "By what is shown of them: 1 proved, 1 unproved, 1 refused, 1 clean." in markdown
    assert "Requests: 1 ready." in markdown
    assert "- 1 request: acme has 1 open request" in markdown
    assert "| 1 | 2026-01-01 00:00 | 0 | 0 | 1 | 1 | 1 | 0 | 5 | 4 | 1 | 0 | 0 |" in markdown
    assert "| 2 | 2026-01-02 00:00 | 1 | 1 | 0 | 1 | 1 | 0 | 6 | 6 | 0 | 0 | 1 |" in markdown
    page = (tmp_path / "report.html").read_text()
    assert '<h2 id="runs">Runs</h2>' in page and '<th scope="row">2</th>' in page
    assert "#1 ready" in page
    rows = (tmp_path / "report.csv").read_text().splitlines()
    assert rows[0].endswith("run,verdict,standing,waits")
    report.write(latest[:1], tmp_path, every[:2])
    assert '<h2 id="runs">' not in (tmp_path / "report.html").read_text()  # one run has no trend


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "file", "0 files"), (1, "file", "1 file"), (2, "file", "2 files"),
        (1, "repository", "1 repository"), (2_000, "repository", "2,000 repositories"),
        (2, "fix", "2 fixes"), (2, "branch", "2 branches"),
    ],
)  # fmt: skip
def test_one_and_many(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words


def test_one_of_each_in_the_report(tmp_path: Path) -> None:
    one = record("a", Outcome.MIGRATED, fixed=1)
    one.files = one.lines = 1
    report.write([one], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "1 repository: 1 migrated. 1 finding, 1 fixed in 0 files" in text
    page = (tmp_path / "report.html").read_text()
    assert "1 line of Python" in page and "<span>1 rule</span>" in page
    assert Totals.of([one]).verdicts == {"unproved": 1}


def test_found_counts_what_later_rounds_bring_to_light(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what the batch meets is seen once the model is on the device
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "from torch import nn\n\n"
        "model = nn.Linear(3, 2).cuda()\n"
        "x = torch.ones(4, 3)\n"
        "y = model(x)\n"
        "print(y.detach().numpy())\n"
    )
    monkeypatch.chdir(tmp_path)
    done = Task(str(tmp_path), Policy(unsafe=True)).fix()
    assert done["fixed"]
    for rule, count in done["fixed"].items():
        assert done["found"].get(rule, 0) >= count + done["left"].get(rule, 0), done
