"""The tracebacks that `explain` is tried on.

`recorded` has those with which programs of `tests/suite` stop before any repair, on the virtual
accelerator, or on a CPU where they ask for CUDA. `texts.toml` has messages as people paste them,
written after public issues.

    python -m tests.explain.collection

records those of the programs anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cases.running import Runner, Where
from tests.suite.catalogue import Program, programs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
HOME = "/home/ada/project"


@dataclass(frozen=True)
class Text:
    """A text that somebody pastes, and what it is about.

    `program` is what it came from, if that matters; `rule` and `line` are of the finding that
    explains it, and `operands` the places that torch saw. `doubt`: the code does not show them.
    """

    name: str
    text: str
    topic: str
    program: str = ""
    rule: str = ""
    line: int = 0
    operands: tuple[str, ...] = ()
    doubt: bool = False


def texts() -> list[Text]:
    """Return the texts written after public issues."""
    table = tomllib.loads((HERE / "texts.toml").read_text("utf-8"))
    return [
        Text(name, **{key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()})
        for name, facts in table.items()
    ]


def recorded() -> Iterator[tuple[Program, str]]:
    """Yield the programs that stop, with their tracebacks."""
    for program in programs():
        path = RECORDED / f"{program.name}.txt"
        if path.is_file():
            yield program, path.read_text("utf-8")


def record() -> None:
    """Run the programs that stop somewhere, and keep what they say then."""
    with Runner() as runner:
        for program in programs():
            if program.before not in ("clash", "cuda", "both") or "main.py" not in program.files:
                continue
            where: Where = "cpu" if program.before == "cuda" else "virtual"
            said = runner.run(program.files, "main.py", where).stderr
            path = RECORDED / f"{program.name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_tidied(said), "utf-8")


def _tidied(said: str) -> str:
    """Return a traceback as another machine would show it, without what ran the program there."""
    said = re.sub(r'  File "[^"\n]*(?:forkserver\.py|<frozen runpy>)".*\n(?:    .*\n)*', "", said)
    said = re.sub(r"/[^\s\"']*/site-packages/", "/opt/venv/lib/python3.11/site-packages/", said)
    return re.sub(r"(?:/[^\s\"'/]+)*/tmp\w+/tmp\w+/", f"{HOME}/", said)


if __name__ == "__main__":
    record()
