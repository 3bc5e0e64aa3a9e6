"""The projects of projects.toml, each in a folder of its own, fetched once."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTED = Path(__file__).with_name("projects.toml")
FOLDER = Path(__file__).resolve().parents[2] / ".ecosystem"


@dataclass(frozen=True)
class Pinned:
    """A project: a repository at GitHub by its commit, or a package of PyPI by its version."""

    name: str
    revision: str
    package: bool = False

    @property
    def folder(self) -> str:
        """What its folder is called."""
        return f"{self.name}-{self.revision}" if self.package else self.name.replace("/", "+")


def listed() -> list[Pinned]:
    """Return all projects."""
    tables = tomllib.loads(LISTED.read_text("utf-8"))
    return [
        Pinned(name, revision, package)
        for table, package in (("github", False), ("pypi", True))
        for name, revision in tables[table].items()
    ]


def fetch(project: Pinned, folder: Path = FOLDER) -> Path:
    """Return the folder of a project below `folder`.

    Raises `CalledProcessError` when it cannot be fetched; nothing is left behind then.
    """
    place = folder / project.folder
    if place.is_dir():
        return place
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        whole = Path(temporary, "project")
        (_from_pypi if project.package else _from_github)(project, whole)
        whole.rename(place)
    return place


def _from_github(project: Pinned, place: Path) -> None:
    place.mkdir()
    for words in (
        ["init", "-q"],
        ["fetch", "-q", "--depth", "1", f"https://github.com/{project.name}", project.revision],
        ["checkout", "-q", "FETCH_HEAD"],
    ):
        subprocess.run(["git", *words], cwd=place, check=True)


def _from_pypi(project: Pinned, place: Path) -> None:
    """Take the Python files of a wheel: nothing is installed or executed."""
    wanted = f"{project.name}=={project.revision}"
    words = ["-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:", "--dest"]
    with tempfile.TemporaryDirectory() as wheels:
        subprocess.run([sys.executable, *words, wheels, wanted], check=True)
        (wheel,) = Path(wheels).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".py")]
            archive.extractall(place, names)
