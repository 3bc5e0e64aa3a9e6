"""A source without the functions and classes that no edit touches: most of a long file.

libcst takes forty times as long for a file as `ast`. What stays as it is need not be read: a string
over as many lines stands in its place, so that every other place keeps its line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from samedevice import source as source_
from samedevice.finding import Edit
from samedevice.source import Source

#: Shorter definitions are not worth it.
_LINES = 8
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Outline:
    """The part of a source that edits concern; `filled` puts the rest back."""

    def __init__(self, source: Source, edits: Iterable[Edit]) -> None:
        self._blocks: dict[str, str] = {}
        text, position = [], 0
        for start, end in _untouched(source, edits):
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


def _untouched(source: Source, edits: Iterable[Edit]) -> Iterable[tuple[int, int]]:
    """Yield where definitions start and end that have no edit in them or beside them."""
    if source.path.endswith(".ipynb"):
        return  # its text is made of cells
    body = source.tree.body
    spans = sorted((edit.span.line, edit.span.end_line) for edit in edits)
    touched = [
        any(first <= node_end and last >= node_start for first, last in spans)
        for node_start, node_end in map(_lines, body)
    ]
    imports = [i for i, node in enumerate(body) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for index, node in enumerate(body):
        first, last = _lines(node)
        if (
            isinstance(node, _DEFINITION)
            and last - first >= _LINES
            and index > max(imports, default=0) + 1
            and not any(touched[max(index - 1, 0) : index + 2])
        ):
            start = source.offset(first, 0)
            end = source.span(node)
            yield start, source.offset(end.end_line, end.end_column)


def _lines(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return first, node.end_lineno or node.lineno
