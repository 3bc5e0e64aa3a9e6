"""Whether the statements, or the move, that an edit would put in are there already.

A rule that does not see what an earlier round put in would put it in again and again.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from ..finding import Edit
from ..reading.source import Source


class Present:
    """Answers for one source; its statements are looked up once, when first asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places: dict[tuple[int, int], tuple[list[ast.stmt], int]] = {}

    def __contains__(self, edit: Edit) -> bool:
        """Tell whether what `edit` puts in stands where it would put it."""
        if edit.verb == "method":
            return self._is_called(edit)
        if edit.verb not in ("before", "after", "head"):
            return False
        if not self._places:
            self._places = dict(self._statements(self._source.tree.body))
        place = self._places.get((edit.span.line, edit.span.column))
        new = _parsed(dict(edit.args).get("code", ""))
        if place is None or not new:
            return False
        body, at = place
        if edit.verb == "before":
            there = body[max(at - len(new), 0) : at]
        elif edit.verb == "after":
            there = body[at + 1 : at + 1 + len(new)]
        else:
            inner: list[ast.stmt] = getattr(body[at], "body", [])
            first = 1 if _has_docstring(body[at]) else 0
            there = inner[first : first + len(new)]
        return list(map(ast.dump, there)) == list(map(ast.dump, new))

    def _is_called(self, edit: Edit) -> bool:
        """Tell whether an expression, or what it begins, ends with the call that it would get.

        `x.to(device)` is not moved again where `device` may be None.
        """
        code, span, text = dict(edit.args).get("code", ""), edit.span, self._source.text
        start = self._source.offset(span.line, span.column)
        end = self._source.offset(span.end_line, span.end_column)
        called = code.startswith(".") and code.endswith(")")
        return called and (text.startswith(code, end) or text.endswith(code, start, end))

    def _statements(
        self, body: list[ast.stmt]
    ) -> Iterator[tuple[tuple[int, int], tuple[list[ast.stmt], int]]]:
        for at, statement in enumerate(body):
            span = self._source.span(statement)
            yield (span.line, span.column), (body, at)
            for node in (statement, *getattr(statement, "handlers", ())):
                for field in ("body", "orelse", "finalbody"):
                    yield from self._statements(getattr(node, field, []))
            for case in getattr(statement, "cases", ()):
                yield from self._statements(case.body)


def _has_docstring(node: ast.stmt) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None


def _parsed(code: str) -> list[ast.stmt]:
    try:
        return ast.parse(textwrap.dedent(code)).body
    except SyntaxError:
        return []  # the verb itself says so
