"""What of some statements certainly runs, one after the other: what stands under no test."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from samedevice.inference.probes import is_probe
from samedevice.inference.programs import is_main

#: Statements whose blocks run, as far as can be told; others may be left out by a test.
_RUNS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Who leaves early by such a test may do so on every machine without CUDA, or with one process.
_DECIDES = re.compile(r"cuda|gpu|mps|cpu|device|accelerator|dist|backend|world|rank", re.IGNORECASE)


def certain(
    body: Sequence[ast.stmt], is_script: bool, decided: Callable[[ast.expr], bool | None]
) -> Iterator[ast.AST]:
    """Yield the statements that run for certain; of compound ones what their head evaluates.

    An `if` that may come out in two ways follows its test, for what both of its blocks do; a `try`
    follows what it tries, if that imports something.
    """
    for node in body:
        if isinstance(node, _DEFINES):
            continue
        if isinstance(node, ast.If) and is_main(node):
            if is_script:
                yield from certain(node.body, is_script, decided)
        elif isinstance(node, ast.If):
            yield node.test
            chosen = decided(node.test)
            if chosen is not None:
                block = node.body if chosen else node.orelse
                yield from certain(block, is_script, decided)
                if any(isinstance(each, ast.Return) or _may_leave(each) for each in block):
                    return
                continue
            if node.orelse:
                yield node
        elif isinstance(node, ast.Try):
            if not is_probe(node):  # but what may be missing: that is handled
                tried = [each for each in node.body if not (node.handlers and _imports(each))]
                yield from certain(tried, is_script, decided)
                if len(tried) < len(node.body):
                    yield node
            yield from certain(node.finalbody, is_script, decided)
        elif isinstance(node, _RUNS):
            yield from (each for each in ast.iter_child_nodes(node) if _is_head(each))
            yield from certain(node.body, is_script, decided)
        else:
            yield node
        if _may_leave(node):
            return  # what comes after it is not certain


def _may_leave(node: ast.stmt) -> bool:
    """Tell whether a function may end well within a compound statement: by a `return`.

    Where a test decides that is neither about devices nor about processes, the function's work is
    what comes after it (`if args.dry_run: return`).
    """
    if not isinstance(node, (ast.If, ast.Try, *_RUNS)):
        return False
    queue: list[ast.AST] = [node]
    while queue:
        part = queue.pop()
        if isinstance(part, ast.Return):
            return True
        if isinstance(part, ast.If) and not part.orelse:
            if _DECIDES.search(ast.unparse(part.test)) is None:
                continue
        if not isinstance(part, (*_DEFINES, ast.expr)):
            queue += ast.iter_child_nodes(part)
    return False


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_head(node: ast.AST) -> bool:
    return isinstance(node, ast.expr | ast.withitem)


def evaluated(head: ast.AST, decided: Callable[[ast.expr], bool | None]) -> Iterator[ast.AST]:
    """Yield what is certainly evaluated in a statement: of a condition the arm that constants
    choose, no function."""
    queue = [head]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.IfExp):
            queue.append(node.test)
            chosen = decided(node.test)
            if chosen is not None:
                yield node
                queue.append(node.body if chosen else node.orelse)
            continue
        yield node
        if isinstance(node, ast.BoolOp):
            queue.append(node.values[0])
        elif not isinstance(node, ast.Lambda):
            queue += ast.iter_child_nodes(node)
