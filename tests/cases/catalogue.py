"""What `cases.toml` says of the programs, and what may be asked of a repair."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
STUBS = HERE / "stubs"  # a little of the libraries that the programs import

Files = dict[str, str]
Wanted = Literal["same", "runs", "computes", "fails", "whole", "any"]


@dataclass(frozen=True)
class Case:
    """A program and what should become of it.

    `should` says it in words. `unchanged`: no byte of it changes. `has` and `lacks` are pieces of
    code, as `ast` spells them, that have to be in the result or not. `cpu` and `device` say how
    the result runs: "same" as before, and to the end; it "runs", however it was before; it "fails"
    as before; it runs as a "whole" if it changed at all; "any" asks for nothing but that what ran
    before runs after. On the device, "computes" asks for operations there, too.
    `gpus` is how many accelerators the device has.
    `pending` names what of it fails today (text, cpu, device), and `cause` why.
    """

    name: str
    should: str
    unchanged: bool = False
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    cpu: Wanted = "same"
    device: Wanted = "runs"
    entry: str = "main.py"
    gpus: int = 1
    pending: tuple[str, ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def files(self) -> Files:
        """The texts of the program, by their paths."""
        return texts(PROGRAMS / self.name)


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases."""
    found = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
    return tuple(
        Case(name, **{key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()})
        for name, facts in found.items()
    )


def texts(folder: Path) -> Files:
    """Return the Python files under `folder` by their relative paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*.py"))
    }


def write(files: Files, folder: Path) -> None:
    """Lay the files out in `folder`."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


def objections(case: Case, before: Files, after: Files) -> list[str]:
    """Return what of the text of a repair is not as it should be."""
    if case.unchanged:
        return [f"{path} changed" for path in after if after[path] != before.get(path)]
    found = []
    code = "\n".join(ast.unparse(ast.parse(text)) for text in after.values())
    found += [f"{piece!r} is missing" for piece in case.has if piece not in code]
    found += [f"{piece!r} is there" for piece in case.lacks if piece in code]
    return found
