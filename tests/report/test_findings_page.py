"""The page of findings in a headless Chromium: it loads nothing and fits at three widths."""

import sys
from pathlib import Path

import pytest

from samedevice import rules
from samedevice.migration import check, migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from samedevice.report import changes, findings_page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.map.browser import Browser, find  # noqa: E402  # the tests of the map have it

BEFORE = ROOT / "fixtures" / "projects" / "trainer_class" / "before"
PROGRAM = find()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    long = "import torch\nx = torch.zeros(3).cuda()  # " + "long " * 60 + "\n"
    sources = [*map(source.read, sorted(BEFORE.glob("*.py"))), source.from_text(long, "a" * 90)]
    project = Project(sources)
    findings = check.check(project, Config())
    page = findings_page.dump(findings, [], project.sources, rules.load(), 1, 2)
    outcome = migrate.migrate(project, Config())
    listed = changes.dump(changes.change_list(outcome), "changes.html")
    made = []
    for name, text in (("findings.html", page), ("changes.html", listed)):
        (folder / name).write_text(text, "utf-8")
        made.append(folder / name)
    return made


def test_every_link_leads_to_something(pages: list[Path]) -> None:
    import re

    for page in pages:
        text = page.read_text("utf-8")
        assert set(re.findall('href="#([^"]*)"', text)) <= set(re.findall('id="([^"]*)"', text))


@pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium or Chrome here")
def test_it_fits_and_loads_nothing(pages: list[Path]) -> None:
    assert PROGRAM is not None
    with Browser(PROGRAM) as browser:
        for page in pages:
            for width in (360, 900, 1400):
                browser.size(width, 800)
                browser.open(page)
                assert browser.js("document.documentElement.scrollWidth") <= width, (page, width)
        assert {request.rpartition("/")[2] for request in browser.requests} <= {
            page.name for page in pages
        }
        assert browser.problems == []
