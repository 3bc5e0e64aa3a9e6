"""The gate behind the rewriting: what of an edited program would not hold.

Rules say what to change, and the rewriting makes it. Here the result is judged as a program of its
own, with the standard library's `ast`: names that are not bound where they are used, imports that
find nothing, expressions of the wrong type. What is objected to is withdrawn with all that belongs
to it (see `migrate`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from samedevice.reading.project import Project
from samedevice.repair.importable import Importable
from samedevice.verify.edited import Edited
from samedevice.verify.expressions import mistyped
from samedevice.verify.imports import brought, unresolved
from samedevice.verify.named import Nameless, place
from samedevice.verify.names import unbound
from samedevice.verify.receivers import moving, uncertain
from samedevice.verify.sources import Read

__all__ = ["Objection", "moving", "objections", "uncertain"]


@dataclass(frozen=True)
class Objection:
    """Something in an edited file that does not hold, and its line there."""

    path: str
    line: int
    reason: str


def objections(
    before: Project, after: Project, nameless: Iterable[Nameless] = ()
) -> Iterator[Objection]:
    """Yield what edits made wrong in the files that were there before.

    `nameless` are the places of the edited project that may name no device where one is meant.
    """
    importable, read = Importable(before), Read(before)
    no_device = {(path, where): what for path, where, what in nameless}
    for path, source in after.sources.items():
        old = before.sources.get(path)
        if old is None or old.text == source.text:
            continue
        trees = before.tree(path), after.tree(path)
        if trees[0] is None or trees[1] is None:
            continue  # what does not parse is never changed
        try:
            edited = Edited(trees[0], trees[1], (old.text, source.text))
            found = [
                *unbound(edited, brought=brought(after, path)),
                *unresolved(before, after, path, edited, importable),
                *mistyped(edited),
                *_without_device(edited, path, no_device),
                *read.changed(edited),
            ]
        except RecursionError:
            yield Objection(path, 1, "the code is nested too deeply to be judged")
            continue
        for node, reason in found:
            yield Objection(path, getattr(node, "lineno", 1), reason)


def _without_device(
    edited: Edited, path: str, nameless: Mapping[tuple[str, tuple[int, int, int, int]], str]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield new expressions that say no device on some path."""
    for node in edited.new:
        if isinstance(node, ast.expr):
            what = nameless.get((path, place(node)))
            if what is not None:
                yield node, f"`{ast.unparse(node)}` {what} there"
