"""The report of a batch: what it says, what it must not do, and how it behaves in a browser."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from samedevice.batch import report, report_data
from samedevice.batch.forge import Forge
from samedevice.batch.record import (
    FileChange,
    Left,
    Outcome,
    Phase,
    Problem,
    Proof,
    PullRequest,
    Record,
    Repository,
    Run,
)

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e`@org/all` #1 =cmd|x"
PATCH = """\
diff --git a/train.py b/train.py
index 1..2 100644
--- a/train.py
+++ b/train.py
@@ -3,3 +3,3 @@ import torch
 model = net()  # </script>
-x = torch.ones(4, 3)
+x = torch.ones(4, 3, device=device)
 y = '\u202e'
diff --git a/new one.py b/new one.py
new file mode 100644
--- /dev/null
+++ b/new one.py
@@ -0,0 +1,2 @@
+-- not a head
+device = "cpu"
\\ No newline at end of file
"""
WHY = "`torch.ones(4, 3)` is created on the CPU"


def migrated(folder: Path, name: str = "acme/one") -> Record:
    """Return a record with everything in it, whose files are in `folder`."""
    changed = {"path": "train.py", "line": 4, "rule": "tensor-without-device", "why": WHY}
    resolver = {"path": "train.py", "line": 1, "rule": "", "why": "the other changes need it"}
    (folder / "one.patch").write_text(PATCH)
    (folder / "one map.html").write_text("<p>a map</p>")
    (folder / "one.json").write_text(json.dumps({"version": 1, "changed": [resolver, changed]}))
    return Record(
        Repository(name, "https://git.test/acme/one.git", forge="github", project="acme/one"),
        phase=Phase.PULL_REQUEST,
        outcome=Outcome.MIGRATED,
        started="2026-01-02T03:04:05+00:00",
        ended="2026-01-02T03:05:06+00:00",
        seconds={"clone": 1.0, "infer": 0.5, "fix": 2.0},
        versions={"samedevice": "0.1.0", "python": "3.11.7"},
        base_branch="main",
        base_commit="a" * 40,
        branch="samedevice/one-device",
        commit="b" * 40,
        files=3,
        lines=120,
        found={"tensor-without-device": 2, "module-not-moved": 1},
        fixed={"tensor-without-device": 1},
        left={"tensor-without-device": 1, "module-not-moved": 1},
        not_fixed=[Left("a.py", 7, "module-not-moved", "m = Net()", "it has no fix")],
        problems=[Problem("bad.py", 3, "invalid syntax")],
        changed=[FileChange("train.py", 1, 1), FileChange("new one.py", 2, 0, new=True)],
        added=3,
        removed=1,
        patch="one.patch",
        changes="one.json",
        map="one map.html",
        mapped={"train.py": "train.py", "new one.py": "new%20one.py", "a.py": "a.py"},
        proof=Proof(
            "tests", "pytest -q", True, False, Run("passed", 0, 3.2, "2 passed"),
            Run("passed", 0, 3.1, "2 passed"), ("no network",),
        ),
        owners=["@acme/ml"],
        pull_request=PullRequest("https://git.test/acme/one/pull/7", 7),
    )  # fmt: skip


def hostile(folder: Path) -> Record:
    """Return a record in which all text was chosen by an attacker."""
    one = migrated(folder, HOSTILE)
    one.outcome = Outcome.FAILED
    one.error = one.reason = one.branch = one.commit = one.base_branch = HOSTILE
    one.found = one.fixed = one.left = {HOSTILE: 1}
    one.notes, one.owners = [HOSTILE], [HOSTILE]
    one.not_fixed = [Left(HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE)]
    one.problems = [Problem(HOSTILE, None, HOSTILE)]
    one.proof = Proof(HOSTILE, HOSTILE, False, True, None, Run("failed", 1, 1.0, HOSTILE))
    one.pull_request = PullRequest("javascript:alert(3)", 1)
    one.patch, one.changes, one.map = "../outside.patch", "evil.json", "../outside.patch"
    one.mapped = {HOSTILE: HOSTILE}
    entry = {"path": HOSTILE, "line": 1, "rule": HOSTILE, "why": HOSTILE}
    (folder / "evil.json").write_text(json.dumps({"changed": [entry]}))
    (folder.parent / "outside.patch").write_text("a secret of this machine")
    return one


def plain(name: str, outcome: Outcome, number: int = 0) -> Record:
    one = Record(Repository(name, "/srv/x"), outcome=outcome, reason="nothing to change")
    one.found = one.left = {"loss-not-moved": number} if number else {}
    one.seconds = {"fix": float(number)}
    return one


def written(folder: Path, records: list[Record]) -> dict[str, str]:
    return {path.suffix[1:]: path.read_text("utf-8") for path in report.write(records, folder)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "batch").mkdir()
    return tmp_path / "batch"


def test_json_has_the_records_and_their_sums(folder: Path) -> None:
    records = [plain("b", Outcome.UNCHANGED), migrated(folder), plain("a", Outcome.FAILED, 3)]
    document = json.loads(written(folder, records)["json"])
    assert [one["repository"]["name"] for one in document["records"]] == ["a", "acme/one", "b"]
    assert Record.from_json(document["records"][1]) == records[1]
    totals = document["totals"]
    assert totals["outcomes"] == {"failed": 1, "migrated": 1, "unchanged": 1}
    assert totals["found"] == {
        "loss-not-moved": 3,
        "tensor-without-device": 2,
        "module-not-moved": 1,
    }
    assert (totals["changed"], totals["added"], totals["removed"]) == (2, 3, 1)
    assert totals["seconds"] == 6.0  # inference is a part of fixing
    assert totals["proofs"] == {"not run": 2, "passed": 1}


def test_csv_starts_no_formula(folder: Path) -> None:
    bad = plain("=cmd|' /C calc'!A0", Outcome.FAILED)
    bad.reason, bad.error, bad.branch = "@SUM(1)", "\t=1+1", "-2+3"
    rows = list(csv.DictReader(io.StringIO(written(folder, [migrated(folder), bad])["csv"])))
    assert [rows[0][key] for key in ("repository", "reason", "error", "branch")] == [
        "'=cmd|' /C calc'!A0", "'@SUM(1)", "'\t=1+1", "'-2+3",
    ]  # fmt: skip
    assert rows[1] == {
        "repository": "acme/one", "outcome": "migrated", "phase": "pull-request", "reason": "",
        "error": "", "found": "3", "fixed": "1", "left": "2", "files": "2", "added": "3",
        "removed": "1", "proof": "passed", "seconds": "3.0", "branch": "samedevice/one-device",
        "commit": "b" * 40, "pull_request": "https://git.test/acme/one/pull/7", "attempt": "1",
        "run": "1", "verdict": "incomplete", "standing": "open", "waits": "",
    }  # fmt: skip


def test_the_summary_in_markdown(folder: Path) -> None:
    text = written(folder, [migrated(folder), plain("z", Outcome.FAILED, 4)])["md"]
    assert "2 repositories: 1 failed, 1 migrated. 7 findings, 1 fixed in 2 files" in text
    assert "| tensor-without-device | 2 | 1 | 1 |" in text
    assert "- `z` failed after planned: nothing to change" in text
    assert "[#7](https://git.test/acme/one/pull/7) open" in text


# the text of a pull request


def test_the_text_of_a_pull_request(folder: Path) -> None:
    text = report.body(migrated(folder), folder)
    assert "on one device: 1 fix in 2 files, +3 −1 lines." in text
    assert "| tensor-without-device | 2 | 1 | 1 |" in text
    assert "Proof: `pytest -q` passes after the change (3 s before, 3 s after)." in text
    assert f"\n`train.py`\n\n- line 4, tensor-without-device: {WHY}\n" in text
    assert "- `a.py:7` module-not-moved `m = Net()`: it has no fix" in text
    assert "- `bad.py:3` invalid syntax" in text
    assert "owners of the changed files: `@acme/ml`" in text
    assert "the other changes need it" not in text
    assert "computes what it computed before" in text


def test_a_proof_that_shows_nothing_says_so(folder: Path) -> None:
    one = migrated(folder)
    failed = Run("failed", 1, 1.0, "``` boom")
    one.proof = Proof("command", "make x", False, True, Run("passed", 0, 1.0, ""), failed)
    text = report.body(one, folder)
    assert "`make x` **fails after the change and passed before**" in text
    assert "````text\n``` boom\n````" in text
    one.proof = Proof("command", "make x", False, False, failed, failed)
    assert "it shows nothing" in report.body(one, folder)
    one.proof = None
    assert "Not proved" in report.body(one, folder)


@pytest.mark.parametrize("limit", [Forge.BODY, 3_000, 1_200])
def test_a_text_is_never_too_long(folder: Path, limit: int) -> None:
    one = migrated(folder)
    entries = [
        {"path": f"pkg/file{number // 9}.py", "line": number, "rule": "batch-not-moved", "why": WHY}
        for number in range(3_000)
    ]
    (folder / "one map.html").write_text("<p>a map</p>")
    (folder / "one.json").write_text(json.dumps({"changed": entries}))
    one.not_fixed = [Left("a.py", number, "r", "x" * 999, "y" * 999) for number in range(500)]
    text = report.body(one, folder)
    assert len(text) < Forge.BODY
    text = report.body(one, folder, limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    shown = text.count("- line ")
    if "<details>" in text:
        assert f"{3_000 - shown:,} more: see the batch's report" in text
    assert text.rstrip().endswith("</details>") or "<sub>" in text


def test_no_text_of_others_acts(folder: Path) -> None:
    one = hostile(folder)
    text = report.body(one, folder)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.S)  # without code
    assert "<img" not in outside.replace("\\<", "")
    assert "<script" not in outside.replace("\\<", "")
    assert not re.search(r"(?<![\w`])@\w", outside), "a mention"
    assert not re.search(r"(?<![\w`])#\d", outside), "a reference"
    assert not re.search(r"^\s*/\w", outside, flags=re.M), "a quick action"
    assert "\u202e" not in text
    assert "a secret" not in text


# the page


class Tags(HTMLParser):
    """Collects the elements of a page, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_loads_nothing_and_lets_no_text_be_markup(folder: Path) -> None:
    page = written(folder, [hostile(folder), migrated(folder)])["html"]
    tags = Tags(page).tags
    kinds = {tag for tag, _ in tags}
    assert not kinds & {"img", "link", "iframe", "object", "base", "form", "use", "image"}
    assert [a.get("type") for t, a in tags if t == "script"] == ["text/plain", "text/plain", None]
    for _, attributes in tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
    assert [a["href"] for t, a in tags if t == "a"] == [
        "#repositories", "https://git.test/acme/one/pull/7"
    ]  # fmt: skip
    assert "default-src 'none'" in page
    assert "\u202e" not in page
    assert "a secret" not in page


def test_files_that_are_gone_or_were_edited_are_left_out(folder: Path) -> None:
    one = migrated(folder)
    (folder / "one map.html").write_text("<p>a map</p>")
    (folder / "one.json").write_text("{")
    (folder / "one.patch").unlink()
    assert "acme/one" in written(folder, [one])["html"]
    assert "- line 4" not in report.body(one, folder)


def test_a_map_that_is_not_there_is_not_linked(folder: Path) -> None:
    record = migrated(folder)
    assert report_data.has_map(record, folder)
    (folder / "one map.html").unlink()
    assert not report_data.has_map(record, folder)
    assert not report_data.has_map(hostile(folder), folder)


def test_an_empty_batch(folder: Path) -> None:
    assert "not started" in written(folder, [])["html"]


@pytest.fixture(scope="module")
def browser() -> Any:
    path = Path(__file__).parents[1] / "map" / "browser.py"
    spec = importlib.util.spec_from_file_location("browser", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = module.find()
    if program is None:
        pytest.skip("needs a Chromium or Chrome")
    with module.Browser(program) as found:
        yield found


def names(browser: Any) -> list[str]:
    found = browser.js(
        "[...document.querySelectorAll('tr[data-i]')].filter(row => !row.hidden)"
        ".map(row => row.querySelector('.open').textContent)"
    )
    return list(found)


def wait(browser: Any, expression: str) -> Any:
    end = time.monotonic() + 10
    while not (value := browser.js(expression)):
        assert time.monotonic() < end, expression
        browser.settle()
    return value


def test_sorting_and_filters_in_a_browser(folder: Path, browser: Any) -> None:
    records = [
        migrated(folder),
        plain("b", Outcome.UNCHANGED, 20),
        plain("c", Outcome.UNCHANGED, 3),
        plain("a", Outcome.FAILED, 100),
    ]
    written(folder, records)
    browser.open(folder / "report.html")
    assert names(browser) == ["a", "acme/one", "b", "c"]

    def press(selector: str) -> list[str]:
        browser.js(f"document.querySelector({selector!r}).click()")
        return names(browser)

    found = "th:nth-child(3) button"
    assert press(found) == ["a", "b", "acme/one", "c"]  # as numbers, the largest first
    assert browser.js("document.querySelector('th:nth-child(3)').ariaSort") == "descending"
    assert press(found) == ["acme/one", "c", "b", "a"]
    assert press("th:nth-child(1) button") == ["a", "acme/one", "b", "c"]
    assert press("[data-outcome=unchanged]") == ["b", "c"]
    assert press("[data-outcome=failed]") == ["a", "b", "c"]
    assert browser.js("document.getElementById('shown').textContent") == "3 of 4 shown"
    assert press("[data-outcome=failed]") == ["b", "c"]
    assert press("[data-rule=module-not-moved]") == []
    assert not browser.js("document.getElementById('none').hidden")
    assert press("#clear") == ["a", "acme/one", "b", "c"]
    assert press("[data-rule=module-not-moved]") == ["acme/one"]
    press("#clear")
    browser.js("search.value = 'NOTHING to'; search.dispatchEvent(new Event('input'))")
    assert names(browser) == ["a", "b", "c"]
    press("#clear")
    browser.js("proof.value = 'passed'; proof.dispatchEvent(new Event('change'))")
    assert names(browser) == ["acme/one"]
    assert browser.requests == [(folder / "report.html").as_uri()]
    assert browser.problems == []


def test_a_repository_opens_in_a_browser(folder: Path, browser: Any) -> None:
    written(folder, [migrated(folder), plain("z", Outcome.UNCHANGED)])
    browser.open(folder / "report.html", "#acme/one")
    text = wait(browser, "document.querySelector('.detail .diff') && "
                         "document.querySelector('.detail').innerText")  # fmt: skip
    for part in ("https://git.test/acme/one.git", "pytest -q", "m = Net()", "it has no fix",
                 "bad.py:3", "@acme/ml", "torch.ones(4, 3) is created on the CPU"):  # fmt: skip
        assert part in text
    marked = browser.js("[...document.querySelectorAll('mark')].map(one => one.textContent)")
    assert marked == [", device=device"]
    heads = browser.js("[...document.querySelectorAll('summary')].map(one => one.innerText)")
    assert [head.split() for head in heads if ".py" in head] == [
        ["train.py", "+1", "−1"], ["new", "one.py", "+2", "−0"]
    ]  # fmt: skip
    assert browser.js("document.querySelector('.diff .unseen').textContent") == "U+202E"
    links = "[...document.querySelectorAll('.detail a')].map(one => one.getAttribute('href'))"
    page = "one%20map.html"
    ends = ["", "#train.py", "#new%20one.py", "#a.py:7"]
    assert browser.js(links) == [page + end for end in ends]
    assert "-- not a head" in browser.js("document.querySelectorAll('.diff')[1].innerText")
    opened = "document.querySelector('.open').getAttribute('aria-expanded')"
    assert browser.js(opened) == "true"
    browser.js("document.querySelector('.open').focus()")
    browser.key("Enter")
    assert browser.js(opened) == "false"
    assert browser.js("document.querySelector('.detail').hidden")
    colours = []
    for scheme in ("light", "dark"):
        browser.media(scheme)
        colours.append(browser.js("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1]
    browser.media("")
    assert browser.problems == []


def test_an_attack_is_text_in_a_browser(folder: Path, browser: Any) -> None:
    written(folder, [hostile(folder)])
    browser.open(folder / "report.html")
    browser.js("window.alert = () => document.title = 'owned'")
    browser.js("document.querySelector('.open').click()")
    text = wait(browser, "document.querySelector('.detail table') && "
                         "document.querySelector('.detail').innerText")  # fmt: skip
    assert "<img src=x onerror=alert(1)></script><script>alert(2)</script>U+202E" in text
    assert browser.js("document.querySelectorAll('img').length") == 0
    assert browser.js("document.querySelectorAll('a[href^=java]').length") == 0
    assert browser.js("document.title") == "samedevice batch"
    assert browser.problems == []


def test_two_thousand_repositories_in_a_browser(folder: Path, browser: Any) -> None:
    records = [plain(f"group/r{number}", Outcome.UNCHANGED, number) for number in range(2_000)]
    records[7] = migrated(folder, "group/x")
    written(folder, records)
    started = time.monotonic()
    browser.open(folder / "report.html")
    assert browser.js("document.getElementById('shown').textContent") == "2,000 shown"
    browser.js("document.querySelector('th:nth-child(3) button').click()")
    assert names(browser)[:2] == ["group/r1999", "group/r1998"]
    browser.js("search.value = 'r19'; search.dispatchEvent(new Event('input'))")
    assert len(names(browser)) == 111
    assert time.monotonic() - started < 15  # some 1.5 s, on a machine with nothing else to do
    assert (folder / "report.html").stat().st_size < 4_000_000
