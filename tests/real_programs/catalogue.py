"""The list of programs: which they are and how each is run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = {
    "A": "CPU-only and half-moved programs",
    "B": "correct device-aware programs",
    "C": "hard-coded CUDA programs",
    "D": "notebooks",
    "E": "programs of PyTorch 0.x that stop today",
    "F": "programs that name no device, of repositories nobody had looked at",
    "G": "programs that need CUDA, of repositories nobody had looked at",
    "H": "programs of the samples of docs/proof/fresh.md",
}


@dataclass(frozen=True)
class Program:
    """One program of one repository.

    ``path`` is relative to the repository. ``copy`` are the files and folders, relative to the
    repository too, that are copied, fixed and run; by default the program's own file.
    """

    list: str
    repo: str
    path: str
    copy: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    supplies: str = ""
    device_args: tuple[str, ...] = ()
    cwd: str = ""
    import_from: tuple[str, ...] = ()
    module: str = ""  # run with `-m` in place of the path
    driver: str = ""  # a file of ours in drivers/ that stands at the path: it calls the repository

    @property
    def name(self) -> str:
        """Repository and path, unique in the catalogue."""
        return f"{self.repo}/{self.path}"

    @property
    def copied(self) -> tuple[str, ...]:
        """What is copied from the checkout."""
        return self.copy or (self.path,)

    @property
    def folder(self) -> str:
        """The folder that the program is started in, relative to the repository."""
        return self.cwd or str(Path(self.path).parent)

    @property
    def notebook(self) -> bool:
        """Whether the program is a notebook."""
        return self.path.endswith(".ipynb")

    def checkout(self, corpus: Path) -> Path:
        """Where the repository lies under ``corpus``."""
        return corpus / self.repo.replace("/", "+")


def load(path: Path | None = None) -> list[Program]:
    """Read the catalogue, in its order.

    Raises ``ValueError`` for an unknown key, a missing one or a program listed twice.
    """
    path = path or Path(__file__).with_name("programs.toml")
    with path.open("rb") as stream:
        data = tomllib.load(stream)
    programs: list[Program] = []
    for repository in data["repository"]:
        shared = {key: value for key, value in repository.items() if key != "program"}
        for entry in repository["program"]:
            programs.append(_program(path, {**shared, **entry}))
    names = [(program.list, program.name, program.args) for program in programs]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: listed twice: {', '.join(twice)}")
    return programs


def _program(path: Path, entry: dict[str, object]) -> Program:
    try:
        return Program(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in entry.items()
            }  # type: ignore[arg-type]
        )
    except TypeError as error:
        raise ValueError(f"{path}: {entry}: {error}") from None
