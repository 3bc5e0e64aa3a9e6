"""Make docs/terminal.svg, docs/map.svg and docs/home.svg from real runs: `make picture`.

The commands run in a pseudo terminal, on the program of the tutorial; rich draws what they print.
"""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "fixtures" / "projects" / "trainer_class" / "before"
WIDTH = 100


def screen(commands: list[str], folder: Path, program: list[str]) -> str:
    """Return what a terminal shows of `samedevice COMMAND`s that run in `folder`, with colours."""
    shown = ""
    for command in commands:
        shown += f"\x1b[1m$ samedevice {command}\x1b[0m\n"
        shown += in_terminal([*program, *command.split()], folder) + "\n"
    return shown.rstrip()


def in_terminal(words: list[str], folder: Path) -> str:
    """Run a command with a pseudo terminal for its output; returns that."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment = kept | {"COLUMNS": str(WIDTH), "LINES": "50", "TERM": "xterm-256color"}
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        output = io.BytesIO()
        while True:
            try:
                read = os.read(ours, 1 << 16)
            except OSError:  # Linux says that the other end is closed by an error
                break
            if not read:
                break
            output.write(read)
    os.close(ours)
    return output.getvalue().decode().replace("\r\n", "\n")


def draw(shown: str, title: str, path: Path) -> None:
    """Write a picture of a terminal."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown))
    # a name of its own for its styles, so that the picture is the same after each run
    svg = console.export_svg(title=title, unique_id="samedevice")
    # fonts that the reader has, and none from another host
    svg = re.sub(r"@font-face \{.*?\n    \}\n", "", svg, flags=re.S)
    svg = svg.replace("Fira Code, monospace", "Menlo, Consolas, DejaVu Sans Mono, monospace")
    path.write_text(re.sub(r"[ \t]+$", "", svg, flags=re.M), encoding="utf-8")


def program(page: str, name: str) -> str:
    """Return the program that a page of the documentation has under a name."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- file: {re.escape(name)} -->\n```python\n(.*?)```", text, re.S)
    assert found is not None
    return found[1]


def maps(folder: Path) -> None:
    """Draw the map of three files, and that of the home page's program, into a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        shutil.copytree(PROJECT, work / "trainer")
        (work / "train.py").write_text(program("index.md", "train.py"), encoding="utf-8")
        for name, path in (("map.svg", "trainer"), ("home.svg", "train.py")):
            picture = ["map", "--quiet", "--fixed", "--image", str(folder / name), path]
            subprocess.run([sys.executable, "-m", "samedevice", *picture], check=True, cwd=work)


def main() -> None:
    """Draw `check` and `fix` of the tutorial's program, and the maps."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "notes.py").write_text(program("tutorial.md", "notes.py"), encoding="utf-8")
        commands = ["check notes.py", "fix --diff notes.py"]
        shown = screen(commands, folder, [sys.executable, "-m", "samedevice"])
    draw(shown, "samedevice", ROOT / "docs" / "terminal.svg")
    maps(ROOT / "docs")


if __name__ == "__main__":
    main()
