"""Spells edits by the code they are for, so that a test reads like the change it is about."""

from __future__ import annotations

import ast

from samedevice.finding import Edit, Fix, Import, Resolver, Span, Verb
from samedevice.reading import source
from samedevice.rewrite import Rewritten, rewrite
from samedevice.rewrite.engine import Tree
from samedevice.rewrite.imports import Plan
from samedevice.rewrite.quotes import Quotes

PATH = "program.py"


def span_of(text: str, code: str, *, path: str = PATH) -> Span:
    """Return the range of the only node whose code is `code` (of an outermost one)."""
    file = source.from_text(text, path)
    spans = {
        file.span(node)
        for node in ast.walk(file.tree)
        if hasattr(node, "lineno") and file.segment(node) == code
    }
    assert len(spans) == 1, (code, spans)
    return spans.pop()


def edit(text: str, code: str, verb: Verb, /, *, path: str = PATH, **args: str) -> Edit:
    """Return an edit of the node whose code is `code`."""
    return Edit(path, span_of(text, code, path=path), verb, tuple(args.items()))


def fix(
    *edits: Edit,
    imports: tuple[Import, ...] = (),
    resolvers: tuple[Resolver, ...] = (),
    erasure: str = "",
) -> Fix:
    return Fix(edits, imports=imports, resolvers=resolvers, erasure=erasure)


def run(text: str, *fixes: Fix, path: str = PATH, line_length: int | None = None) -> Rewritten:
    return rewrite(source.from_text(text, path), fixes, line_length=line_length)


def changed(text: str, *edits: Edit, line_length: int = 79) -> str:
    """Make the edits, all of which must fit, and return the new text; no proof is asked for."""
    file = source.from_text(text, PATH)
    tree = Tree(file, edits, line_length, Quotes(file))
    new, refused = tree.apply(edits, Plan())
    assert not refused, refused
    ast.parse(new)
    return new


def one(text: str, code: str, verb: Verb, /, *, line_length: int = 79, **args: str) -> str:
    """Make one edit, which must fit, and return the new text; no proof is asked for."""
    return changed(text, edit(text, code, verb, **args), line_length=line_length)
