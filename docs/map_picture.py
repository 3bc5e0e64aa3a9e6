"""Make docs/map.png from a real map: `python docs/map_picture.py`. It needs a Chromium."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.map.browser import Browser, find  # noqa: E402

PROJECT = ROOT / "fixtures" / "projects" / "trainer_class" / "before"


def main() -> None:
    """Write the map of a fixture, open a card on it, and save what is seen."""
    program = find()
    if program is None:
        sys.exit("there is no Chromium or Chrome here")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "trainer.html"
        command = [sys.executable, "-m", "samedevice", "map", ".", "--fixed", "-o", str(page)]
        subprocess.run(command, check=True, cwd=PROJECT)
        with Browser(program, 1280, 900) as browser:
            browser.open(page)
            browser.js("document.querySelector('h1').textContent = 'trainer'")
            browser.js("document.getElementById('trainer.py:41').scrollIntoView({block: 'center'})")
            browser.js("document.getElementById('trainer.py:48').querySelector('[data-i]').click()")
            browser.settle()
            browser.shoot(ROOT / "docs" / "map.png")


if __name__ == "__main__":
    main()
