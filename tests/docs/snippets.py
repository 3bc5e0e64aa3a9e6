"""Run the commands of the documentation's pages, and compare what they print.

A comment above a fenced block says what it is for:

    <!-- file: train.py -->   the block is a file, written before what follows is run
    <!-- run -->              each line that begins with "$ " is run, and has to print what follows
    <!-- run: torch -->       the same, and it needs torch
    <!-- shown: WHY -->       for people only, and why

In what is expected, `...` stands for anything, within a line or, alone on one, for any lines. Exit
codes 0 and 1 are as good as each other: 1 means findings. `python tests/docs/snippets.py PAGE...`
writes what is printed into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^(?:<!-- (?P<what>file|run|shown)(?:: (?P<detail>.*?))? -->\n)?"
    r"(?P<fence>```+)(?P<language>\w*)\n(?P<text>.*?\n)(?P=fence)$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: `what` is file, run, shown or "" where no comment stands above it."""

    what: str
    detail: str
    language: str
    text: str
    span: tuple[int, int]
    line: int


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [
        Block(
            found["what"] or "",
            found["detail"] or "",
            found["language"],
            found["text"],
            found.span("text"),
            page.count("\n", 0, found.start("text")) + 1,
        )
        for found in _BLOCK.finditer(page)
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run(command: str, folder: Path) -> str:
    """Return what a command prints, run by a shell in `folder` with this samedevice."""
    tools = folder.parent / "bin"
    if not tools.exists():
        tools.mkdir()
        for name, words in {"samedevice": ["-m", "samedevice"], "python": []}.items():
            command_line = shlex.join([sys.executable, *words])
            (tools / name).write_text(f'#!/bin/sh\nexec {command_line} "$@"\n')
            (tools / name).chmod(0o755)
    colours = ("NO_COLOR", "FORCE_COLOR")
    kept = {key: value for key, value in os.environ.items() if key not in colours}
    environment = kept | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "CLONE": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder, env=environment, encoding="utf-8", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise AssertionError(f"$ {command}\n{done.stdout}(exit code {done.returncode})")
    return re.sub(r"[ \t]+$", "", done.stdout.replace(str(folder), "~"), flags=re.M)


def matches(expected: str, printed: str) -> bool:
    """Say whether `printed` is what is expected, with `...` for anything."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


def check(path: Path, folder: Path, *, torch: bool) -> list[str]:
    """Return what is wrong with a page, whose blocks run in `folder` (a new one)."""
    wrong = []
    folder.mkdir(parents=True)
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.what == "file":
            (folder / block.detail).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.detail).write_text(block.text, encoding="utf-8")
        elif block.what == "run" and (torch or block.detail != "torch"):
            for command, expected in commands(block.text):
                printed = run(command, folder)
                if not matches(expected, printed):
                    wrong.append(f"{path}:{block.line}: $ {command}\n{printed}")
    return wrong


def write(path: Path) -> None:
    """Write what the commands of a page print now into it, where that is something else."""
    page = path.read_text(encoding="utf-8")
    new = page
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "work"
        folder.mkdir()
        moved = 0
        for block in blocks(page):
            if block.what == "file":
                (folder / block.detail).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.detail).write_text(block.text, encoding="utf-8")
            elif block.what == "run":
                text = ""
                for command, expected in commands(block.text):
                    printed = run(command, folder)
                    text += f"$ {command}\n" + (expected if matches(expected, printed) else printed)
                start, stop = (at + moved for at in block.span)
                new = new[:start] + text + new[stop:]
                moved += len(text) - len(block.text)
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Path(name))
