"""Folder -> Project: the files that belong together and how their imports connect them."""

from __future__ import annotations

import ast
import copy
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from samedevice.reading import source as source_
from samedevice.reading import syntax
from samedevice.reading.layout import Layout, normal
from samedevice.reading.patterns import Matching
from samedevice.reading.seen import Seen
from samedevice.reading.settings import SettingsFiles
from samedevice.reading.source import Source, SourceError

#: Files with these words may import others by texts.
_BY_TEXT = re.compile(r"\bimport_module\b|\b__import__\b")
#: What a file says that has to do with tensors: torch, or where a library's model goes.
_ABOUT = re.compile(r"torch|\bcuda\b|[\"'](mps|xpu)\b")
#: Where a file says on which device it computes, or takes gradients.
_ASKS_CUDA = re.compile(r"\bcuda\.is_available\(")
_COMPUTES = re.compile(
    r"[\"']cuda|\.cuda\(|\.to\((self\.|args\.)?device\)|\bdevice *=|\.backward\(", re.IGNORECASE
)

#: Lines that are analysed at once; their trees and values take some 200 MB.
PART = 100_000
#: Lines of files that imports connect, which are analysed at once all the same.
WHOLE = 400_000


@dataclass(frozen=True)
class Imported:
    """One module of an import statement, and the names that are taken from it."""

    module: str
    level: int
    names: tuple[str, ...] = ()


class Project:
    """Sources that are analysed together.

    `sources` maps a path to its source; files that cannot be parsed are in `errors` instead.
    `resolver` is what was asked to decide the device: "cuda", "accelerator", "xla",
    "module:function", or "" for what suits. `torch` is the oldest release that has to do, (0, 0)
    if that is not known. `convert` says which scripts are converted whatever they are for.
    `context` are the files that nobody named: they are read for what they
    say of the others, nothing is told of them, and they are not changed. `converted` are the files
    of programs that used no device before they were edited. `seen` is what runs of it saw.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        resolver: str = "",
        torch: tuple[int, int] = (0, 0),
        convert: tuple[Matching, ...] = (),
        context: frozenset[str] = frozenset(),
        converted: frozenset[str] = frozenset(),
        seen: Seen | None = None,
    ) -> None:
        self.resolver = resolver
        self.torch = torch
        self.convert = convert
        self.context = context
        self.converted = converted
        self.seen = seen
        self.sources: dict[str, Source] = {}
        self.errors: list[SourceError] = []
        for source in sources:
            self.sources[source.path] = source
        self.layout = Layout(self.sources)
        self.settings = SettingsFiles(self.sources)
        self._broken: set[str] = set()
        self.imported: dict[str, list[Imported]] = {}
        self._mentions: dict[str, tuple[Source, set[str] | None]] = {}

    def like(self, sources: Iterable[Source]) -> Project:
        """Return a project of other sources to which the same was asked."""
        return Project(sources, *self.asks, self.context, self.converted, self.seen)

    @property
    def named(self) -> list[str]:
        """The files that are judged."""
        return [path for path in self.sources if path not in self.context]

    def imported_by_named(self) -> set[str]:
        """Return the files beyond those that are judged which these import, directly or not."""
        waiting, found = self.named, set[str]()
        while waiting:
            path = waiting.pop()
            new = self.layout.imported(path, self.sources[path].text) & self.context - found
            found |= new
            waiting += new
        return found

    @property
    def asks(self) -> tuple[str, tuple[int, int], tuple[Matching, ...]]:
        """What was asked of the project, beside its sources."""
        return self.resolver, self.torch, self.convert

    @cached_property
    def asked(self) -> frozenset[str]:
        """The files that are converted whatever they are for."""
        return frozenset(
            path for path in self.sources if any(each.matches(path) for each in self.convert)
        )

    @cached_property
    def computing(self) -> frozenset[str]:
        """The files that take gradients, or say on which device they compute."""
        return frozenset(
            path
            for path, source in self.sources.items()
            if "torch" in source.text and _COMPUTES.search(source.text)
        )

    @property
    def style(self) -> Literal["cuda", "accelerator", "xla"]:
        """Which kind of resolver to write where a project has none."""
        if self.resolver == "xla":
            return "xla"
        if self.resolver == "accelerator":
            return "accelerator"
        if not self.resolver and self.torch >= (2, 6) and not self._asks_cuda:
            return "accelerator"  # torch.accelerator came with 2.6
        return "cuda"

    @cached_property
    def _asks_cuda(self) -> bool:
        """Whether the project itself asks for CUDA, and never for any accelerator: so does what is
        new in it."""
        texts = [source.text for source in self.sources.values()]
        return any(_ASKS_CUDA.search(text) for text in texts) and not any(
            "torch.accelerator" in text for text in texts
        )

    @property
    def resolver_function(self) -> str:
        """The user's own function that decides the device, "module:function"; "" without one."""
        return self.resolver if ":" in self.resolver else ""

    def tree(self, path: str) -> ast.Module | None:
        """Return the file's tree; None (and an entry in `errors`) when it does not parse."""
        if path in self._broken:
            return None
        try:
            return self.sources[path].tree
        except SourceError as error:
            self._broken.add(path)
            self.errors.append(error)
            return None

    def replaced(self, sources: Iterable[Source]) -> Project:
        """Return this project with other texts for some files, or with other files.

        What is known of the imports of the files that stay is kept, where no file comes or goes.
        """
        new = self.like(sources)
        if new.sources.keys() != self.sources.keys():
            return new
        changed = {path for path, source in new.sources.items() if source is not self.sources[path]}
        new.layout = self.layout
        new._mentions = self._mentions
        new._broken = self._broken - changed
        new.errors = [error for error in self.errors if error.path in new._broken]
        if "imports" in vars(self):
            kept = {path: found for path, found in self.imports.items() if path not in changed}
            found = {path: new._targets(path) for path in sorted(changed)}
            new.imports = {**kept, **{p: t for p, t in found.items() if t is not None}}
            if new.imports == self.imports and "programs" in vars(self):
                new.programs = self.programs
        return new

    def parts(self, limit: int = PART) -> Iterator[Project]:
        """Yield projects that are analysed one after the other, so that memory stays bounded.

        A project with at most `limit` lines that have to do with torch is its own and only part.
        A larger one is divided between files that no import connects; only what is connected and
        has more than `WHOLE` lines is cut along its folders, and what one of these parts imports
        from another is not followed. A part adds the files that do not parse to this project's
        `errors`.
        """
        if not self.is_large(limit):
            yield self
            return
        for group in self._groups(limit):
            # trees go with the part
            part = self.like(copy.copy(source) for source in group)
            part.errors = self.errors
            part._broken = self._broken
            yield part

    def is_large(self, limit: int = PART) -> bool:
        """Tell whether the project is analysed in parts."""
        return self.lines > limit

    @cached_property
    def lines(self) -> int:
        """The lines of the files of `about_torch`."""
        return _lines(self.sources[path] for path in self.about_torch)

    def _groups(self, limit: int) -> Iterator[list[Source]]:
        """Yield the files about torch, with what imports connect, some `limit` lines each time."""
        links = {
            path: self.layout.imported(path, source.text) for path, source in self.sources.items()
        }
        waiting: list[Source] = []
        size = 0
        connected = _connected(links)
        for program in dict.fromkeys(connected[path] for path in self.about_torch):
            members = [self.sources[path] for path in sorted(program, key=self._order.__getitem__)]
            lines = _lines(members)
            if lines > max(limit, WHOLE):
                yield from _folders(members, limit, 0)
                continue
            if waiting and size + lines > limit:
                yield waiting
                waiting, size = [], 0
            waiting, size = waiting + members, size + lines
        if waiting:
            yield waiting

    def resolve(self, importer: str, module: str, level: int = 0) -> str | None:
        """Return the project's file that `import module` means in the file `importer`, if any."""
        return self.layout.resolve(importer, module, level)

    def own_modules(self, path: str) -> frozenset[str]:
        """Return the first names of what a file imports that are the project's own modules."""
        tree = self.tree(path)
        imported = _imported(tree) if tree is not None else ()
        return frozenset(
            each.module.partition(".")[0]
            for each in imported
            if not each.level and self.resolve(path, each.module) not in (None, path)
        )

    def is_package(self, path: str) -> bool:
        """Tell whether the file lies in a package (a folder with `__init__.py`)."""
        return self.layout.is_package(path)

    @cached_property
    def about_torch(self) -> list[str]:
        """The files that mention torch or a device, and those that import such a file in any way.

        Models of other libraries are moved without a word of torch: `model.to("cuda")`.
        """
        found: set[str] = set()
        rest: dict[str, set[str]] = {}
        for path, source in self.sources.items():
            known = self._mentions.get(path)
            if known is None or known[0] is not source:
                says = syntax.says(_ABOUT, source.text)
                targets = None if says else self.layout.imported(path, source.text)
                known = self._mentions[path] = source, targets
            if known[1] is None:
                found.add(path)
            else:
                rest[path] = known[1]
        while True:
            more = {path for path, targets in rest.items() if targets & found} - found
            if not more:
                return [path for path in self.sources if path in found]
            found |= more

    @cached_property
    def _order(self) -> dict[str, int]:
        return {path: index for index, path in enumerate(self.sources)}

    def ordered(self, paths: Iterable[str]) -> list[str]:
        """Return files of the project in its order."""
        return sorted(paths, key=self._order.__getitem__)

    @cached_property
    def torch_files(self) -> frozenset[str]:
        """The files of `about_torch`."""
        return frozenset(self.about_torch)

    def _named_in(self, path: str) -> set[str]:
        """Return the files that a file's lines with imports name."""
        return self.layout.imported(path, self.sources[path].text)

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The project's files that each file imports, directly."""
        found = {path: self._targets(path) for path in self.sources}
        return {path: targets for path, targets in found.items() if targets is not None}

    def _targets(self, path: str) -> set[str] | None:
        """Return the files that a file imports; None when it does not parse.

        A file that has nothing to do with torch is not parsed: the lines of its imports will do.
        """
        if path not in self.torch_files:
            return self._mentions[path][1]
        if path not in self.imported:
            tree = self.tree(path)
            if tree is None:
                return None
            self.imported[path] = list(_imported(tree))
            if _BY_TEXT.search(self.sources[path].text):
                self.imported[path] += _imported_by_text(tree)
        targets: set[str] = set()
        for statement in self.imported[path]:
            module = statement.module
            targets.add(self.resolve(path, module, statement.level) or path)
            for name in statement.names:
                inner = f"{module}.{name}" if module else name
                targets.add(self.resolve(path, inner, statement.level) or path)
        if self.seen is not None:
            targets |= self.seen.named_in(path) & self.sources.keys()
        targets.discard(path)
        return targets

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The project's files that import each file, directly; those of no other are left out."""
        found: dict[str, set[str]] = {}
        for path, targets in self.imports.items():
            for target in targets:
                found.setdefault(target, set()).add(path)
        return found

    @cached_property
    def programs(self) -> dict[str, frozenset[str]]:
        """For each file, the files connected to it by imports in either direction."""
        return _connected({path: self.imports.get(path, set()) for path in self.sources})


def _lines(sources: Iterable[Source]) -> int:
    return sum(source.text.count("\n") for source in sources)


def _connected(links: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    """Return for each file those that it is connected with, in either direction."""
    neighbours: dict[str, set[str]] = {path: set() for path in links}
    for path, targets in links.items():
        for target in targets:
            neighbours[path].add(target)
            neighbours[target].add(path)
    found: dict[str, frozenset[str]] = {}
    for path in links:
        if path in found:
            continue
        group, queue = {path}, [path]
        while queue:
            for other in neighbours[queue.pop()]:
                if other not in group:
                    group.add(other)
                    queue.append(other)
        whole = frozenset(group)
        for member in group:
            found[member] = whole
    return found


def _folders(sources: list[Source], limit: int, depth: int) -> Iterator[list[Source]]:
    """Cut sources into groups of neighbours with at most about `limit` lines each."""
    groups: dict[str, list[Source]] = {}
    for source in sources:
        parts = posixpath.dirname(normal(source.path)).split("/")
        groups.setdefault("/".join(parts[: depth + 1]), []).append(source)
    waiting: list[Source] = []
    size = 0
    for folder, members in groups.items():
        lines = sum(source.text.count("\n") for source in members)
        if lines > limit and any(
            posixpath.dirname(normal(source.path)) != folder for source in members
        ):
            yield from _folders(members, limit, depth + 1)
            continue
        if waiting and size + lines > limit:
            yield waiting
            waiting, size = [], 0
        waiting = waiting + members
        size += lines
    if waiting:
        yield waiting


def _imported(tree: ast.Module) -> Iterator[Imported]:
    """Return what the import statements of a file say."""
    for node in syntax.statements(tree):
        if isinstance(node, ast.Import):
            yield from (Imported(alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield Imported(node.module or "", node.level, tuple(a.name for a in node.names))


def _imported_by_text(tree: ast.Module) -> Iterator[Imported]:
    """Return what `importlib.import_module("package.module")` and its like import."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if name:
                if syntax.dotted(func).rpartition(".")[2] in ("import_module", "__import__"):
                    yield Imported(name.lstrip("."), len(name) - len(name.lstrip(".")))


def load(files: Sequence[str]) -> Project:
    """Read `files`; what cannot be read is in the result's `errors`."""
    sources: list[Source] = []
    errors: list[SourceError] = []
    for path in files:
        try:
            sources.append(source_.read(path))
        except SourceError as error:
            errors.append(error)
    project = Project(sources)
    project.errors.extend(errors)
    return project
