"""Two texts of a file -> which of its definitions an edit touches, and in which lines they are."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..reading import lines, syntax
from ..reading.lines import Lines
from ..reading.source import Source

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, eq=False)
class _Part:
    """A statement at the top level of a file; `name` is that of a definition."""

    node: ast.stmt
    name: str
    text: str
    first: int
    last: int

    @property
    def imports(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    def names(self, *, read: bool) -> set[str]:
        """Return the names that it binds and, with `read`, those that it reads."""
        if self.name:
            return {self.name}
        found: set[str] = set()
        for node in syntax.walk(self.node):
            if isinstance(node, ast.Name) and (read or isinstance(node.ctx, ast.Store)):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """All names that stand in it, and other words."""
        return frozenset(_WORD.findall(self.text))


@dataclass(frozen=True)
class Change:
    """What an edit of a file touches, and where the lines are that it had.

    `names` are those of definitions, with "" for the statements beside them, `ranges` the lines of
    all these, and `ranges_before` the lines that they had. `lines_before` goes back from `lines`.
    `in_bodies`: only what functions do has changed, and not which there are and how they are
    called, nor what they may do to names of the file.
    """

    names: frozenset[str]
    in_bodies: bool
    ranges: tuple[tuple[int, int], ...]
    ranges_before: tuple[tuple[int, int], ...]
    lines: Lines

    @cached_property
    def lines_before(self) -> Lines:
        """For each line that is kept the line where it was."""
        return {now: line for line, now in self.lines.items()}

    @classmethod
    def between(cls, old: Source, new: Source) -> Change:
        """Compare two texts of a file.

        Touched is what differs, and what mentions a name that a statement which differs binds or
        may change. That of a definition which differs counts in statements only: who calls it is
        known.
        """
        before, after = _parts(old), _parts(new)
        gone, come = _without(before, after), _without(after, before)
        bound = {
            name
            for part in (*before, *after)
            if not part.imports
            for name in part.names(read=False)
        }
        differ = {part.name for part in gone} & {part.name for part in come}
        affected: set[str] = set()
        for part in (*gone, *come):
            if not part.name or part.name not in differ:
                names = part.names(read=True)
                affected |= names if part.imports else names & bound
        touched = dict.fromkeys(come)
        while True:
            more = [
                part
                for part in after
                if (names := affected if part.name else affected | differ)
                and part not in touched
                and not names.isdisjoint(part.words)
            ]
            if not more:
                break
            touched |= dict.fromkeys(more)
            affected = affected.union(*(part.names(read=False) for part in more if not part.name))
        texts = {part.text for part in touched}
        were = [part for part in before if part in gone or part.text in texts]
        return cls(
            frozenset(part.name for part in (*gone, *touched)),
            _are_bodies(gone) and [*map(_outline, gone)] == [*map(_outline, come)],
            tuple((part.first, part.last) for part in touched),
            tuple((part.first, part.last) for part in were),
            lines.kept(old.text, new.text),
        )


def _are_bodies(parts: list[_Part]) -> bool:
    """Tell whether statements are definitions of which no function binds names of its file."""
    return all(
        part.name and not any(isinstance(node, ast.Global) for node in syntax.walk(part.node))
        for part in parts
    )


def _outline(part: _Part) -> str:
    """Return what a definition is without what its functions do."""
    return "\n".join(_outlines(part.node))


def _outlines(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield f"{type(node).__name__} {node.name} {ast.dump(node.args)}"
        yield from map(ast.dump, node.decorator_list)
    elif isinstance(node, ast.ClassDef):
        yield f"class {node.name}"
        yield from map(ast.dump, (*node.bases, *node.keywords, *node.decorator_list))
        for inner in node.body:
            yield from _outlines(inner)
    else:
        yield ast.dump(node)


def _without(parts: list[_Part], others: list[_Part]) -> list[_Part]:
    """Return the parts whose text is not among the others."""
    left = Counter(part.text for part in others)
    left.subtract(part.text for part in parts)
    found = []
    for part in parts:
        if left[part.text] < 0:
            left[part.text] += 1
            found.append(part)
    return found


def _parts(source: Source) -> list[_Part]:
    """Return the statements of a file, each with the comments above it."""
    text = source.text.split("\n")
    found: list[_Part] = []
    end = 0
    for node in source.tree.body:
        name = ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
        last = node.end_lineno or node.lineno
        code = "\n".join(text[end:last]).lstrip("\n")
        found.append(_Part(node, name, code, end + 1, last))
        end = last
    return found
