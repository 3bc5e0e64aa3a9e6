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

from samedevice.inference.certainty import PERHAPS_THE_CPU, THE_CPU
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.repair.importable import Importable
from samedevice.verify.cells import leaning
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
    chosen = bool(after.resolver_function)  # users' own may well say the CPU
    no_device = {
        (path, where): what
        for path, where, what in nameless
        if not (chosen and what in (THE_CPU, PERHAPS_THE_CPU))
    }
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
                *_given_twice(edited),
                *read.changed(edited),
                *leaning(before, after, path, edited),
            ]
        except RecursionError:
            yield Objection(path, 1, "the code is nested too deeply to be judged")
            continue
        for node, reason in found:
            yield Objection(path, getattr(node, "lineno", 1), reason)


def _without_device(
    edited: Edited, path: str, nameless: Mapping[tuple[str, tuple[int, int, int, int]], str]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield expressions that are to name a device now, and name none on some path."""
    for node in (*edited.new, *edited.elsewhere):
        if isinstance(node, ast.expr):
            what = nameless.get((path, place(node)))
            if what == PERHAPS_THE_CPU and not _stood_for_cuda(edited, node):
                continue
            if what is not None:
                yield node, f"`{ast.unparse(node)}` {what} there"


def _stood_for_cuda(edited: Edited, node: ast.AST) -> bool:
    """Tell whether the statement of a new expression named CUDA before, whoever called."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        at = edited.parents.get(at)
    before = edited.kept.get(at) if at is not None else None
    return before is not None and "cuda" in ast.unparse(before)


def _given_twice(edited: Edited) -> Iterator[tuple[ast.AST, str]]:
    """Yield new arguments of a call that also gets what a mapping holds: `f(x=y, **words)`."""
    for node in edited.new:
        if not isinstance(node, ast.keyword) or node.arg is None:
            continue
        call = edited.parents.get(node)
        mappings = [each.value for each in getattr(call, "keywords", ()) if each.arg is None]
        for mapping in mappings:
            if not edited.is_new(mapping) and _may_hold(edited.after, mapping, node.arg):
                yield node.value, f"`**{ast.unparse(mapping)}` may give `{node.arg}`, too"


def _may_hold(tree: ast.Module, mapping: ast.expr, key: str) -> bool:
    """Tell whether a mapping may have a key: all but displays, and what stands for them, may."""
    if isinstance(mapping, ast.Name):
        given = [
            each.value
            for each in syntax.walk(tree)
            if isinstance(each, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == mapping.id for t in each.targets)
        ]
        stores = (
            each
            for each in syntax.walk(tree)
            if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
            if isinstance(each.value, ast.Name) and each.value.id == mapping.id
        )
        if not given or any(True for _ in stores):
            return True
        return any(isinstance(each, ast.Name) or _may_hold(tree, each, key) for each in given)
    if isinstance(mapping, ast.IfExp):
        return any(_may_hold(tree, each, key) for each in (mapping.body, mapping.orelse))
    if not isinstance(mapping, ast.Dict):
        return True
    return any(not isinstance(k, ast.Constant) or k.value == key for k in mapping.keys)
