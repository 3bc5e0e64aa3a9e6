"""A source without the statements that no edit touches: most of a long file.

libcst takes forty times as long for a file as `ast`. What stays as it is need not be read: a string
over as many lines stands in its place, so that every other place keeps its line.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from samedevice import source as source_
from samedevice.finding import Edit
from samedevice.source import Source

#: Less is not worth it.
_LINES = 4
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_END = re.compile(r"[ \t]*(?:#|\n|\Z)")


class Outline:
    """The part of a source that edits concern; `filled` puts the rest back."""

    def __init__(self, source: Source, edits: Iterable[Edit]) -> None:
        self._blocks: dict[str, str] = {}
        text, position = [], 0
        for start, end in _Untouched(source, edits).blocks():
            block = source.text[start:end]
            stand_in = f'"""{len(self._blocks)} of what is kept' + "\n" * block.count("\n") + '"""'
            self._blocks[stand_in] = block
            text += [source.text[position:start], stand_in]
            position = end
        text.append(source.text[position:])
        self.source = source_.from_text("".join(text), source.path) if self._blocks else source

    def filled(self, text: str) -> str:
        """Return a new text of the outline with everything that was left out."""
        parts, rest = [], text
        for stand_in, block in self._blocks.items():
            before, found, rest = rest.partition(stand_in)
            assert found, "what no edit touches stays where it is"
            parts += [before, block]
        return "".join([*parts, rest])


class _Untouched:
    """What stays as it is of a source; what stands beside an edit may have to give way to it."""

    def __init__(self, source: Source, edits: Iterable[Edit]) -> None:
        self._source = source
        spans = sorted((edit.span.line, edit.span.end_line) for edit in edits)
        self._firsts = [first for first, _ in spans]
        self._lasts = list(accumulate((last for _, last in spans), max))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the offsets between which code can be left out, in order."""
        if self._source.is_notebook:
            return  # its text is made of cells
        body = self._source.tree.body
        imports = [i for i, n in enumerate(body) if isinstance(n, (ast.Import, ast.ImportFrom))]
        # What a file binds at its top is looked at where imports and resolvers are put.
        fixed = {i for i, node in enumerate(body) if not isinstance(node, _DEFINITION)}
        yield from self._of_body(body, fixed.union(range(max(imports, default=0) + 2)))

    def _of_body(
        self, body: Sequence[ast.stmt], fixed: Iterable[int] = (0,)
    ) -> Iterator[tuple[int, int]]:
        """Yield what can be left out of a block without its statements at `fixed` places.

        The first is one of these: it may be taken for what documents the block.
        """
        touched = [self._is_touched(node) for node in body]
        kept = set(fixed)
        for index, is_so in enumerate(touched):
            if is_so:
                kept |= {index - 1, index, index + 1}
        run: list[ast.stmt] = []
        for index, node in enumerate(body):
            if index not in kept:
                run.append(node)
                continue
            yield from self._run(run)
            run = []
            if touched[index]:
                for block in _bodies(node):
                    yield from self._of_body(block)
        yield from self._run(run)

    def _is_touched(self, node: ast.stmt) -> bool:
        start, end = _lines(node)
        begun = bisect_right(self._firsts, end)  # edits that begin in or above it
        return begun > 0 and self._lasts[begun - 1] >= start

    def _run(self, run: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
        """Yield where statements that follow each other stand, if they have their lines alone."""
        if not run:
            return
        source, (first, _) = self._source, _lines(run[0])
        last = source.span(run[-1])
        if last.end_line - first < _LINES:
            return
        line, end = source.line(first), source.offset(last.end_line, last.end_column)
        indent = len(line) - len(line.lstrip())
        column = source.span(run[0]).column
        if first == run[0].lineno and column != indent or not _END.match(source.text, end):
            return
        yield source.offset(first, indent), end


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement, in order."""
    inner = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    yield getattr(node, "body", [])
    yield from (each.body for each in inner)
    yield getattr(node, "orelse", [])
    yield getattr(node, "finalbody", [])


def _lines(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return first, node.end_lineno or node.lineno
