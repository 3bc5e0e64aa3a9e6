"""Which expressions of a file are shown with their places, and where in the text each is marked."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from samedevice.finding import Span
from samedevice.inference.events import (
    Built,
    Cloned,
    Copied,
    Created,
    DeviceChosen,
    Drawn,
    GeneratorMade,
    GivenDevice,
    Indexed,
    LegacyCreated,
    Literal,
    Loaded,
    ModuleMoved,
    Placed,
    Shared,
    TensorMoved,
)
from samedevice.inference.sites import Site
from samedevice.inference.values import Device, Value
from samedevice.reading.project import Project

MADE: dict[type[Site], str] = {
    Created: "created", Shared: "created", LegacyCreated: "created", Placed: "created",
    GivenDevice: "created", Loaded: "loaded", Drawn: "drawn from a loader", Built: "built",
    GeneratorMade: "created", Cloned: "copied", Copied: "copied",
}  # fmt: skip
MOVES = (TensorMoved, ModuleMoved)
READS = ("item", "tolist", "numpy")


#: An expression, what a site does there, and the span of its name.
Mark = tuple[ast.AST, str, Span]


class Marks:
    """The expressions of a file that a trace has a place for."""

    def __init__(
        self,
        project: Project,
        path: str,
        seen: Mapping[ast.AST, list[Value]],
        sites: Mapping[ast.AST, Site],
    ) -> None:
        self._path = path
        self._source = project.sources[path]
        self._seen = seen
        self._sites = sites

    def find(self, tree: ast.AST) -> Iterator[tuple[ast.AST, str, Span]]:
        """Yield what is to be marked: the expression, what a site does there, and its name's span.

        Names and dotted names are marked as they are; of a call its callee, of a move its method.
        """
        queue: list[ast.AST] = [tree]
        while queue:
            node = queue.pop()
            marks, rest = self._of(node)
            yield from marks
            queue.extend(ast.iter_child_nodes(node) if rest is None else rest)

    def _of(self, node: ast.AST) -> tuple[list[Mark], Iterable[ast.AST] | None]:
        """Return the marks of a node, and which nodes to look at next: its children if None."""
        match node:
            case ast.Name(id="self"):
                return [], ()
            case ast.Name():
                return [(node, "", self._span(node))] if node in self._seen else [], ()
            case ast.arg():
                if node not in self._seen:
                    return [], ()
                return [(node, "", _short(self._span(node), len(node.arg)))], ()
            case ast.Constant() | ast.JoinedStr() | ast.IfExp():
                if self._is_device_site(node):
                    return [(node, "device", self._span(node))], ()
            case ast.Attribute():
                return self._of_attribute(node)
            case ast.Subscript():
                known = node in self._seen and node.value not in self._seen
                if known and _is_dotted(node.value) and isinstance(node.slice, ast.Constant):
                    return [(node, "", self._span(node))], ()
            case ast.Call():
                return self._of_call(node)
        return [], None

    def _span(self, node: ast.AST) -> Span:
        return self._source.span(node)

    def _is_device_site(self, node: ast.expr) -> bool:
        site = self._sites.get(node)
        if not isinstance(site, (Literal, DeviceChosen, Indexed)):
            return False
        span = self._span(node)
        return site.spot.path == self._path and span.line == span.end_line

    def _of_attribute(self, node: ast.Attribute) -> tuple[list[Mark], Iterable[ast.AST] | None]:
        if node not in self._seen or node.value in self._seen and self._is_device(node):
            return [], None
        if _is_dotted(node):
            return [(node, "", self._span(node))], ()
        return [(node, "", _last(self._span(node), node.attr))], None

    def _of_call(self, node: ast.Call) -> tuple[list[Mark], Iterable[ast.AST] | None]:
        func, site = node.func, self._sites.get(node)
        if site is None or type(site) not in (*MADE, *MOVES) or node not in self._seen:
            if isinstance(func, ast.Attribute) and func.attr in READS and func.value in self._seen:
                return [(func.value, "read", _last(self._span(func), func.attr))], None
            return [], None
        if isinstance(site, Drawn):
            return [], None
        kind = MADE.get(type(site), "moved")
        rest: list[ast.AST] = [*node.keywords, *node.args]
        if isinstance(func, ast.Attribute) and (isinstance(site, MOVES) or not _is_dotted(func)):
            return [(node, kind, _last(self._span(func), func.attr))], [*rest, func.value]
        return [(node, kind, self._span(func))], rest

    def _is_device(self, node: ast.AST) -> bool:
        return all(isinstance(value, Device) for value in self._seen.get(node, ()))


def _is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _short(span: Span, length: int) -> Span:
    return Span(span.line, span.column, span.line, span.column + length)


def _last(span: Span, attr: str) -> Span:
    return Span(span.end_line, span.end_column - len(attr), span.end_line, span.end_column)
