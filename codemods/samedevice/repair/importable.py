"""What a file of a project can import, and under which name, in each program that runs it.

Python finds a module from the folders on its path: that of the script that was started, and others
that its user put there. Nobody writes those down, but the imports of a program that works show
them: `from src.models import Net` in `run.py` says that `src/` is in a folder that is searched. A
name is given to a file only where it holds in every program that leads to it.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from samedevice.reading.project import Project
from samedevice.reading.syntax import is_main_test, statements

#: The files that say how a package is built.
_BUILDS = ("setup.py", "setup.cfg", "pyproject.toml")


@dataclass(frozen=True)
class _Start:
    """A file that is started, as a script or by whoever imports it; `folders` are searched then.

    Of `packages` it is known only that they are found: they may be installed without what lies
    beside them.
    """

    folders: frozenset[str]
    packages: frozenset[str]

    def finds(self, folder: str, place: str) -> bool:
        """Tell whether a module in `place` is found by its name below `folder`."""
        if folder in self.folders:
            return True
        return any(
            _is_in(place, package) and posixpath.dirname(package) == folder
            for package in self.packages
        )


@dataclass
class _Shown:
    """The folders that the absolute imports of a file show to be searched, and what they find."""

    always: set[tuple[str, str]] = field(default_factory=set)
    started: set[tuple[str, str]] = field(default_factory=set)
    relative: int = 0  # dots of its relative imports, at most
    is_script: bool = False


class Importable:
    """The modules of a project, as its files can name them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._shown: dict[str, _Shown] = {}
        self._starts: dict[str, list[_Start]] = {}
        self._start_of: dict[str, _Start] = {}
        self._built: dict[str, bool] = {}
        self._styles: dict[frozenset[str], bool] = {}
        self._roots: dict[str, str | None] = {}

    def module_name(self, path: str, target: str) -> str | None:
        """Return how a file can import another one, which need not exist; None if it cannot."""
        place = _place(target)
        if self._prefers_relative(path):
            name = self._relative(path, place)
            if name is not None:
                return name
        for folder in self._candidates(path):
            if _is_in(place, folder) and self.finds(path, folder, place):
                return place[len(folder) + 1 if folder else 0 :].replace("/", ".")
        return self._relative(path, place)

    def reaches(self, path: str, module: str, target: str) -> bool:
        """Tell whether an absolute import of a file finds another one in each of its programs."""
        folder = posixpath.dirname(target)
        if posixpath.basename(target) == "__init__.py":
            folder = posixpath.dirname(folder)
        for _ in range(module.count(".")):
            folder = posixpath.dirname(folder)
        return self.finds(path, posixpath.normpath(folder) if folder else "", _place(target))

    def finds(self, path: str, folder: str, place: str) -> bool:
        """Tell whether each program that runs a file finds a module below a folder."""
        return all(start.finds(folder, place) for start in self._programs(path))

    def runs_by_path(self, path: str) -> bool:
        """Tell whether a file is a script of its own, which knows of no package around it."""
        shown = self._read(path)
        return shown.is_script and not shown.relative

    def is_installed(self, path: str) -> bool:
        """Tell whether a file is a part of a package that others install, and import."""
        return self.project.is_package(path) and self._is_built(self._above(path))

    def root(self, folder: str) -> str | None:
        """Return the folder from which the files of another one name each other, as a package.

        `from attacks.base import Base` in `attacks/fast.py`: nobody searches `attacks` itself. None
        where they do not.
        """
        if folder not in self._roots:
            shown = {
                root
                for path in self.project.sources
                if folder and _folder(path) == folder
                for root, top in self._read(path).always
                if _is_in(folder, posixpath.join(root, top))
            }
            self._roots[folder] = min(shown, key=len, default=None)
        return self._roots[folder]

    def _candidates(self, path: str) -> Iterator[str]:
        shown = self._read(path)
        yield from () if self.project.is_package(path) else (_folder(path),)
        yield from sorted({folder for folder, _ in shown.always}, key=len, reverse=True)
        yield self._above(path)
        folders = {f for start in self._programs(path) for f in start.folders}
        yield from sorted(folders, key=lambda folder: (-len(folder), folder))

    def _prefers_relative(self, path: str) -> bool:
        """Tell whether modules of a program name each other relatively."""
        if self._read(path).relative:
            return True
        program = self.project.programs.get(path, frozenset((path,)))
        if program not in self._styles:
            self._styles[program] = any(self._read(other).relative for other in program)
        return self._styles[program] and self.project.is_package(path)

    def _relative(self, path: str, place: str) -> str | None:
        """Return the relative name of a module in the same package, if the file can use one."""
        if self.runs_by_path(path):
            return None
        dots, base = 1, _folder(path)
        shown = self._read(path).relative
        searched = {folder for start in self._programs(path) for folder in start.folders}
        while base and (dots <= shown or self.project.is_package(base + "/module")):
            if dots > shown and base in searched:
                break  # what lies in a folder that is searched is in no package
            if place.startswith(base + "/"):
                return "." * dots + place[len(base) + 1 :].replace("/", ".")
            dots, base = dots + 1, posixpath.dirname(base)
        return None

    def _programs(self, path: str) -> list[_Start]:
        """Return what is searched in each program that runs a file."""
        if path not in self._starts:
            found = {self._started(other) for other in self._leading(path)}
            self._starts[path] = [*found] or [self._started(path)]
        return self._starts[path]

    def _started(self, path: str) -> _Start:
        if path not in self._start_of:
            self._start_of[path] = self._start(path)
        return self._start_of[path]

    def _leading(self, path: str) -> Iterator[str]:
        """Yield the files that are started and lead to a file: those that nothing imports.

        A file that others import is started itself, too, if it has something to do then.
        """
        importers = self.project.importers
        seen, queue = {path}, [path]
        while queue:
            here = queue.pop()
            if not importers.get(here) or here == path and self._read(path).is_script:
                yield here
            more = importers.get(here, set()) - seen
            seen |= more
            queue += more

    def _start(self, path: str) -> _Start:
        """Return what is searched when a file is started."""
        own = self._read(path)
        shown = own.always | own.started
        seen, queue = {path}, [path]
        while queue:
            for target in self.project.imports.get(queue.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
                    shown = shown | self._read(target).always
        folders = {folder for folder, _ in shown if not self._is_built(folder)}
        above = self._above(path)
        if not self.project.is_package(path):
            root = None if own.is_script else self.root(_folder(path))
            folders.add(_folder(path) if root is None else root)
        elif own.relative or not own.is_script:
            folders.add(above)  # with -m, or by whoever imports the package
        elif above not in folders:
            folders.add(_folder(path))
        if posixpath.basename(path).startswith("test_"):
            folders.update(self._tested(above))
        packages = {posixpath.join(folder, top) for folder, top in shown}
        if self.project.is_package(path) and above in folders:
            packages.add(self._package(path))
            if self._is_built(above):
                folders.discard(above)  # it is installed without what lies beside it
        return _Start(frozenset(folders), frozenset(packages))

    def _tested(self, folder: str) -> Iterator[str]:
        """Yield the folders that pytest adds for a test: its own, and those of `conftest.py`."""
        yield folder
        while folder != (folder := posixpath.dirname(folder)):
            if posixpath.join(folder, "conftest.py") in self.project.sources:
                yield folder

    def _package(self, path: str) -> str:
        """Return the folder of the outermost package that a file is in."""
        above = self._above(path)
        inside = _place(path)[len(above) + 1 if above else 0 :]
        return posixpath.join(above, inside.partition("/")[0])

    def _above(self, path: str) -> str:
        """Return the folder that the outermost package of a file is in, or its own folder."""
        folder = _folder(path)
        while folder and self.project.is_package(posixpath.join(folder, "module")):
            folder = posixpath.dirname(folder)
        return folder

    def _is_built(self, folder: str) -> bool:
        """Tell whether packages in a folder are built from there, to be installed elsewhere."""
        if folder not in self._built:
            around = (folder, posixpath.dirname(folder)) if _is_src(folder) else (folder,)
            names = (posixpath.join(each, name) for each in around for name in _BUILDS)
            self._built[folder] = any(self._builds(name) for name in names)
        return self._built[folder]

    def _builds(self, path: str) -> bool:
        if path in self.project.sources:
            return True
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return not path.endswith(".toml") or "[build-system]" in file.read()
        except OSError:
            return False

    def _read(self, path: str) -> _Shown:
        """Return what the imports of a file show."""
        if path not in self._shown:
            found = self._shown[path] = _Shown()
            tree = self.project.tree(path)
            for node in tree.body if tree is not None else ():
                started = isinstance(node, ast.If) and is_main_test(node.test)
                found.is_script = found.is_script or started
                for statement in statements(node):
                    if isinstance(statement, ast.ImportFrom) and statement.level:
                        found.relative = max(found.relative, statement.level)
                    else:
                        (found.started if started else found.always).update(
                            self._searched(path, statement)
                        )
        return self._shown[path]

    def _searched(self, path: str, statement: ast.stmt) -> Iterator[tuple[str, str]]:
        """Yield the folders in which an absolute import finds files of the project."""
        names: list[str] = []
        if isinstance(statement, ast.ImportFrom) and statement.module:
            names = [statement.module]
        elif isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        for name in names:
            found = self.project.resolve(path, name)
            if found is None:
                continue
            place, dotted = _place(found).removesuffix("/__init__"), name.replace(".", "/")
            if place == dotted:
                yield "", name.partition(".")[0]
            elif place.endswith("/" + dotted):
                yield place[: -len(dotted) - 1], name.partition(".")[0]


def _is_in(place: str, folder: str) -> bool:
    """Tell whether a file is in a folder, or below it, or is that module itself."""
    return not folder or place == folder or place.startswith(folder + "/")


def _is_src(folder: str) -> bool:
    return posixpath.basename(folder) == "src"


def _place(path: str) -> str:
    return posixpath.splitext(posixpath.normpath(path))[0]


def _folder(path: str) -> str:
    return posixpath.dirname(posixpath.normpath(path))
