"""path -> Source: bytes to text and tree and back; `.py`, stdin and notebooks look alike from here.

`Source.text` is what every line and column of this package refers to: decoded, without its BOM,
with `\\n` as its only newline; a notebook's code cells are joined in it. `Source.encode` is the way
back: the same encoding, BOM and newlines, and for a notebook the same JSON outside changed cells.
"""

from __future__ import annotations

import ast
import difflib
import io
import os
import re
import stat
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..finding import Span
from . import syntax
from .notebook import Notebook, NotebookError, in_front, shown
from .run_order import RunOrder

_NEWLINE = re.compile(r"\r\n|\r|\n")
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"  # whose grammar files are read by


class SourceError(Exception):
    """A file that cannot be worked on, with the place where it is known.

    `line` counts from 1 and `column` from 0; both are None when the whole file is at fault. In a
    notebook, `cell` is the number of the cell, from 1, and the line in it.
    """

    def __init__(
        self,
        path: str,
        message: str,
        line: int | None = None,
        column: int | None = None,
        cell: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(path, message, line, column, cell)
        self.path = path
        self.message = message
        self.line = line
        self.column = column
        self.cell = cell

    def __str__(self) -> str:
        place = self.path
        if self.line is not None:
            cell, line = self.cell or (None, self.line)
            place += f":{line}" if cell is None else f":cell {cell}:{line}"
            if self.column is not None:
                place += f":{self.column + 1}"
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class _Coding:
    """How a text was stored: its codec, whether it had a BOM, and the newline of every line."""

    encoding: str
    bom: bool
    newlines: tuple[str, ...]  # one entry when all lines agree, else one for each line


class Source:
    """One file of Python code, parsed when its `tree` is first asked for.

    Positions are those of `Span`: lines from 1, columns from 0 in characters.
    """

    __slots__ = ("path", "text", "_ascii", "_coding", "_notebook", "_starts", "_tree")

    def __init__(self, path: str, text: str, coding: _Coding, notebook: Notebook | None) -> None:
        self.path = path
        self.text = text
        self._coding = coding
        self._notebook = notebook
        self._ascii = text.isascii()
        self._starts: list[int] | None = None
        self._tree: ast.Module | None = None

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    @property
    def is_notebook(self) -> bool:
        """Whether this is a `.ipynb` file."""
        return self._notebook is not None

    @property
    def tree(self) -> ast.Module:
        """The parsed text; raises `SourceError` when Python cannot parse it."""
        if self._tree is None:
            self._tree = self._parse()
        return self._tree

    def _parse(self) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes are the program's own business
                tree = ast.parse(self.text)
            if syntax.is_deep(tree, sys.getrecursionlimit() // 4):
                raise RecursionError
            return tree
        except SyntaxError as error:
            line, message = error.lineno, f"{error.msg} (samedevice runs on Python {_PYTHON})"
            if line is None or not 1 <= line <= len(self.starts):
                raise SourceError(self.path, message) from None
            column = max((error.offset or 1) - 1, 0)
            cell = self.cell_of(line)
            place = None if cell is None else (cell[0] + 1, cell[1])
            raise SourceError(self.path, message, line, column, place) from None
        except ValueError as error:
            raise SourceError(self.path, str(error)) from None
        except (RecursionError, MemoryError):
            raise SourceError(self.path, "the code is nested too deeply to parse") from None

    @property
    def starts(self) -> list[int]:
        """The offset in `text` at which each line starts."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        return self._starts

    def line(self, number: int) -> str:
        """Return line `number` (from 1) without its newline; raises `IndexError` past the end.

        In a notebook it is without what stands for the magic that runs it.
        """
        starts = self.starts
        if not 1 <= number <= len(starts):
            raise IndexError(number)
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        found = self.text[starts[number - 1] : end]
        return found if self._notebook is None else shown(found)

    def in_front(self, number: int) -> int:
        """Return how many characters of a magic are in front of a line in a notebook's cell."""
        if self._notebook is None or not 1 <= number <= len(self.starts):
            return 0
        end = self.text.find("\n", self.starts[number - 1])
        return in_front(self.text[self.starts[number - 1] : end if end >= 0 else None])

    def lines(self, node: ast.stmt | ast.expr) -> str:
        """Return the lines that a node is in, whole."""
        starts, last = self.starts, node.end_lineno or node.lineno
        end = starts[last] if last < len(starts) else len(self.text)
        return self.text[starts[node.lineno - 1] : end]

    def span(self, node: ast.AST) -> Span:
        """Return where `node` (a statement, expression, argument, keyword, ...) is.

        Raises `AttributeError` for the few node types without a position (`ast.arguments`, ...).
        """
        line, end_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        column, end_column = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if self._ascii:
            return Span(line, column, end_line, end_column)
        return Span(line, self._column(line, column), end_line, self._column(end_line, end_column))

    def _column(self, line: int, byte: int) -> int:
        """Turn a UTF-8 byte column of `ast` into a character column."""
        text = self.line(line)
        return byte if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))

    def offset(self, line: int, column: int) -> int:
        """Return the offset in `text` of a line (from 1) and a character column (from 0)."""
        return self.starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line (from 1) and character column (from 0) of an offset in `text`."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def slice(self, span: Span) -> str:
        """Return the text at `span`."""
        start = self.offset(span.line, span.column)
        return self.text[start : self.offset(span.end_line, span.end_column)]

    def segment(self, node: ast.AST) -> str:
        """Return the text of `node`."""
        return self.slice(self.span(node))

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """Return the cell of a line (from 0, all kinds counted) and the line in it (from 1).

        None outside of notebooks. A line between two cells is line 0 of the second.
        """
        return None if self._notebook is None else self._notebook.cell_of(line)

    def line_of(self, cell: int, line: int) -> int | None:
        """Return the line of `text` that a line of a cell is; None for no such. See `cell_of`."""
        return None if self._notebook is None else self._notebook.line_of(cell, line)

    def where(self, line: int) -> str:
        """Return how a line is named for people: "a.py:3", and in a notebook "a.ipynb:cell 2:1"."""
        cell = self.cell_of(line)
        return (
            f"{self.path}:{line}" if cell is None else f"{self.path}:cell {cell[0] + 1}:{cell[1]}"
        )

    def in_file(self, span: Span) -> Span | None:
        """Return where a range is in the file as it is stored: of a notebook, in its JSON.

        None for what is at the border of two cells.
        """
        if self._notebook is None:
            return span
        first = self._notebook.in_json(span.line, span.column)
        last = self._notebook.in_json(span.end_line, span.end_column)
        return None if first is None or last is None else Span(*first, *last)

    @property
    def run_order(self) -> RunOrder | None:
        """What contradicts the order of a notebook's cells in its file, if anything does."""
        return None if self._notebook is None else self._notebook.run_order

    def cells(self, text: str) -> dict[int, str]:
        """Split a text like `self.text` into code cells by index, magics written out as they were.

        Raises `SourceError` when this is no notebook, or when `text` lost a cell.
        """
        if self._notebook is None:
            raise SourceError(self.path, "not a notebook")
        try:
            return self._notebook.split(text)
        except NotebookError as error:
            raise SourceError(self.path, str(error)) from None

    def stored(self, new_text: str) -> str:
        """Return the text of this file with `new_text` for its code: of a notebook, its JSON.

        Newlines are those of the file. Raises `SourceError` where a notebook lost a cell.
        """
        if self._notebook is None:
            return _restore_newlines(self.text, new_text, self._coding.newlines)
        try:
            return self._notebook.encode(new_text)
        except NotebookError as error:
            raise SourceError(self.path, str(error)) from None

    def encode(self, new_text: str) -> bytes:
        """Return the bytes of this file with `new_text` for its text.

        Encoding, BOM and newlines stay, line by line where they are mixed; a notebook keeps its
        JSON byte for byte outside of changed cells. Raises `SourceError` when the encoding has no
        way to write a character.
        """
        coding, text = self._coding, self.stored(new_text)
        try:
            data = text.encode(coding.encoding)
        except UnicodeEncodeError as error:
            character = text[error.start]
            message = f"the file's encoding {coding.encoding} cannot write {character!r}"
            raise SourceError(self.path, message) from None
        return b"\xef\xbb\xbf" + data if coding.bom else data


def read(path: str | Path, stdin: str = "-") -> Source:
    """Read a file, or for "-" standard input, which is then called `stdin`.

    Raises `SourceError` when that cannot be done.
    """
    name = path.as_posix() if isinstance(path, Path) else path.replace(os.sep, "/")
    if name == "-":
        return from_bytes(sys.stdin.buffer.read(), stdin)
    try:
        file = Path(path)
        if not stat.S_ISREG(file.stat().st_mode):
            raise SourceError(name, "is not a regular file")
        data = file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        message = getattr(error, "strerror", None) or str(error)
        raise SourceError(name, f"cannot be read: {message}") from None
    return from_bytes(data, name)


def from_text(text: str, path: str = "-") -> Source:
    """Make a source of a text, which is stored as UTF-8 whatever its coding cookie says."""
    return _make(text.removeprefix("\ufeff"), path, "utf-8", text.startswith("\ufeff"))


def from_code(text: str, path: str) -> Source:
    """Make a source of Python code, though `path` be that of a notebook whose cells it joins."""
    made = from_text(text, "-")
    made.path = path
    return made


def from_bytes(data: bytes, path: str) -> Source:
    """Decode as Python does (BOM, coding cookie, else UTF-8); raises `SourceError` if it cannot."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(path, "this is UTF-16 text, which Python does not read: save it as UTF-8")
    if b"\0" in data:
        raise SourceError(path, "this is a binary file (it holds null bytes)")
    bom = data.startswith(b"\xef\xbb\xbf")
    if path.endswith(".ipynb"):
        encoding = "utf-8"
    else:
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            if not error.msg.startswith("invalid or missing"):  # the named one does not exist
                raise SourceError(path, error.msg.split(" for ")[0]) from None
            encoding = "utf-8"  # none is named, and it is not this one either
        encoding = encoding.removesuffix("-sig")
    try:
        text = data[3 if bom else 0 :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not {encoding} text: {error.reason} (byte 0x{data[error.start]:02x})"
        if encoding == "utf-8" and not path.endswith(".ipynb"):
            message += "; save it as UTF-8, or name its encoding in line 1: # coding: cp1252"
        raise SourceError(path, message, line) from None
    except LookupError:  # a codec that is no text encoding, such as rot13
        raise SourceError(path, f"{encoding} is not a text encoding") from None
    return _make(text, path, encoding, bom)


def _make(text: str, path: str, encoding: str, bom: bool) -> Source:
    if path.endswith(".ipynb"):
        try:
            notebook = Notebook(text)
        except NotebookError as error:
            raise SourceError(path, str(error)) from None
        except RecursionError:
            raise SourceError(path, "the JSON is nested too deeply to parse") from None
        return Source(path, notebook.text, _Coding(encoding, bom, ()), notebook)
    newlines: tuple[str, ...] = ("\n",)
    if "\r" in text:
        newlines = tuple(_NEWLINE.findall(text))
        if len(set(newlines)) == 1:
            newlines = newlines[:1]
        text = _NEWLINE.sub("\n", text)
    return Source(path, text, _Coding(encoding, bom, newlines), None)


def _restore_newlines(old: str, new: str, newlines: tuple[str, ...]) -> str:
    """Give every kept or changed line of `new` its old newline, and a new one the most common."""
    common = Counter(newlines).most_common(1)[0][0]
    if len(newlines) == 1:
        return new if common == "\n" else new.replace("\n", common)
    before, after = old.split("\n"), new.split("\n")
    ends = [common] * (len(after) - 1) + [""]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for _, start, stop, new_start, new_stop in matcher.get_opcodes():
        for index in range(min(stop - start, new_stop - new_start)):
            if start + index < len(newlines) and new_start + index < len(after) - 1:
                ends[new_start + index] = newlines[start + index]
    return "".join(line + end for line, end in zip(after, ends, strict=True))


def printable(text: str) -> str:
    """Return `text` with what could steer a terminal or cannot be written as UTF-8 made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
