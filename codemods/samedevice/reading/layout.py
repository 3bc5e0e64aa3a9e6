"""Imports -> files: which file an import statement means, by where the files lie."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Collection, Iterable

#: Names that mean a library even where a file of that name lies beside the importer.
_NEVER_OURS = sys.stdlib_module_names | {"torch", "numpy"}

#: Files of one folder that are looked at for an import.
_MANY = 300

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^()]*)\)|([^\n#;]*))"
    r"|import[ \t]+([^\n#;]+))",
    re.M,
)


class Layout:
    """The files of a project by their places."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_place = {normal(path): path for path in paths}
        self._resolved: dict[tuple[str, str, int], str | None] = {}
        self._homes: dict[str, str] = {}  # the folder of each file
        self._inside: dict[str, set[str]] = {}
        folders = {posixpath.dirname(place) for place in self._by_place}
        for place in self._by_place:
            above, name = posixpath.split(place)
            self._inside.setdefault(above, set()).add(name.removesuffix(".py"))
        for folder in folders:
            while folder.strip("/"):
                above, name = posixpath.split(folder)
                if name in self._inside.setdefault(above, set()):
                    break
                self._inside[above].add(name)
                folder = above
        stems = {place.rpartition("/")[2].removesuffix(".py") for place in self._by_place}
        self._stems = stems.union(*(folder.split("/") for folder in folders))

    def resolve(self, importer: str, module: str, level: int = 0) -> str | None:
        """Return the file that `import module` means in the file `importer`, if it is one of ours.

        An absolute name is looked for beside the importer (unless that is part of a package) and
        in each folder above it, which covers scripts sharing a folder, packages and `src` layouts
        alike. Within a package it is what is found from above the package; what a script finds that
        runs in a folder of it, or Python 2, comes last. Of a module and the package around it that
        have one name, the module is meant: the package gives on what that has, or nothing.
        """
        folder = self._homes.get(importer)
        if folder is None:
            folder = self._homes[importer] = posixpath.dirname(normal(importer))
        key = (folder, module, level)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(folder, module, level)
        return self._resolved[key]

    def is_package(self, path: str) -> bool:
        """Tell whether the file lies in a package (a folder with `__init__.py`)."""
        return self._is_package(posixpath.dirname(normal(path)))

    def imported(self, path: str, text: str) -> set[str]:
        """Return the files that the lines with imports name in a file's text."""
        found: set[str | None] = set()
        for match in _IMPORT.finditer(text):
            if match[4]:
                found.update(self.resolve(path, name) for name in _names(match[4]))
                continue
            module = match[1].lstrip(".")
            level = len(match[1]) - len(module)
            found.add(self.resolve(path, module, level))
            for name in _names(match[2] or match[3]):
                found.add(self.resolve(path, f"{module}.{name}" if module else name, level))
        return {target for target in found if target is not None and target != path}

    def _resolve(self, folder: str, module: str, level: int) -> str | None:
        parts = [part for part in module.split(".") if part]
        if parts and not self._may_have(parts[0]):
            return None  # nearly every import of a library
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._module(folder, parts)
        own = folder
        packages: list[str] = []  # from the innermost to the outermost
        while folder.strip("/") and self._is_package(folder):
            packages.append(folder)
            folder = posixpath.dirname(folder)
        if parts and parts[0] not in _NEVER_OURS:
            found = self._module(own, parts) if parts == [posixpath.basename(own)] else None
            if packages and found is not None and posixpath.dirname(normal(found)) == own:
                return found
        else:
            packages = []
        looked_for = (self._module(each, parts) for each in reversed(packages))
        return self._upward(folder, parts) or next(filter(None, looked_for), None)

    def _upward(self, folder: str, parts: list[str]) -> str | None:
        while True:
            for base in (folder, posixpath.join(folder, "src") if folder else "src"):
                if parts and parts[0] not in self._names_in(base):
                    continue
                found = self._module(base, parts)
                if found is not None:
                    return found
            if not folder or folder == "/":
                return None
            folder = posixpath.dirname(folder)

    def _module(self, folder: str, parts: list[str]) -> str | None:
        place = posixpath.join(folder, *parts) if parts else folder
        return self._file(place + ".py") or self._file(posixpath.join(place, "__init__.py"))

    def _is_package(self, folder: str) -> bool:
        return self._file(posixpath.join(folder, "__init__.py")) is not None

    def _may_have(self, name: str) -> bool:
        """Tell whether there is a file or a folder of that name anywhere."""
        return name in self._stems

    def _names_in(self, folder: str) -> Collection[str]:
        """Return the names of the files, without their ending, and of the folders in a folder."""
        return self._inside.get(folder, ())

    def _file(self, place: str) -> str | None:
        """Return the path of the file at a place, if there is one."""
        return self._by_place.get(place)


class OnDisk(Layout):
    """The files that lie on the disk around those of a project, read or not.

    Links are not followed, and nothing is looked for above the working directory (of a relative
    path) or above the repository (of an absolute one; without a repository, above the package).
    """

    def __init__(self) -> None:
        super().__init__(())
        self._listed: dict[str, dict[str, bool]] = {}  # what is in each folder: is it a file
        self._names: dict[str, set[str]] = {}
        self._bounds: dict[str, str] = {}

    def resolve(self, importer: str, module: str, level: int = 0) -> str | None:
        """Return the file that `import module` means in the file `importer`, if there is one."""
        found = super().resolve(importer, module, level)
        return found if found is None or found.startswith(self._bound(importer)) else None

    def around(self, path: str) -> list[str]:
        """Return the other files beside one, and those in the folders above it that may mean it.

        None of a folder that has very many.
        """
        folder = posixpath.dirname(normal(path))
        bound = self._bound(path).rstrip("/")
        found: list[str] = []
        while True:
            listed = self._list(folder)
            inside = [name for name, is_file in listed.items() if is_file and name.endswith(".py")]
            if len(inside) <= _MANY:
                found += (posixpath.join(folder, name) for name in sorted(inside))
            if folder in ("", "/", bound):
                break
            folder = posixpath.dirname(folder)
        return [each for each in found if each != normal(path)]

    def _bound(self, path: str) -> str:
        """Return how the paths begin that a file's imports may mean."""
        folder = posixpath.dirname(normal(path))
        if not posixpath.isabs(folder):
            return ""
        if folder not in self._bounds:
            above = folder
            while above != "/" and not os.path.lexists(posixpath.join(above, ".git")):
                above = posixpath.dirname(above)
            if above == "/":
                above = folder
                while self._is_package(above) and above != "/":
                    above = posixpath.dirname(above)
            self._bounds[folder] = posixpath.join(above, "")
        return self._bounds[folder]

    def _may_have(self, name: str) -> bool:
        return True

    def _names_in(self, folder: str) -> Collection[str]:
        if folder not in self._names:
            self._names[folder] = {name.removesuffix(".py") for name in self._list(folder)}
        return self._names[folder]

    def _file(self, place: str) -> str | None:
        folder, name = posixpath.split(place)
        return place if self._list(folder).get(name) else None

    def _list(self, folder: str) -> dict[str, bool]:
        if folder not in self._listed:
            try:
                with os.scandir(folder or os.curdir) as scan:
                    self._listed[folder] = {
                        entry.name: is_file
                        for entry in scan
                        if (is_file := entry.is_file(follow_symlinks=False))
                        or entry.is_dir(follow_symlinks=False)
                    }
            except OSError:
                self._listed[folder] = {}
        return self._listed[folder]


def normal(path: str) -> str:
    """Return a path in one spelling, with slashes."""
    return posixpath.normpath(path.replace(os.sep, "/"))


def _names(listed: str) -> list[str]:
    """Return the names in `a, b.c as d`."""
    code = re.sub("#.*", "", listed)
    return [words[0] for part in code.split(",") if (words := part.split())]
