"""What the site has beside its pages, and the pictures that are made of real maps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from samedevice import rules

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import assistants  # noqa: E402  # beside the pages, in no package
import picture  # noqa: E402
import screens  # noqa: E402

NAV = [
    {"Home": "index.md"},
    {"Errors": [{"All": "errors/index.md"}, {"Two": "errors/two-devices.md"}]},
    {"Measured": [{"Speed": "proof/speed.md"}]},
]


def test_a_description_is_the_first_sentence_without_marks() -> None:
    page = "# T\n\n```text\nError: no\n```\n\n| a |\n| --- |\n\n"
    page += "A `x` * 2 and [a link](b.md){ .c }\nhere.\n\nNo."
    assert assistants.description(page) == "A x * 2 and a link here."
    long = assistants.description("word " * 100)
    assert len(long) <= 160 and long.endswith("word \u2026")
    assert assistants.description("# only a heading\n") == ""


def test_cells_know_their_heads() -> None:
    table = (
        "<table><thead><tr><th>key</th><th></th><th>a <code>b</code></th></tr></thead>"
        "<tbody><tr><td>1</td><td>2</td><td style='x'>3</td></tr></tbody></table>"
    )
    made = assistants.with_heads(table)
    assert '<td data-head="key">1</td><td>2</td><td data-head="a b" style=' in made


def test_llms_txt_lists_pages_and_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "errors/index.md": "# E\n\nEach page says more.\n",
        "index.md": "Home it is.",
        "proof/speed.md": "Fast.",
        "reference/rules/batch-not-moved.md": "A rule.",
    }
    monkeypatch.setattr(assistants, "_texts", texts)
    text = assistants.llms(NAV, "About it.", "https://example.org/s/")
    assert text.startswith("# samedevice\n\n> About it.\n")
    assert "- [Home](https://example.org/s/): Home it is.\n" in text
    assert "- [All](https://example.org/s/errors/): Each page says more.\n" in text
    assert "- [Two](https://example.org/s/errors/two-devices/)\n" in text
    order = [text.index(part) for part in ("## Start", "## Errors", "## Rules", "## Optional: Mea")]
    assert order == sorted(order)
    assert text.count("/reference/rules/") == len(rules.load())
    full = assistants.llms_full(NAV)
    assert "Home it is." in full and "A rule." in full and "Fast." not in full


def test_the_index_of_rules_is_json() -> None:
    rows = json.loads(assistants.rules_json(""))["rules"]
    assert [row["name"] for row in rows] == list(rules.load())
    assert all(row["summary"] and row["url"].startswith("reference/rules/") for row in rows)


def test_pictures_show_what_the_programs_do_now(tmp_path: Path) -> None:
    picture.maps(tmp_path)
    for name in ("map.svg", "home.svg"):
        assert (tmp_path / name).read_text("utf-8") == (DOCS / name).read_text("utf-8"), (
            "make picture draws it anew"
        )


def test_every_screen_is_there_small_and_on_its_page() -> None:
    page = (DOCS / "proof" / "screens.md").read_text("utf-8")
    names = {
        f"{screen.name}-{width}.webp"
        for screen in screens.screens(Path("/pages"), "http://site/")
        for width in screens.WIDTHS
    }
    assert {path.name for path in screens.SCREENS.iterdir()} == names
    for name in names:
        assert f"(screens/{name})" in page
        assert (screens.SCREENS / name).stat().st_size < 150_000


def test_pages_of_samedevice_for_the_screens_can_be_made(tmp_path: Path) -> None:
    screens.write_pages(tmp_path)
    for screen in screens.screens(tmp_path, "http://site/"):
        if screen.address.startswith("file:"):
            assert (tmp_path / screen.address.rpartition("/")[2]).stat().st_size > 1000
    assert "each box is a folder" in (tmp_path / "many.html").read_text("utf-8")


def test_a_warning_ends_the_build() -> None:
    """With --quiet MkDocs counts no warnings, and --strict finds none."""
    recipe = (DOCS.parent / "Makefile").read_text("utf-8")
    assert "-m mkdocs build --strict\n" in recipe
