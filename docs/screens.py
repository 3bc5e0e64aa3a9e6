"""Make the pictures of docs/proof/screens.md: `make screens`, which builds the site first.

The map, the reports and the site are opened in a headless Chromium, at three widths.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.map.browser import Browser, find  # noqa: E402

PROJECTS = ROOT / "fixtures" / "projects"
SCREENS = ROOT / "docs" / "proof" / "screens"
WIDTHS = {390: 844, 820: 1000, 1400: 900}  # a phone, a tablet, a laptop: width and height
#: Several programs as one project, so that there are more files than a drawing has boxes.
MANY = (
    "device_aware",
    "dqn",
    "nested_package",
    "package_classifier",
    "scripts_share_a_folder",
    "seq2seq",
    "siamese",
    "trainer_class",
)


@dataclass(frozen=True)
class Screen:
    """A page, how it is shown, and what is done with it first."""

    name: str
    address: str
    scheme: str = "light"
    script: str = ""


def to(selector: str) -> str:
    """Return JavaScript that brings an element to the top of the window."""
    return f"document.querySelector({selector!r}).scrollIntoView()"


def screens(pages: Path, site: str) -> list[Screen]:
    """Return all screens; `pages` has the files that samedevice wrote, `site` is the address."""
    trainer, many = (pages / f"{name}.html" for name in ("trainer", "many"))
    return [
        Screen("map", trainer.as_uri()),
        Screen("map-dark", trainer.as_uri(), "dark"),
        Screen("map-drawing", many.as_uri(), script=to(".overview")),
        Screen("findings", (pages / "findings.html").as_uri()),
        Screen("changes", (pages / "changes.html").as_uri()),
        Screen("site-home", site),
        Screen("site-error", f"{site}errors/two-devices/", "dark"),
        Screen("site-table", f"{site}errors/"),
        Screen("site-rule", f"{site}reference/rules/batch-not-moved/"),
    ]


def write_pages(folder: Path) -> None:
    """Let samedevice write its pages about fixtures."""
    work = folder / "work"
    shutil.copytree(PROJECTS / "trainer_class" / "before", work / "trainer")
    for name in MANY:
        kind = next(k for k in ("before", "keep") if (PROJECTS / name / k).is_dir())
        shutil.copytree(PROJECTS / name / kind, work / "many" / name)
    for words in (
        ["map", "--quiet", "--fixed", "-o", "../trainer.html", "trainer"],
        ["map", "--quiet", "--fixed", "-o", "../many.html", "many"],
        ["check", "--exit-zero", "--report", "html=../findings.html", "trainer"],
        ["fix", "--diff", "--report", "../changes.html", "trainer"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "samedevice", *words], cwd=work, capture_output=True, text=True
        )
        if done.returncode > 1:
            sys.exit(f"samedevice {' '.join(words)}: {done.stderr}")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the context lasts; gives the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def main() -> None:
    """Write every screen at every width."""
    program = find()
    if program is None:
        sys.exit("there is no Chromium or Chrome here")
    SCREENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, served(ROOT / "site") as site:
        folder = Path(temporary)
        write_pages(folder)
        for screen in screens(folder, site):
            # one browser for each, since a site remembers the colours of the screen before
            with Browser(program) as browser:
                browser.media(screen.scheme)
                for width, height in WIDTHS.items():
                    browser.size(width, height)
                    browser.go(screen.address)
                    browser.js("new Promise(done => setTimeout(done, 1500))")  # for its script
                    if screen.script:
                        browser.js(screen.script)
                    browser.settle()
                    wide = browser.js("document.documentElement.scrollWidth")
                    if wide > width:
                        sys.exit(f"{screen.name} is {wide} pixels wide in a window of {width}")
                    browser.shoot(SCREENS / f"{screen.name}-{width}.webp")


if __name__ == "__main__":
    main()
