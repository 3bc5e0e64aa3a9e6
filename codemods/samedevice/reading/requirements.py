"""The oldest torch that a project says it works with, so that no name is written that it lacks.

Read are, in one folder: pyproject.toml (dependencies, extras and groups, Poetry's table too),
requirements*.txt, also in `requirements/`, setup.cfg, setup.py and environment.yml. They are hints
of others about other tools: what cannot be read or has another shape counts as absent.
"""

from __future__ import annotations

import ast
import configparser
import contextlib
import errno
import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: A release of torch as (major, minor); (0, 0) where nothing is said about it.
Release = tuple[int, int]

UNKNOWN: Release = (0, 0)
LARGEST = 2_000_000  # bytes of one file of settings

_NAME = re.compile(
    r"\s*(?:[\w-]+::)?(?:torch|pytorch(?:-cpu|-gpu)?)\s*(?:\[[^\]]*\])?\s*(?![\w.-])([^;#]*)",
    re.IGNORECASE,
)
_FLOOR = re.compile(r"(?:>=|(?<![<>!~=])={1,3}|~=|>(?!=)|\^|~(?!=))\s*v?(\d{1,9})(?:\.(\d{1,9}))?")
_CEILING = re.compile(r"(<=?)\s*(\d{1,9})(?:\.(\d{1,9}))?")
_CONDA = re.compile(r"\s*-\s*['\"]?([^'\"#]+)")


def torch_floor(folder: str, pyproject: Mapping[str, Any]) -> Release | None:
    """Return the oldest torch that the files of a folder allow; None where none asks for torch.

    `pyproject` is the folder's pyproject.toml as read, which has the first word. Where files
    differ, the oldest release that one of them allows counts. `UNKNOWN` for a plain `torch`.
    """
    for requirements in (_of_pyproject(pyproject), _of_files(folder)):
        floors = {floor for text in requirements if (floor := floor_of(text)) is not None}
        if floors:
            return min(floors - {UNKNOWN}, default=UNKNOWN)
    return None


def floor_of(requirement: str) -> Release | None:
    """Return the oldest torch that one requirement allows; None if it is about something else.

    A requirement that only forbids what is newer than 1.x allows 1.0.
    """
    named = _NAME.match(requirement)
    if named is None:
        return None
    floors = [(int(m[1]), int(m[2] or 0)) for m in _FLOOR.finditer(named[1])]
    if floors:
        return max(floors)
    ceiling = _CEILING.search(named[1])
    if ceiling is not None and (int(ceiling[2]), int(ceiling[3] or 0)) <= (2, 0):
        return 1, 0
    return UNKNOWN


def _of_pyproject(document: Mapping[str, Any]) -> Iterator[str]:
    project = table(document, "project")
    groups = table(document, "dependency-groups")
    extras = table(project, "optional-dependencies")
    for listed in (project.get("dependencies"), *extras.values(), *groups.values()):
        yield from _texts(listed)
    poetry = table(table(document, "tool"), "poetry")
    groups = table(poetry, "group")
    for part in (poetry, *(table(groups, name) for name in groups)):
        for name, wanted in table(part, "dependencies").items():
            version = wanted.get("version", "") if isinstance(wanted, dict) else wanted
            if isinstance(version, str):
                yield f"{name}{version if version[:1] in '<>=~^!*' else '==' + version}"


def _of_files(folder: str) -> Iterator[str]:
    patterns = ("*requirements*.txt", os.path.join("requirements", "*.txt"))
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
            yield from _read(path).split("\n")
    parser = configparser.ConfigParser(interpolation=None)
    with contextlib.suppress(configparser.Error):
        parser.read_string(_read(os.path.join(folder, "setup.cfg")))
    for section in parser.sections():
        if section in ("options", "options.extras_require"):
            for value in parser[section].values():
                yield from value.split("\n")
    yield from _of_setup(_read(os.path.join(folder, "setup.py")))
    for name in ("environment.yml", "environment.yaml"):
        for line in _read(os.path.join(folder, name)).split("\n"):
            listed = _CONDA.match(line)
            if listed is not None:
                yield listed[1]


def _of_setup(text: str) -> Iterator[str]:
    """Yield the texts of a setup.py that stand in lists: requirements are among them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        for inner in node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else ():
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value


def _read(path: str) -> str:
    try:
        return contents(path).decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""


def contents(path: str) -> bytes:
    """Return the bytes of a file of settings; raises `OSError` when it cannot be one.

    A repository may have a link to a device in its place, or a FIFO, which would never end.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", path)
    if status.st_size > LARGEST:
        raise OSError(errno.EFBIG, f"more than {LARGEST // 1_000_000} MB of settings", path)
    with open(path, "rb") as file:
        return file.read(LARGEST)


def _texts(listed: object) -> Iterable[str]:
    return [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else ()


def table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table that others wrote; one of another shape counts as empty."""
    found = tables.get(name)
    return found if isinstance(found, dict) else {}
