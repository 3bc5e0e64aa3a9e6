"""Lead a run to its copy: imports that would come from the user's own tree come from the copy.

A package that is installed in editable mode, an absolute `PYTHONPATH` and a program that puts an
absolute folder on `sys.path` all name the tree that was copied, and what ran there would prove
nothing about the copy. Such paths are rewritten, and so is what import hooks find. What cannot be
led (a file that is read and executed by its absolute name) is at least seen: `prove.trail`.

The child process installs this (`install`), and the processes that it starts find it in their
environment, through the hook that makes them virtual. Needs only the standard library.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import Any

VARIABLE = "SAMEDEVICE_LEAD"
# Folders of an installation, which may lie inside a project but do not belong to it.
_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules", ".git", ".tox", ".nox"})
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Lead:
    """Where a run is led, and what is watched on the way.

    `roots` are the user's folders or files, absolute, and the paths in the copy that stand for
    them. `copy` is the folder of the copy. `changed` are its files that differ between the two
    sides, and `lines` says whether their lines are followed. `trail` is the file that
    `prove.trail` writes. `wanted` is a file that says which expressions tell what they give
    (`prove.sights`), or "".
    """

    copy: str
    trail: str
    roots: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    lines: bool = False
    wanted: str = ""

    def dump(self) -> str:
        """Return what `load` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Lead:
        """Return what `asdict` or the JSON of `dump` gave away."""
        return cls(**data)

    def to_copy(self, path: str) -> str | None:
        """Return the path in the copy that stands for one in the user's tree; None for others."""
        if not path or not os.path.isabs(path):
            return None
        for name in {os.path.normpath(path), os.path.realpath(path)}:
            if _inside(name, self.copy):
                return None
            for root, copy in self.roots.items():
                if _inside(name, root) and not _is_installed(name, root):
                    return os.path.normpath(os.path.join(copy, os.path.relpath(name, root)))
        return None

    def search_path(self, path: str) -> str:
        """Return a list of folders, as `PYTHONPATH` is one, with the user's led to the copy."""
        return os.pathsep.join(self.to_copy(entry) or entry for entry in path.split(os.pathsep))

    def source_folder(self) -> str:
        """Return the copy's `src`, if packages lie in it as in a project of that layout, or ""."""
        folder = os.path.join(self.copy, "src")
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return ""
        try:
            with os.scandir(folder) as entries:
                if any(os.path.isfile(os.path.join(one.path, "__init__.py")) for one in entries):
                    return folder
        except OSError:
            pass
        return ""


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _is_installed(path: str, root: str) -> bool:
    """Tell whether a path in a root is Python's, a virtual environment's, or ours."""
    for prefix in (sys.prefix, sys.base_prefix, _OURS):
        if _inside(path, prefix) and _inside(prefix, root):
            return True
    return not _INSTALLED.isdisjoint(os.path.relpath(path, root).split(os.sep))


class _Finder(MetaPathFinder):
    """Stands before all other finders, and corrects what they find."""

    def __init__(self, lead: Lead) -> None:
        self._lead = lead
        self._to_copy = functools.cache(lead.to_copy)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a module's spec in the copy, if the first finder that has it would leave it.

        Raises ModuleNotFoundError where the copy has no such module: it is not in that version.
        """
        self.correct(sys.path)
        missing = False
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is None:
                continue
            led = self._led(spec)
            if led is not None:
                return led
            missing = True
        if missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

    def correct(self, path: list[str]) -> None:
        """Lead the entries of a search path to the copy."""
        for at, entry in enumerate(path):
            if isinstance(entry, str) and (other := self._to_copy(entry)):
                path[at] = other

    def _led(self, spec: ModuleSpec) -> ModuleSpec | None:
        """Return a spec as it is, its like in the copy, or None when the copy has none."""
        locations = spec.submodule_search_locations
        folders = None
        if locations is not None:
            folders = [self._to_copy(one) or one for one in locations if isinstance(one, str)]
        origin = self._to_copy(spec.origin) if spec.has_location and spec.origin else None
        if origin is not None:
            if not os.path.isfile(origin):
                return None
            return spec_from_file_location(spec.name, origin, submodule_search_locations=folders)
        if spec.origin is None and folders and any(map(self._to_copy, locations or ())):
            spec.submodule_search_locations = folders  # a namespace, which has no file
        return spec


def install(lead: Lead) -> None:
    """Lead this process and those that it will start."""
    finder = _Finder(lead)
    finder.correct(sys.path)
    source = lead.source_folder()
    if source and source not in sys.path:
        installed = (at for at, one in enumerate(sys.path) if not _INSTALLED.isdisjoint(
            os.path.normpath(one).split(os.sep)))  # fmt: skip
        sys.path.insert(next(installed, len(sys.path)), source)
    sys.meta_path.insert(0, finder)
    os.environ[VARIABLE] = lead.dump()
    if os.environ.get("PYTHONPATH"):
        os.environ["PYTHONPATH"] = lead.search_path(os.environ["PYTHONPATH"])


def install_from_environment() -> None:
    """Lead a process that a led one started, and follow it."""
    value = os.environ.get(VARIABLE)
    if not value:
        return
    from samedevice.prove import trail

    lead = Lead.load(json.loads(value))
    install(lead)
    trail.sights(lead)
    trail.follow(lead)
