"""What `suite.toml` says of the programs, and what the text of a repair tells."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from samedevice.migration import migrate
from samedevice.migration.check import is_wrong
from samedevice.reading.config import load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
TABLE = HERE / "suite.toml"
PENDING = HERE / "pending.toml"

Files = dict[str, str]


@dataclass(frozen=True)
class Program:
    """A program, and what should become of it.

    `name` is `area/name`: a file, or a folder whose entry is `main.py`. `kind` is "right" (`why`
    says what is unusual about it) or "defect" (`wrong` says what is the matter).

    `before` says how a defect shows. "host": the program runs everywhere and computes on the CPU.
    "clash": it runs on the CPU and stops on a device. "cuda": it stops where there is no CUDA.
    "both": it stops everywhere. "other": it runs on both, and does not do what was meant.

    After a repair it runs on the CPU with the same output, and on a device with its operations
    there. `device` is "runs" where nothing of it belongs on the device, and "less" where a machine
    with one device cannot run it. `output` is "differs" where what it prints depends on the device.

    `pending` says what fails today: "text" (seen without running it), "run"; `cause` says why.
    """

    name: str
    kind: Literal["right", "defect"]
    why: str = ""
    wrong: str = ""
    before: Literal["", "host", "clash", "cuda", "both", "other"] = ""
    device: Literal["computes", "runs", "less"] = "computes"
    output: Literal["same", "differs"] = "same"
    pending: tuple[str, ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def area(self) -> str:
        """What it is about."""
        return self.name.split("/")[0]

    @property
    def files(self) -> Files:
        """The texts of the program, by their paths."""
        folder = PROGRAMS / self.name
        if folder.is_dir():
            return texts(folder)
        for suffix in (".py", ".ipynb"):
            path = folder.with_suffix(suffix)
            if path.is_file():
                return {f"main{suffix}": path.read_text("utf-8")}
        raise FileNotFoundError(folder)


#: Rules that say of a place that nothing is known of it, or that it is left as it is.
_LEFT = ("undecided", "cuda-not-judged")


@dataclass(frozen=True)
class Repaired:
    """What `samedevice fix --yes` makes of a program, and what it still says of it then.

    `told` are the findings above a note, the undecided, and what is left that asks for CUDA;
    `blamed` are the findings alone.
    """

    files: Files
    told: tuple[str, ...]
    blamed: tuple[str, ...]
    errors: tuple[str, ...]


@cache
def programs() -> tuple[Program, ...]:
    """Return all programs of the suite."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    pending = tomllib.loads(PENDING.read_text("utf-8"))
    unknown = pending.keys() - table.keys()
    assert not unknown, unknown
    return tuple(
        _program(name, {**facts, **pending.get(name, {})}) for name, facts in table.items()
    )


def _program(name: str, facts: dict[str, str | list[str]]) -> Program:
    return Program(
        name, **{key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()}
    )


def texts(folder: Path) -> Files:
    """Return the Python files and notebooks under `folder` by their relative paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".ipynb")
    }


def runnable(files: Files) -> Files:
    """Return the files with each notebook as a script: its code, without the magics."""
    return {
        path.replace(".ipynb", ".py"): _script(text) if path.endswith(".ipynb") else text
        for path, text in files.items()
    }


def _script(notebook: str) -> str:
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    lines = [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("%", "!", "?"))) + "\n"


@cache
def repaired(program: Program) -> Repaired:
    """Do what `samedevice fix --yes` does, and ask `check` about the result."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in program.files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        config = load([folder])
        outcome = migrate.migrate(migrate.read([folder], config), config)
        migrate.apply(outcome)
        said = [(f"{f.rule}: {f.message}", is_wrong(f), f.rule) for f in outcome.remaining]
        return Repaired(
            texts(Path(folder)),
            tuple(text for text, wrong, rule in said if wrong or rule in _LEFT),
            tuple(text for text, wrong, _ in said if wrong),
            tuple(error.message for error in outcome.errors),
        )


def objections(program: Program, after: Repaired) -> list[str]:
    """Return what of the text of a repair is not as it should be."""
    found = list(after.errors)
    changed = [path for path, text in after.files.items() if program.files.get(path) != text]
    if program.kind == "right":
        found += [f"{path} changed" for path in changed]
        found += [f"blamed: {text}" for text in after.blamed]
    elif not changed and not after.told:
        found.append("silent: nothing changed and nothing said")
    return found
