"""A Jupyter notebook's code as one text, and back into its JSON byte for byte.

The text is the code cells in order, each under a marker line. Lines that are IPython's and not
Python's become statements that do nothing and carry the line in a comment, so that one line stays
one line and the way back needs no memory. Cells in other languages (`%%bash`) are left out.

IPython also takes a magic without its `%` (`cd data`, `pip install timm`), where the cell has no
other line and no Python variable has that name.

Cells that only work in the order in which they were run are in that order here (`run_order`).
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from . import run_order

MARKER = "# %% samedevice cell "  # starts the comment line above each cell
_MARKER_LINE = re.compile(rf"^{MARKER}(\d+)(?: indented (\d+))?\n", re.MULTILINE)
_KEPT = "#%samedevice%"  # what follows in the line is the notebook's own
# None of these has two repetitions side by side that could share a letter: a line may be long.
_KEPT_LINE = re.compile(rf"^(?P<indent>[ \t]*)(?:[^#\n \t][^#\n]*)?{_KEPT}", re.MULTILINE)
# A line magic that runs Python: the statement stays, and what is in front of it ends the line.
_TIMED = re.compile(
    r"(?P<before>%?(?:time|timeit|prun|memit)\b(?:[ \t]+-[a-zA-Z]+(?:[ \t]*\d+)?)*[ \t]+)"
    r"(?P<code>[^\s\d-].*)"
)
_BEFORE = "#%samedevice: "
_TIMED_LINE = re.compile(
    rf"^(?P<indent>[ \t]*)(?P<code>[^\s][^\n]*)  {_BEFORE}(?P<before>[^\n]*)$", re.MULTILINE
)

# Cell magics whose body is Python that runs in the notebook's own namespace.
_PYTHON_MAGICS = frozenset(
    {"capture", "debug", "memit", "prun", "time", "timeit", "wandb", "matplotlib"}
)
# Above a cell magic IPython takes blank lines only; Colab takes comments (`#@title`), too.
_CELL_MAGIC = re.compile(r"(?:\s*#[^\n]*\n)*\s*%%(\w*)")
_ESCAPED = re.compile(r"[ \t]*[%!?](?!=)")
_HELP = re.compile(r"[ \t]*%{0,2}[\w.*\[\]'\"]+\?{1,2}[ \t]*(?:;[ \t]*)?(?:#.*)?$")
_TARGET = re.compile(r"[\w.,\[\]'\" \t*]+")
_OF_IPYTHON = re.compile(r"[ \t]*(?:!|%(?=\w))")
_PYLAB = re.compile(r"%?pylab\b")
_PYLAB_NAMES = (  # what it puts into the notebook's own namespace
    "import numpy as np, matplotlib.pyplot as plt; from numpy import *; from pylab import *"
)
_FIRST_WORD = re.compile(r"([A-Za-z_]\w*)(?![\w.(\[])[ \t]*(?P<rest>.?)")

# The line magics and the shell's commands of IPython 7 to 9 that need no `%`.
_WITHOUT_PERCENT = frozenset(
    {
        "alias", "alias_magic", "autoawait", "autocall", "automagic", "bookmark", "cat", "cd",
        "colors", "conda", "config", "cp", "debug", "dhist", "dirs", "doctest_mode", "ed",
        "edit", "env", "gui", "hist", "history", "killbgscripts", "ldir", "less", "lf", "lk",
        "ll", "load", "load_ext", "loadpy", "logoff", "logon", "logstart", "logstate",
        "logstop", "ls", "lsmagic", "lx", "macro", "magic", "mamba", "man", "matplotlib",
        "micromamba", "mkdir", "more", "mv", "notebook", "page", "pastebin", "pdb", "pdef",
        "pdoc", "pfile", "pinfo", "pinfo2", "pip", "popd", "pprint", "precision", "prun",
        "psearch", "psource", "pushd", "pwd", "pycat", "pylab", "quickref", "recall", "rehashx",
        "reload_ext", "rep", "rerun", "reset", "reset_selective", "rm", "rmdir", "run", "save",
        "sc", "set_env", "sx", "system", "tb", "time", "timeit", "unalias", "unload_ext", "uv",
        "who", "who_ls", "whos", "xdel", "xmode",
    }
    # and of the extensions that notebooks load most
    | {"aimport", "autoreload", "lprun", "memit", "mprun", "tensorboard", "watermark"}
)  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<string>\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z) | '''(?:\\.|[^\\])*?(?:'''|\Z)
      | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<joined>\\\n) | (?P<newline>\n)
    | [^\#"'()\[\]{}\\\n]+ | .""",
    re.VERBOSE | re.DOTALL,
)

_NEWLINE = re.compile(r"\r\n?|\n")
_CHARACTER = re.compile(  # of a string in JSON; one beyond 16 bits may be two escapes
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)

_decoder = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class NotebookError(ValueError):
    """The file is no notebook, or a text is not one that came from it."""


@dataclass(frozen=True)
class _Cell:
    """A code cell: its index among all cells, where its source is in the JSON, and its text."""

    index: int
    start: int
    end: int
    source: str
    text: str
    indent: int  # spaces in front of all of its lines, which IPython does not mind
    count: int | None  # which of the kernel's executions was its last; None if it was not run


class Notebook:
    """The Python cells of a notebook.

    `text` is their code; `cell_of` and `split` lead back to cells and `encode` to the JSON.
    `run_order` tells what contradicts the order of the file, if anything does. Raises
    `NotebookError` for JSON that is broken or is no notebook.
    """

    def __init__(self, content: str) -> None:
        self._json = content
        found = [cell for cell in _code_cells(content) if not _is_foreign(cell[3])]
        names = _Names([cell[3] for cell in found])
        self._cells = [
            _Cell(index, start, end, source, *_to_python(source, names), count)
            for index, start, end, source, count in found
        ]
        self.run_order = run_order.find([_ran(cell) for cell in self._cells])
        if self.run_order is not None and self.run_order.taken:
            self._cells.sort(key=lambda cell: cell.count or 0)
        self.text = "".join(map(_marked, self._cells))
        self._first_lines: list[int] = []  # the line of each cell's marker
        line = 1
        for cell in self._cells:
            self._first_lines.append(line)
            line += cell.text.count("\n") + 2

    @property
    def cells(self) -> list[tuple[int, str]]:
        """The cells as (lines of `text` above the cell's first, Python code)."""
        codes = (cell.text for cell in self._cells)
        return list(zip(self._first_lines, codes, strict=True))

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """Return the index of the cell that a line of `text` is in, and the line in that cell."""
        at = bisect_right(self._first_lines, line) - 1
        if at < 0:
            return None
        return self._cells[at].index, line - self._first_lines[at]

    def line_of(self, cell: int, line: int) -> int | None:
        """Return the line of `text` that a line of the cell with this index is; None for no such.

        The way back from `cell_of`.
        """
        for first, found in zip(self._first_lines, self._cells, strict=True):
            if found.index == cell and 0 < line <= found.text.count("\n") + 1:
                return first + line
        return None

    def in_json(self, line: int, column: int) -> tuple[int, int] | None:
        """Return line (from 1) and column (from 0) in the JSON of a position of `text`.

        None at the border of two cells. A line of IPython's has no columns: it is where it begins.
        """
        at = bisect_right(self._first_lines, line) - 1
        row = line - self._first_lines[at] - 1 if at >= 0 else -1
        if row < 0:
            return None
        cell = self._cells[at]
        starts = [0, *(newline.end() for newline in _NEWLINE.finditer(cell.source))]
        end = starts[row + 1] - 1 if row + 1 < len(starts) else len(cell.source)
        code = cell.text.split("\n")[row]
        timed = _TIMED_LINE.match(code)
        if timed is not None and column >= len(timed["indent"]):
            column += len(timed["before"])
        if _KEPT_LINE.match(code):
            end = starts[row]
        there = min(starts[row] + cell.indent + column, end)
        offset = _offsets(self._json, cell.start, cell.end)[there]
        return self._json.count("\n", 0, offset) + 1, offset - self._json.rfind("\n", 0, offset) - 1

    def split(self, text: str) -> dict[int, str]:
        """Split a text that came from `text` into the sources of cells, by cell index."""
        return {
            cell.index: _to_ipython(code, cell.indent)
            for cell, code in zip(self._cells, self._split(text), strict=True)
        }

    def _split(self, text: str) -> list[str]:
        parts = _MARKER_LINE.split(text)
        if parts[0] or parts[1::3] != [str(cell.index) for cell in self._cells]:
            raise NotebookError("a change would move code across the border of two cells")
        return [part[:-1] for part in parts[3::3]]

    def encode(self, text: str) -> str:
        """Return the JSON with the cells of `text`; unchanged cells keep every byte."""
        out: list[str] = []
        done = 0
        pairs = zip(self._cells, self._split(text), strict=True)
        for cell, code in sorted(pairs, key=lambda pair: pair[0].start):
            if code == cell.text:
                continue
            source = _to_ipython(code, cell.indent)
            if "\r\n" in cell.source:
                source = source.replace("\n", "\r\n")
            out += [self._json[done : cell.start], self._dump(cell, source)]
            done = cell.end
        return "".join(out) + self._json[done:]

    def _dump(self, cell: _Cell, source: str) -> str:
        """Write a source as the cell wrote it: one string or a list of lines, laid out alike."""
        ascii_only = self._json.isascii()
        old = self._json[cell.start : cell.end]
        if old.startswith('"'):
            return json.dumps(source, ensure_ascii=ascii_only)
        raw: dict[str, str] = {}  # known lines, as they were escaped
        for _, start, end in _items(old, 0):
            raw.setdefault(json.loads(old[start:end]), old[start:end])
        head, separator, tail = self._layout(old)
        lines = re.findall(r"[^\n]*\n|[^\n]+", source)
        if not lines:
            return "[]"
        items = (raw.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines)
        return f"[{head}{separator.join(items)}{tail}]"

    def _layout(self, old: str) -> tuple[str, str, str]:
        """Return what stands before, between and after the lines of a source list.

        A list too short to tell is laid out like another cell's.
        """
        others = (self._json[cell.start : cell.end] for cell in self._cells)
        best = ("", ", ", "")
        for candidate in (old, *others):
            if not candidate.startswith("["):
                continue
            items = list(_items(candidate, 0))
            if not items:
                continue
            head, tail = candidate[1 : items[0][1]], candidate[items[-1][2] : -1]
            if len(items) > 1:
                return head, candidate[items[0][2] : items[1][1]], tail
            best = (head, "," + (head or " "), tail)
            if candidate is old and head:
                break
        return best


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # it matches nothing, too
    return match.end()


def _decode(text: str, at: int) -> tuple[object, int]:
    try:
        return _decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise NotebookError(f"not valid JSON at line {error.lineno}: {error.msg}") from None
    except ValueError:  # Python's limit for the digits of a number
        raise NotebookError("not a Jupyter notebook: it has a number of many digits") from None


def _items(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the key ("" in an array) and the range of each value of the JSON container at `at`."""
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        key: object = ""
        if is_object:
            key, at = _decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        _, end = _decode(text, at)
        yield str(key), at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _member(text: str, at: int, key: str) -> tuple[int, int] | None:
    """Return the range of the member `key` of the object at `at`."""
    found = None
    for name, start, end in _items(text, at):
        if name == key:
            found = start, end  # the last one counts, as in json.loads
    return found


def _offsets(text: str, start: int, end: int) -> list[int]:
    """Return where in the JSON each character of a source is, and where the source ends."""
    strings = [(start, end)]
    if text[start] == "[":
        strings = [(first, last) for _, first, last in _items(text, start)]
    offsets = [
        character.start()
        for first, last in strings
        for character in _CHARACTER.finditer(text, first + 1, last - 1)
    ]
    return [*offsets, strings[-1][1] - 1 if strings else end - 1]


def _code_cells(text: str) -> Iterator[tuple[int, int, int, str, int | None]]:
    """Yield index, range of the source in the JSON, source and count of each Python cell."""
    at = _skip(text, 0)
    content, end = _decode(text, at)
    if _skip(text, end) != len(text):
        raise NotebookError("not valid JSON: more follows the end")
    if not isinstance(content, dict) or not ("cells" in content or "worksheets" in content):
        raise NotebookError("not a Jupyter notebook: it has no cells")
    if not _speaks_python(content):
        return
    arrays = [_member(text, at, "cells")]
    source_key, count_key = "source", "execution_count"
    if "cells" not in content:  # format 3, before 2015
        sheets = _member(text, at, "worksheets")
        assert sheets is not None
        arrays = [_member(text, start, "cells") for _, start, _ in _array(text, sheets[0])]
        source_key, count_key = "input", "prompt_number"
    index = -1
    for array in arrays:
        for _, start, stop in _array(text, array[0]) if array else ():
            index += 1
            cell = json.loads(text[start:stop])
            if not isinstance(cell, dict):
                raise NotebookError(f"not a Jupyter notebook: cell {index + 1} is no object")
            source = cell.get(source_key)
            if cell.get("cell_type") != "code" or cell.get("language", "python") != "python":
                continue
            if isinstance(source, list) and all(isinstance(line, str) for line in source):
                source = "".join(source)
            place = _member(text, start, source_key)
            if not isinstance(source, str) or place is None:
                raise NotebookError(f"not a Jupyter notebook: cell {index + 1} has no source text")
            count = cell.get(count_key)
            yield index, *place, source, count if isinstance(count, int) else None


def _array(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    if text[at] != "[":
        raise NotebookError("not a Jupyter notebook: its cells are no list")
    return _items(text, at)


def _speaks_python(content: dict[str, object]) -> bool:
    """Tell whether the kernel is Python's; a notebook that does not say is taken as Python."""
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        return True
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(section)
        if isinstance(told, dict) and isinstance(told.get(key), str):
            return str(told[key]).lower() in {"python", "ipython", "python3", "python2"}
    return True


def _is_foreign(source: str) -> bool:
    """Tell whether a cell magic hands this cell to something else than the notebook's Python."""
    match = _CELL_MAGIC.match(source)
    return match is not None and match[1] not in _PYTHON_MAGICS


def _ran(cell: _Cell) -> run_order.Ran:
    return run_order.Ran(cell.index, cell.source, cell.count, lambda: _parsed(cell.text))


def _marked(cell: _Cell) -> str:
    indented = f" indented {cell.indent}" if cell.indent else ""
    return f"{MARKER}{cell.index}{indented}\n{cell.text}\n"


class _Names:
    """The names that the Python code of some cells binds."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources

    def __contains__(self, name: str) -> bool:
        return name in self._bound

    @cached_property
    def _bound(self) -> frozenset[str]:
        return frozenset(name for source in self._sources for name in _bound_by(source))


def _bound_by(source: str) -> Iterator[str]:
    for node in ast.walk(_parsed(_to_python(source)[0]) or ast.Module([], [])):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]


def _needs_no_percent(source: str, names: _Names) -> bool:
    """Tell whether a cell is one line that IPython takes as a magic, though no `%` says so."""
    line = source.strip()
    word = _FIRST_WORD.match(line)
    if (
        "\n" in line
        or word is None
        or word[1] not in _WITHOUT_PERCENT
        or word["rest"] in ("=", ",")
    ):
        return False
    return not _parses(line) or not (word[1] in names or "*" in names)


def _to_python(source: str, names: _Names | None = None) -> tuple[str, int]:
    """Turn a cell's source into Python with as many lines, and the indentation taken off it.

    `names` are those of the whole notebook; without them a magic is one by its `%`.
    """
    source = _NEWLINE.sub("\n", source)
    if names is not None and _needs_no_percent(source, names):
        return re.sub(r"()([ \t]*\S.*)", _kept, source, count=1), 0
    if not re.search(r"[%!?]|\A\s* ", source) or _parses(source):
        return source, 0
    lines = source.split("\n")
    full = [line for line in lines if line.strip()]
    indent = len(full[0]) - len(full[0].lstrip(" ")) if full else 0
    if indent and all(line.startswith(" " * indent) for line in full):
        lines = [line[indent:] if line.strip() else line for line in lines]
    else:
        indent = 0
    kept = set(_escaped_lines(lines))
    for number in sorted(kept):
        line = lines[number]
        if number - 1 in kept and lines[number - 1].endswith("\\"):
            lines[number] = _KEPT + line  # the rest of a shell line: a comment does
            continue
        lines[number] = re.sub(r"([ \t]*)(.*)", _kept, line, count=1)
    return "\n".join(lines), indent


def _kept(line: re.Match[str]) -> str:
    """Return a statement that stands for a line of IPython's, with the line in a comment."""
    space, code = line.groups()
    timed = _TIMED.fullmatch(code)
    if timed is not None and _parses(timed["code"]):
        return f"{space}{timed['code']}  {_BEFORE}{timed['before']}"
    target = _assigned(code)
    statement = (
        f"{target} = None" if target else _PYLAB_NAMES if _PYLAB.match(code.lstrip()) else "pass"
    )
    return f"{space}{statement}  {_KEPT}{code}"


def _to_ipython(code: str, indent: int) -> str:
    """Undo `_to_python`."""
    source = _KEPT_LINE.sub(lambda match: match["indent"], code)
    source = _TIMED_LINE.sub(r"\g<indent>\g<before>\g<code>", source)
    return re.sub(r"^(?=.*\S)", " " * indent, source, flags=re.MULTILINE) if indent else source


def shown(line: str) -> str:
    """Return a line of `Notebook.text` as people see it: without the magic that runs it."""
    timed = _TIMED_LINE.match(line)
    return line if timed is None else timed["indent"] + timed["code"]


def in_front(line: str) -> int:
    """Return how many characters of a magic are in front of that code in the cell."""
    timed = _TIMED_LINE.match(line)
    return 0 if timed is None else len(timed["before"])


def _parses(source: str) -> bool:
    return _parsed(source) is not None


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _escaped_lines(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers (from 0) of the lines that are IPython's: magics, shell, help.

    Only a line that starts a statement can be one; `%` may well start the second line of an
    expression, and `!` a line of a string.
    """
    source = "\n".join(lines)
    at, number, depth, fresh = 0, 0, 0, True
    while at < len(source):
        if fresh and depth == 0 and _is_escaped(lines[number]):
            while True:
                yield number
                at += len(lines[number]) + 1
                number += 1
                if number == len(lines) or not lines[number - 1].endswith("\\"):
                    break
            continue
        match = _TOKEN.match(source, at)
        assert match is not None  # its last branch takes any character
        kind = match.lastgroup
        depth = max(depth + (kind == "open") - (kind == "close"), 0)
        number += match[0].count("\n")
        fresh = kind == "newline"
        at = match.end()


def _is_escaped(line: str) -> bool:
    return bool(_ESCAPED.match(line) or _HELP.match(line) or _assigned(line))


def _assigned(line: str) -> str:
    """Return what a line gives the output of a command to (`files = !ls`), "" for others."""
    target, _, value = line.partition("=")
    if not _OF_IPYTHON.match(value) or not _TARGET.fullmatch(target):
        return ""
    return target.strip(" \t")
