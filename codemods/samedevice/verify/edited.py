"""What of an edited file is new, node by node."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from samedevice.reading.matching import Matcher, in_step
from samedevice.reading.syntax import Parents, walk

_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_MANY = 40  # statements that differ; beyond that each of them is compared with its own other one
_Statement = tuple[str, list[ast.AST]]  # what one says, and its nodes


class Edited:
    """The trees of a file before and after, and which nodes of the new one the old one had.

    With its `texts`, statements at its top whose lines are the same are not compared further.
    """

    def __init__(
        self, before: ast.Module, after: ast.Module, texts: tuple[str, str] | None = None
    ) -> None:
        self.before = before
        self.after = after
        self.kept: dict[ast.AST, ast.AST] = {}  # from nodes after to the same ones before
        self._differing: tuple[list[list[ast.AST]], list[list[ast.AST]]] = ([], [])
        if texts is None:
            self._differ(before.body, after.body)
        else:
            self._pair(before.body, after.body, *(text.split("\n") for text in texts))

    def is_new(self, node: ast.AST) -> bool:
        """Tell whether a node of the edited file was not there."""
        return node not in self.kept

    @cached_property
    def new(self) -> list[ast.AST]:
        """The new nodes, in the order of the file."""
        return [n for nodes in self._differing[1] for n in nodes if n not in self.kept]

    @cached_property
    def elsewhere(self) -> list[ast.AST]:
        """The nodes that were there, and are a part of something else now: `f"cuda:{n}"` is `n`."""
        found = []
        for node in (n for nodes in self._differing[1] for n in nodes if n in self.kept):
            around = self.parents.get(node)
            before = self.kept.get(around) if around is not None else None
            if before is not self.parents_before.get(self.kept[node]):
                found.append(node)
        return found

    @cached_property
    def gone(self) -> list[ast.AST]:
        """The nodes that are not there any more."""
        left = set(self.kept.values())
        return [n for nodes in self._differing[0] for n in nodes if n not in left]

    @cached_property
    def parents(self) -> Parents:
        """The parents of the nodes after."""
        return Parents(self.after)

    @cached_property
    def parents_before(self) -> Parents:
        """The parents of the nodes before."""
        return Parents(self.before)

    def _pair(
        self,
        before: list[ast.stmt],
        after: list[ast.stmt],
        old_lines: list[str],
        new_lines: list[str],
    ) -> None:
        """Pair the statements of a block; a definition that differs is looked into."""
        keys = (
            [_text(node, old_lines) for node in before],
            [_text(node, new_lines) for node in after],
        )
        for tag, start, end, from_, to in Matcher(*keys).get_opcodes():
            old, new = before[start:end], after[from_:to]
            if tag == "equal":
                for one, other in zip(old, new, strict=True):
                    self.kept.update(zip(walk(other), walk(one), strict=True))
            elif [_name(node) for node in old] == [_name(node) for node in new] and all(
                map(_name, old)
            ):
                for one, other in zip(old, new, strict=True):
                    self._differ_alone(list(_own(one)), list(_own(other)))
                    inner: tuple[list[ast.stmt], list[ast.stmt]] = one.body, other.body  # type: ignore[attr-defined]
                    self._pair(*inner, old_lines, new_lines)
            else:
                self._differ(old, new)

    def _differ_alone(self, old: list[ast.AST], new: list[ast.AST]) -> None:
        self._differing[0].append(old)
        self._differing[1].append(new)
        self._pair_nodes(old, new)

    def _differ(self, before: list[ast.stmt], after: list[ast.stmt]) -> None:
        """Pair the nodes of statements that differ."""
        old, new = list(_within(before)), list(_within(after))
        for side, told in zip(self._differing, (old, new), strict=True):
            side.extend(nodes for _, nodes in told)
        keys = [[key for key, _ in side] for side in (old, new)]
        matcher = Matcher(keys[0], keys[1])
        for tag, start, end, from_, to in matcher.get_opcodes():
            if tag == "equal":
                for one, other in zip(old[start:end], new[from_:to], strict=True):
                    self.kept.update(zip(other[1], one[1], strict=True))
            else:
                self._pair_changed(old[start:end], new[from_:to])

    def _pair_changed(self, old: Sequence[_Statement], new: Sequence[_Statement]) -> None:
        if len(old) > _MANY or len(new) > _MANY:  # one by one
            keys = [[key for key, _ in side] for side in (old, new)]
            for one, other in in_step(*keys):
                self._pair_nodes(old[one][1], new[other][1])
        else:
            nodes = ([node for _, nodes in side for node in nodes] for side in (old, new))
            self._pair_nodes(*nodes)

    def _pair_nodes(self, old: Sequence[ast.AST], new: Sequence[ast.AST]) -> None:
        labels = [[_label(node) for node in side] for side in (old, new)]
        matcher = SequenceMatcher(None, labels[0], labels[1], autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                self.kept[new[block.b + offset]] = old[block.a + offset]


def _name(node: ast.stmt) -> str:
    """Return the name of a definition."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return f"{type(node).__name__} {node.name}" if isinstance(node, kinds) else ""


def _text(node: ast.stmt, lines: list[str]) -> str:
    """Return the lines of a statement, and where in the first one it begins."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return f"{node.col_offset}\n" + "\n".join(lines[first - 1 : node.end_lineno])


def _within(nodes: Iterable[ast.AST]) -> Iterator[_Statement]:
    """Yield what each statement says without those inside it, in the order of the file."""
    for node in nodes:
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            own = list(_own(node))
            yield " ".join(map(_label, own)), own
            for name, value in ast.iter_fields(node):
                if name in _BLOCKS and isinstance(value, list):
                    yield from _within(value)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and its expressions, as they are written."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in _BLOCKS and isinstance(value, list):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                yield from _own(child)


def _label(node: ast.AST) -> str:
    """Return what a node says by itself."""
    own = [type(node).__name__]
    if isinstance(node, ast.Call):  # `f(x)` is itself in `f(x).to(d)`
        own.append(getattr(node.func, "attr", "") or getattr(node.func, "id", ""))
    for _, value in ast.iter_fields(node):
        texts = isinstance(value, list) and value and isinstance(value[0], str)
        if texts or isinstance(value, (str, int, float, bytes, bool)):
            own.append(repr(value))
    return ":".join(own)
