from __future__ import annotations

import re
from pathlib import Path

from . import fetch
from .__main__ import Result, difference, edits, page, run

ROOT = Path(__file__).resolve().parents[2]
DIFF = (
    "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/b.py\n@@ -1 +1 @@\n z\n+w\n"
)


def test_edits_by_file() -> None:
    assert dict(edits(DIFF)) == {"a.py": ("-x", "+y"), "b.py": ("+w",)}


def test_a_page_tells_what_is_gone_and_what_is_new() -> None:
    old = Result(frozenset({("a.py", 1, "r", "gone"), ("a.py", 2, "r", "stays")}))
    new = Result(frozenset({("a.py", 2, "r", "stays")}), (("a.py", ("+new",)),))
    assert difference(old, new) == ["- a.py:1: r: gone", "@@ edits of a.py", "+ +new"]
    text = page(("1", "2"), {"one": (old, new), "other": (new, new)})
    assert "3 → 2 findings; 1 → 2 files edited; 1 projects are judged and edited as before" in text
    assert "| one | 1 | 0 | 1 |" in text
    assert "+new" in text


def test_a_page_that_is_kept_has_nothing_of_the_projects_in_it() -> None:
    old = Result(frozenset({("a.py", 1, "r", "`secret` is gone")}))
    new = Result(edits=(("a.py", ("+secret", "-secret", "+secret")),))
    assert difference(old, new, code=False) == [
        "- a.py:1: r",
        "@@ edits of a.py: 0 lines gone, 3 new",
    ]
    assert "secret" not in page(("1", "2"), {"one": (old, new)}, code=False)


def test_a_failure_is_a_difference() -> None:
    assert difference(Result(), Result(failure="it hangs")) == ["+ it hangs"]


def test_what_samedevice_says_is_understood(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = torch.zeros(2).cuda()\nprint(x)\n")
    (tmp_path / "bad.py").write_text("import torch\nx = (\n")
    result = run(ROOT / "codemods", tmp_path, 120)
    assert not result.failure
    assert {path for path, *_ in result.findings} == {"a.py"}
    assert [path for path, _ in result.edits] == ["a.py"]
    assert len(result.errors) == 1


def test_projects_are_pinned() -> None:
    listed = fetch.listed()
    assert len(listed) >= 50
    assert len({project.folder for project in listed}) == len(listed)
    for project in listed:
        name, revision = r"[\w.-]+/[\w.-]+", r"[0-9a-f]{40}"
        if project.package:
            name, revision = r"[\w-]+", r"\d+(\.\d+)+"
        assert re.fullmatch(name, project.name) and re.fullmatch(revision, project.revision)


def test_what_is_there_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a+b").mkdir()
    (tmp_path / "c-1.0").mkdir()
    assert fetch.fetch(fetch.Pinned("a/b", "0" * 40), tmp_path).name == "a+b"
    assert fetch.fetch(fetch.Pinned("c", "1.0", True), tmp_path).name == "c-1.0"
