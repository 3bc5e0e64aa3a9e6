"""A source without the statements that no edit touches: most of a long file.

libcst takes forty times as long for a file as `ast`. What stays as it is need not be read: a string
over as many lines stands in its place, so that every other place keeps its line. Of an edit inside
a statement, libcst sees that statement; of one that moves statements, those beside it, too.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from samedevice.finding import Edit, Verb
from samedevice.reading import source as source_
from samedevice.reading.notebook import MARKER
from samedevice.reading.source import Source
from samedevice.reading.syntax import statements

#: Edits inside one statement: those that stand beside it may be left out.
_INSIDE: frozenset[Verb] = frozenset(
    {
        "callee", "drop_keyword", "keyword", "method", "parameter", "replace", "unwrap",
        "unwrap_argument",
    }
)  # fmt: skip
_IMPORT = (ast.Import, ast.ImportFrom)
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_END = re.compile(r"[ \t]*(?:#|\n|\Z)")


class Outline:
    """The part of a source that edits concern; `filled` puts the rest back."""

    def __init__(
        self,
        source: Source,
        edits: Iterable[Edit],
        names: Collection[str] = (),
        *,
        whole: bool = False,
    ) -> None:
        """`names` are those that are to be bound at the top; nothing is left out of the `whole`."""
        self._blocks: dict[str, str] = {}
        text, position = [], 0
        for start, end in () if whole else _Untouched(source, edits, names).blocks():
            block = source.text[start:end]
            stand_in = f'"""{len(self._blocks)} of what is kept' + "\n" * block.count("\n") + '"""'
            self._blocks[stand_in] = block
            text += [source.text[position:start], stand_in]
            position = end
        text.append(source.text[position:])
        # a notebook's cells are Python here
        name = f"{source.path}.py" if source.is_notebook else source.path
        self.source = source_.from_text("".join(text), name) if self._blocks else source

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

    def __init__(self, source: Source, edits: Iterable[Edit], names: Collection[str]) -> None:
        self._source, self._names = source, names
        edits = list(edits)
        self._touched = _Lines(edits)
        self._moved = _Lines(edit for edit in edits if edit.verb not in _INSIDE)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the offsets between which code can be left out, in order."""
        body = self._source.tree.body
        paths = "sys.path." in self._source.text
        imports = [0]
        # Where imports and resolvers are put, and what may be one already, is looked at.
        for index, node in enumerate(body):
            if _imports(node) or paths and _changes_path(node):
                imports.append(index)
        if self._source.is_notebook:
            fixed = {at for index in imports for at in (index, index + 1)}
        else:
            fixed = set(range(imports[-1] + 2))
        fixed |= {index for index, node in enumerate(body) if _binds(node, self._names)}
        yield from self._of_body(body, fixed)

    def _of_body(
        self, body: Sequence[ast.stmt], fixed: Iterable[int] = ()
    ) -> Iterator[tuple[int, int]]:
        """Yield what can be left out of a block without its statements at `fixed` places."""
        touched = [self._touched.meet(node) for node in body]
        kept = set(fixed)
        for index, node in enumerate(body):
            if touched[index]:
                kept.add(index)
                if self._moved.meet(node):
                    kept |= {index - 1, index + 1}
        run: list[ast.stmt] = []
        for index, node in enumerate(body):
            if run and (index in kept or self._begins_cell(run[-1], node)):
                yield from self._run(run)
                run = []
            if index not in kept:
                run.append(node)
                continue
            if touched[index]:
                for block in _bodies(node):
                    yield from self._of_body(block)
        yield from self._run(run)

    def _begins_cell(self, above: ast.stmt, node: ast.stmt) -> bool:
        """Tell whether a statement is the first one of a notebook's cell."""
        if not self._source.is_notebook:
            return False
        between = range((above.end_lineno or above.lineno) + 1, _lines(node)[0])
        return any(self._source.line(line).startswith(MARKER) for line in between)

    def _run(self, run: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
        """Yield where statements that follow each other stand, if they have their lines alone."""
        if not run:
            return
        source, (first, _) = self._source, _lines(run[0])
        last = source.span(run[-1])
        line, end = source.line(first), source.offset(last.end_line, last.end_column)
        indent = len(line) - len(line.lstrip())
        column = source.span(run[0]).column
        if first == run[0].lineno and column != indent or not _END.match(source.text, end):
            return
        yield source.offset(first, indent), self._with_comments(last.end_line, indent) or end

    def _with_comments(self, line: int, indent: int) -> int | None:
        """Return where comments and spaces end that are below a line, deeper than its statement.

        They are of its body, and libcst loses them below the string that stands for it.
        """
        found = None
        for number in range(line + 1, len(self._source.starts) + 1):
            text = self._source.line(number)
            code = text.lstrip(" \t")
            if len(text) - len(code) > indent and code[:1] in ("", "#"):
                found = self._source.offset(number, len(text))
            elif code:
                break
        return found


class _Lines:
    """The lines of edits; of a new parameter, the first of its function."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        spans = sorted(
            (edit.span.line, edit.span.line if edit.verb == "parameter" else edit.span.end_line)
            for edit in edits
        )
        self._firsts = [first for first, _ in spans]
        self._lasts = list(accumulate((last for _, last in spans), max))

    def meet(self, node: ast.stmt) -> bool:
        """Tell whether a statement has one of them."""
        start, end = _lines(node)
        begun = bisect_right(self._firsts, end)  # edits that begin in or above it
        return begun > 0 and self._lasts[begun - 1] >= start


def _imports(node: ast.stmt) -> bool:
    """Tell whether a statement at the top of a file imports something, under a condition too."""
    return isinstance(node, _IMPORT) or (
        isinstance(node, (ast.If, ast.Try))
        and any(isinstance(inner, _IMPORT) for inner in statements(node))
    )


def _changes_path(node: ast.stmt) -> bool:
    """Tell whether a statement says where modules are, as the plan of imports asks it."""
    return not isinstance(node, _DEFINITION) and "sys.path." in ast.unparse(node)


def _binds(node: ast.stmt, names: Collection[str]) -> bool:
    """Tell whether a statement gives one of some names a value or a definition."""
    if isinstance(node, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in names for each in node.targets)
    return isinstance(node, _DEFINITION) and node.name in names


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
