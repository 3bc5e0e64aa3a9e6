"""Where only one block of a file needs the device: it is defined there, as its author would do.

Those who import the file for its classes get no device with it, then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..finding import Edit, Fix, Import, Resolver, Span
from ..reading import syntax
from ..reading.source import Source
from . import resolver as texts
from .quotes import Quotes

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_Block = ast.If | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Surroundings:
    """What the other files say of one, and what else is wrong in it.

    `imported`: others import it, and `lent` are the names that they will import. `left` is where
    something is left that may need the device later.
    """

    imported: bool = False
    lent: frozenset[str] = frozenset()
    left: tuple[Span, ...] = ()


class LocalDevices:
    """The resolvers of a file that are defined in the only block that uses them.

    That is what the file does when it is run as a script, or, in a file that others import, a
    single function.
    """

    def __init__(
        self,
        source: Source,
        fixes: Sequence[Fix],
        style: texts.Style,
        limit: int,
        quotes: Quotes,
        around: Surroundings | None,
    ) -> None:
        self._source, self._around = source, around
        self._style, self._limit, self._quotes = style, limit, quotes
        #: The edit that defines the device in its block, for each resolver that has one.
        self.edits: dict[Resolver, Edit] = {}
        #: What these blocks are called: "" is what runs as a script.
        self.blocks: dict[Resolver, str] = {}
        if source.is_notebook or around is None or style in texts.NEEDS:
            return
        for wanted in dict.fromkeys(item for fix in fixes for item in fix.resolvers):
            here = wanted.path == source.path and wanted.module is None and not wanted.moves
            if here and wanted.name not in around.lent:
                self._place(wanted, [fix for fix in fixes if wanted in fix.resolvers])

    def of(self, fixes: Iterable[Fix]) -> list[Edit]:
        """Return the edits that define what some fixes need."""
        found = (self.edits.get(item) for fix in fixes for item in fix.resolvers)
        return [edit for edit in dict.fromkeys(found) if edit is not None]

    def named(self, fixes: Iterable[Fix]) -> frozenset[str]:
        """Return what the blocks are called that get a device for some fixes."""
        wanted = {item for fix in fixes for item in fix.resolvers}
        return frozenset(name for item, name in self.blocks.items() if item in wanted)

    def imports(self, wanted: Resolver) -> list[Import]:
        """Return what the definition of a device in its block needs at the top of the file."""
        return [] if self._torch() else [Import(wanted.path, "torch")]

    def _place(self, wanted: Resolver, fixes: Sequence[Fix]) -> None:
        """Find the block in which all edits stand that use a name."""
        edits = [e for fix in fixes for e in fix.edits if e.path == self._source.path]
        given = [e.span for e in edits if e.verb == "parameter" and e.get("name") == wanted.name]
        word = re.compile(rf"(?<![.\w]){re.escape(wanted.name)}\b")
        users = [
            edit.span
            for edit in dict.fromkeys(edits)
            if edit.verb != "parameter"
            and not any(_inside(edit.span, function) for function in given)
            and any(word.search(text) for _, text in edit.args)
        ]
        for name, block in _blocks(self._source.tree) if users else ():
            if name and not self._is_library():
                continue
            if _holds(block, users) and not self._left_outside(block):
                self.edits[wanted], self.blocks[wanted] = self._definition(wanted, block), name
                return

    def _is_library(self) -> bool:
        return self._around is not None and self._around.imported

    def _left_outside(self, block: _Block) -> bool:
        left = self._around.left if self._around is not None else ()
        return bool(outside(self._source, block, left))

    def _definition(self, wanted: Resolver, block: _Block) -> Edit:
        """Return the edit that defines a device where a block's own work begins."""
        torch = self._torch() or "torch"
        code = texts.definition(wanted.name, torch, self._style, self._limit, wanted.gpu)
        code = self._quotes.definition(code)
        first = next(statement for statement in block.body if not _is_said_first(statement))
        return Edit(self._source.path, self._source.span(first), "before", (("code", code),))

    def _torch(self) -> str:
        """Return how the file calls torch, "" where it does not import it at its top."""
        for statement in self._source.tree.body:
            conditional = isinstance(statement, (ast.If, ast.Try))
            for node in syntax.walk(statement) if conditional else (statement,):
                for alias in node.names if isinstance(node, ast.Import) else ():
                    if alias.name == "torch" or not alias.asname and alias.name[:6] == "torch.":
                        return alias.asname or "torch"
        return ""


def wanted_outside(source: Source, block: str, places: Collection[Span]) -> bool:
    """Tell whether a device that is defined in a block may be wanted at places outside of it."""
    named = dict(_blocks(source.tree)).get(block)
    return named is None or bool(outside(source, named, places))


def outside(source: Source, block: _Block, places: Iterable[Span]) -> list[Span]:
    """Return the places outside of a block at which its device may be wanted.

    The methods of what inherits from a class have their own way to it: that is a module, mostly.
    """
    apart = [block, *(n for n in source.tree.body if isinstance(n, ast.ClassDef) and n.bases)]
    return [
        place
        for place in places
        if not any(n.lineno <= place.line <= (n.end_lineno or n.lineno) for n in apart)
    ]


def _blocks(tree: ast.Module) -> Iterator[tuple[str, _Block]]:
    """Yield what may have a device of its own: what a script does, functions, and methods."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            yield "", statement
        elif isinstance(statement, _FUNCTION):
            yield statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            for method in statement.body:
                if isinstance(method, _FUNCTION):
                    yield f"{statement.name}.{method.name}", method


def _holds(block: _Block, users: Sequence[Span]) -> bool:
    """Tell whether the body of a block has all of some places in it."""
    first, last = block.body[0], block.body[-1]
    if all(map(_is_said_first, block.body)):
        return False
    start = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
    return (
        start > block.lineno
        and all(start <= s.line and s.end_line <= (last.end_lineno or 0) for s in users)
        and not any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in syntax.walk(block))
    )


def _is_said_first(statement: ast.stmt) -> bool:
    """Tell whether a statement is an import or a text, as they stand at the top of a block."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or isinstance(statement, (ast.Import, ast.ImportFrom))


def _inside(span: Span, outer: Span) -> bool:
    return outer.line <= span.line and span.end_line <= outer.end_line
