"""What of a change ran: its files, and the statements that it touched.

A statement counts as one that ran when any of its own lines did. A deletion touches what stood
before and behind it. Comments, blank lines and docstrings are not code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from samedevice.prove import notebook
from samedevice.prove.trail import Ran
from samedevice.reading.notebook import Notebook

_NO_CODE = (ast.Global, ast.Nonlocal)


@dataclass(frozen=True)
class Reach:
    """How much of a change ran. `missed` names what did not: "model.py:40", "other.py"."""

    files: int
    files_ran: int
    statements: int
    statements_ran: int
    missed: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """Whether no changed file ran, or none of the changed statements in those that did."""
        return not self.files_ran or (self.statements > 0 and not self.statements_ran)

    def __str__(self) -> str:
        parts = [f"{self.files_ran} of {_count(self.files, 'changed file')}"]
        if self.statements:
            parts.append(f"{self.statements_ran} of {_count(self.statements, 'changed statement')}")
        return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def reach(
    changed: Sequence[str], texts: Mapping[str, tuple[str | None, str | None]], ran: Ran
) -> Reach:
    """Return how much of a change a run of AFTER reached.

    `changed` are the paths that differ, `texts` of those that are text before and after the
    change; `ran` names files by the same paths.
    """
    missed: list[str] = []
    files_ran = statements = statements_ran = 0
    for path in changed:
        if path not in ran.files and path not in ran.lines:
            missed.append(path)
            continue
        files_ran += 1
        lines = ran.lines.get(path, set())
        for unit in touched(path, *texts.get(path, (None, None))):
            statements += 1
            if lines.isdisjoint(unit):
                missed.append(_place(path, texts[path][1], min(unit)))
            else:
                statements_ran += 1
    return Reach(len(changed), files_ran, statements, statements_ran, tuple(missed))


def _place(path: str, text: str | None, line: int) -> str:
    """Return where a line is as people count it: in a notebook by its cell and the line in it."""
    cell = notebook.cell_of(Notebook(text), line) if text and path.endswith(".ipynb") else None
    return f"{path}:{line}" if cell is None else f"{path}:cell {cell[0]}:{cell[1]}"


def touched(path: str, before: str | None, after: str | None) -> list[frozenset[int]]:
    """Return the statements of `after` that differ from `before`, as the numbers of their lines.

    [] for files that are no Python, were removed, or do not parse.
    """
    suffix = PurePosixPath(path).suffix
    if after is None or suffix not in (".py", ".pyw", ".ipynb", ""):
        return []
    try:
        if suffix == ".ipynb":
            before = Notebook(before).text if before else before
            after = Notebook(after).text
        owners = _owners(after)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    found = dict.fromkeys(_units((before or "").split("\n"), after.split("\n"), owners))
    return [unit for unit in found if unit]


def _units(
    old: list[str], new: list[str], owners: Mapping[int, frozenset[int]]
) -> Iterator[frozenset[int]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "delete" and any(_is_code(line) for line in old[start:end]):
            above = max((line for line in owners if line <= first), default=0)
            below = min((line for line in owners if line > first), default=0)
            yield owners.get(above, frozenset()) | owners.get(below, frozenset())
        elif tag in ("insert", "replace"):
            for line in range(first + 1, last + 1):
                yield owners.get(line, frozenset())


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _owners(text: str) -> dict[int, frozenset[int]]:
    """Return for every line of code the lines of the innermost statement that it belongs to."""
    owners: dict[int, frozenset[int]] = {}
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):  # outer statements come before inner ones
        if not isinstance(node, ast.stmt) or isinstance(node, _NO_CODE) or _is_string(node):
            continue
        first, last = node.lineno, node.end_lineno or node.lineno
        decorators = getattr(node, "decorator_list", ())
        first = min([first, *(one.lineno for one in decorators)])
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        if body:
            inner = body[0]
            start = getattr(inner, "lineno", None) or inner.pattern.lineno
            last = max(first, start - 1)
        own = frozenset(line for line in range(first, last + 1) if _is_code(lines[line - 1]))
        owners.update(dict.fromkeys(own, own))
    return owners


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
