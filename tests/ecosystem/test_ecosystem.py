from __future__ import annotations

import re
from pathlib import Path

from .__main__ import Result, difference, edits, page, run, tomllib

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
    assert "3 → 2 findings; 1 projects are judged and edited as before; 0 fail" in text
    assert "| one | 1 | 0 | 1 |" in text


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
    listed = tomllib.loads(Path(__file__).with_name("projects.toml").read_text())["github"]
    assert len(listed) >= 50
    for name, revision in listed.items():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", name), name
        assert re.fullmatch(r"[0-9a-f]{40}", revision), name
