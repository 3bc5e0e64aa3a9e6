"""Sentences that readers stumbled over stay out of messages and pages (see the page of style)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "docs" / "contributing" / "style.md"

RIDDLES = (
    "come to rest", "comes to rest", "its place was decided here", "nothing in reach names",
    "the dearest", "what was not used for longest", "memory that does not suffice",
)  # fmt: skip


def texts() -> list[Path]:
    """Return what readers see: pages, and the code with its messages."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path != STYLE]
    code = (ROOT / "codemods" / "samedevice").rglob("*.py")
    return sorted([*pages, *code, ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


@pytest.mark.parametrize("riddle", RIDDLES)
def test_no_text_has_a_sentence_that_nobody_understands(riddle: str) -> None:
    pattern = re.compile(re.escape(riddle).replace(r"\ ", r"\s+"), re.IGNORECASE)
    found = [path.relative_to(ROOT).as_posix() for path in texts()
             if pattern.search(path.read_text("utf-8"))]  # fmt: skip
    assert found == []


def test_the_page_of_style_lists_them() -> None:
    text = " ".join(STYLE.read_text("utf-8").split())
    assert sum(riddle in text for riddle in RIDDLES) >= 5
