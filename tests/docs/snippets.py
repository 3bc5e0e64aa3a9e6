"""Run the commands of the documentation's pages, and compare what they print.

A comment above a fenced block says what it is for:

    <!-- file: train.py -->   the block is a file, written before what follows is run
    <!-- run -->              it is run: of a console or diff block each line that begins with
                              "$ ", which has to print what follows; one of Python or sh as a whole
    <!-- run: WORDS -->       the same, with some of these words:
        torch                 it needs torch
        list                  what the commands print is not shown
        fails                 the Python ends with the error that its last comment has
        NAME                  a scratch project that `scratch.py` makes

What is called later needs what was made before, so all blocks of a page run in one new folder.
`scratch.py` also has the commands that cannot be run, each with its reason.

In what is expected, `...` stands for anything, within a line or, alone on one, for any lines; times
and torch's version may differ. Exit codes 0 and 1 are as good as each other: 1 means findings.
`python tests/docs/snippets.py PAGE...` writes what is printed into the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import scratch  # noqa: E402  # beside this file, which is in no package

ROOT = scratch.ROOT
_BLOCK = re.compile(
    r"^(?:<!-- (?P<what>file|run)(?:: (?P<detail>.*?))? -->\n)?"
    r"(?P<fence>```+)(?P<language>\w*)\n(?P<text>.*?\n)(?P=fence)$",
    re.M | re.S,
)
#: Commands that are run in this process, which has read the rules and tables already.
_HERE = {"batch", "check", "explain", "fix", "map", "modernize", "rules"}
_ELSEWHERE = {"--prove", "--run"}
#: Commands that execute a program or import torch.
_TORCH = re.compile(r"samedevice (?:run|prove|doctor)\b|.* --prove\b|.* --run\b|pytest --virtual")


@dataclass(frozen=True)
class Block:
    """A fenced block: `what` is file, run or "" where no comment stands above it."""

    what: str
    detail: str
    language: str
    text: str
    span: tuple[int, int]
    line: int

    @property
    def words(self) -> list[str]:
        """What the comment says about a block that is run."""
        return self.detail.split() if self.what == "run" else []


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


class Runner:
    """Runs the blocks of one page in a new folder."""

    def __init__(self, folder: Path, *, torch: bool) -> None:
        self._folder = folder
        self._torch = torch
        self._made: set[str] = set()
        self._stack = contextlib.ExitStack()
        folder.mkdir(parents=True)
        tools = folder.parent / "bin"
        scratch.tools(tools)
        unwanted = ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "PYTEST_CURRENT_TEST")
        kept = {key: value for key, value in os.environ.items() if key not in unwanted}
        self._environment = kept | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "CLONE": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "SAMEDEVICE_CACHE_DIR": str(folder.parent / "cache"),
            "BROWSER": "true",
        }

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def block(self, block: Block) -> Iterator[tuple[str, str, str]]:
        """Run a block; yield each command, what it should print and what it prints."""
        if block.what == "file":
            path = self._folder / block.detail
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        if block.what != "run" or ("torch" in block.words and not self._torch):
            return
        for name in block.words:
            if name in scratch.PROJECTS and name not in self._made:
                self._made.add(name)
                made = scratch.PROJECTS[name](self._folder)
                self._environment |= self._stack.enter_context(made)
        if block.language in ("console", "diff"):
            for command, expected in commands(block.text):
                if command in scratch.NOT_RUN or _TORCH.match(command) and not self._torch:
                    yield command, expected, expected
                    continue
                printed = self._run(command)
                yield command, printed if "list" in block.words else expected, printed
        elif "fails" in block.words:
            yield self._failing(block.text)
        else:
            interpreter = {"python": sys.executable, "sh": "sh"}[block.language]
            self._run(f"{interpreter} -c {shlex.quote(block.text)}", whole=True)

    def _failing(self, code: str) -> tuple[str, str, str]:
        printed = self._run(f"{sys.executable} -c {shlex.quote(code)}")
        comment = re.findall("^# (.*)$", code, re.M)
        error = " ".join(comment)
        return code, error, error if error in " ".join(printed.split()) else printed

    def _run(self, command: str, *, whole: bool = False) -> str:
        words = shlex.split(command, comments=True)
        simple = not re.search(r"[|&;<>$`]", re.sub(r"\s#.*", "", command))
        ours = simple and words[0] == "samedevice" and words[1] in _HERE
        if ours and _ELSEWHERE.isdisjoint(words):
            code, printed = _in_process(words[1:], self._folder, self._environment)
        else:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=self._folder, env=self._environment, encoding="utf-8",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=300,
            )  # fmt: skip
            code, printed = done.returncode, done.stdout
        if code not in ((0,) if whole else (0, 1)) or "Traceback (most" in printed and code == 0:
            raise AssertionError(f"$ {command}\n{printed}(exit code {code})")
        return re.sub(r"[ \t]+$", "", printed.replace(str(self._folder), "~"), flags=re.M)


def _in_process(words: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Call the command line here; return its exit code and what it printed."""
    from samedevice import cli

    data = io.BytesIO()
    out = io.TextIOWrapper(data, "utf-8", write_through=True)
    words = scratch.adapted(words, environment)
    here = os.getcwd()
    try:
        os.chdir(folder)
        with (
            mock.patch.dict(os.environ, environment, clear=True),
            mock.patch.object(sys, "argv", ["samedevice", *words]),
            open(os.devnull, encoding="utf-8") as nothing,
            mock.patch.multiple(sys, stdin=nothing, stdout=out, stderr=out),
        ):
            cli.main()
    except SystemExit as end:
        code = end.code
    finally:
        os.chdir(here)
    out.flush()
    return int(code or 0), data.getvalue().decode()


_UNLIKE = (
    (re.compile(r" *\b[\d.,]+ (?=(?:ms|s)\b)"), " 0 "),  # a time, and what fills its column
    (re.compile(r"\btorch \d\S*"), "torch 0"),
    (re.compile("─+"), "─"),
)


def matches(expected: str, printed: str) -> bool:
    """Say whether `printed` is what is expected, with `...` for anything."""
    for pattern, same in _UNLIKE:
        expected, printed = pattern.sub(same, expected), pattern.sub(same, printed)
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None or expected == printed


def check(path: Path, folder: Path, *, torch: bool) -> list[str]:
    """Return what is wrong with a page, whose blocks run in `folder` (a new one)."""
    wrong = []
    with Runner(folder, torch=torch) as runner:
        for block in blocks(path.read_text(encoding="utf-8")):
            for command, expected, printed in runner.block(block):
                if not matches(expected, printed):
                    wrong.append(f"{path}:{block.line}: $ {command}\n{printed}")
    return wrong


def write(path: Path) -> None:
    """Write what the commands of a page print now into it, where that is something else."""
    page = path.read_text(encoding="utf-8")
    new = page
    with (
        tempfile.TemporaryDirectory() as temporary,
        Runner(Path(temporary) / "work", torch=True) as runner,
    ):
        moved = 0
        for block in blocks(page):
            done = list(runner.block(block))
            if block.language != "console" or not done or "list" in block.words:
                continue
            text = "".join(
                f"$ {command}\n" + (expected if matches(expected, printed) else printed)
                for command, expected, printed in done
            )
            start, stop = (at + moved for at in block.span)
            new = new[:start] + text + new[stop:]
            moved += len(text) - len(block.text)
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Path(name))
