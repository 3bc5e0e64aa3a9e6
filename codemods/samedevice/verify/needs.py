"""What keeps a script on machines with CUDA: where some of it stays, the rest serves nobody."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence

from samedevice import syntax
from samedevice.finding import Finding
from samedevice.places import demands
from samedevice.places.programs import Programs, is_main
from samedevice.project import Project

#: Rules about what raises on a machine without CUDA, and those whose fixes serve only those.
_NEEDING = frozenset(("cuda-only-api", "hard-coded-device", "processes-tied-to-cuda"))
_SERVING = _NEEDING | frozenset(("amp-tied-to-cuda", "cuda-branch", "load-without-map-location"))
#: Statements whose blocks run, as far as can be told; others may be left out by a test.
_RUNS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def half_done(
    project: Project, left: Iterable[Finding], applied: Sequence[Finding]
) -> Iterator[tuple[list[Finding], str]]:
    """Yield the fixes that would make half of a script run without CUDA, and what stays.

    `left` are the findings that nobody repairs. Only what a script certainly comes to counts: its
    own code and that of the functions it calls by name, without branches. A demand for CUDA that
    says why stays, too. A file that scripts share is served for the sake of those that need none.
    """
    serving: dict[str, list[Finding]] = {}
    for finding in applied:
        if finding.rule in _SERVING:
            serving.setdefault(finding.path, []).append(finding)
    if not serving:
        return
    programs = Programs(project, None)
    lines: dict[str, set[int]] = {}
    for finding in left:
        if finding.rule in _NEEDING:
            lines.setdefault(finding.path, set()).add(finding.span.line)
    for program in {programs.of(path) for path in serving}:
        needs = _Needs(programs, lines)
        runs = [(files, needs.of(script, files)) for script, files in programs.runs(program)]
        for path in sorted(program & serving.keys()):
            reasons = [need for files, need in runs if path in files]
            if reasons and all(reasons):
                yield serving[path], f"{reasons[0]} is not repaired, and needs CUDA"


class _Needs:
    """Where the code of files certainly needs CUDA."""

    def __init__(self, programs: Programs, lines: dict[str, set[int]]) -> None:
        self._programs, self._lines = programs, lines
        self._known: dict[tuple[str, bool], str] = {}

    def of(self, script: str, files: Iterable[str]) -> str:
        """Return the place that needs CUDA in one of the files that a script runs, "" for none."""
        for path in sorted(files, key=lambda each: each != script):
            asked = path, path == script
            if asked not in self._known:
                line = self._first(path, path == script)
                where = f"{os.path.basename(path)}:{line}"
                self._known[asked] = where if line is not None else ""
            if self._known[asked]:
                return self._known[asked]
        return ""

    def _first(self, path: str, is_script: bool) -> int | None:
        known = self._programs.project.sources.get(path)
        wrong = self._lines.get(path, set())
        if known is None or not wrong and "is_available()" not in known.text:
            return None
        tree = self._programs.tree(path)
        believed = {node.lineno for node in demands.believed(tree)} | wrong
        return next((line for line in _certain(tree, is_script) if line in believed), None)


def _certain(tree: ast.Module, is_script: bool) -> Iterator[int]:
    """Yield the lines of what runs for certain, and of the functions called there by name."""
    functions = {node.name: node for node in tree.body if isinstance(node, _Function)}
    queue: list[ast.stmt] = list(tree.body)
    while queue:
        node = queue.pop(0)
        inner: list[ast.stmt] = []
        heads: Sequence[ast.AST] = (node,)
        if isinstance(node, _Function | ast.ClassDef):
            continue
        if isinstance(node, ast.If):
            if is_main(node) and is_script:
                inner, heads = node.body, ()
            else:
                yield node.lineno  # a demand, if it is one; what a test chooses is not certain
                heads = (node.test,)
        elif isinstance(node, ast.Try):
            inner, heads = (node.finalbody if node.handlers else node.body), ()
        elif isinstance(node, _RUNS):
            inner = node.body
            heads = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]
        for head in heads:
            first = getattr(head, "lineno", 0)
            yield from range(first, (getattr(head, "end_lineno", first) or first) + 1)
            for name in _called(head):
                if name in functions:
                    inner = [*inner, *functions.pop(name).body]
        queue[:0] = inner


def _called(head: ast.AST) -> Iterator[str]:
    """Yield the names of what is called in an expression or statement, or handed on."""
    for node in syntax.walk(head):
        if isinstance(node, ast.Call):
            for each in (node.func, *node.args):
                if isinstance(each, ast.Name):
                    yield each.id
