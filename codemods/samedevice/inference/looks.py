"""Scripts that chose the CPU: they say so, or only look at what modules give that have learned
nothing, as lessons and smoke tests do.

One forward of made-up numbers, of which the shape is printed, serves nobody on a device. Where the
project says elsewhere where it computes, its author did not say it here.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from samedevice.inference.demonstrations import words_of
from samedevice.inference.events import Drawn, Loaded, Optimizes
from samedevice.reading import syntax

if TYPE_CHECKING:
    from samedevice.inference.solution import Solution

#: What code says that brings what was learned, or data that somebody has.
_BRINGS = re.compile(
    r"load\w*|\w*pretrained|weights|checkpoint\w*|hub|restore|open|imread|read_\w+|\w*[dD]ata[lL]oader\w*"
    r"|\w*[dD]ataset\w*|from_numpy|fit|glob|urlopen|argv|parse_args|perf_counter|timeit|time"
)
#: Where a project says on which device it computes.
_DEVICE = re.compile(
    r"[\"']cuda|\.cuda\(|\.to\((self\.|args\.)?device\)|\bdevice *=", re.IGNORECASE
)
#: What writes for people, and what it writes of where something is computed.
_WRITES = frozenset(
    ("debug", "info", "print", "set_title", "set_xlabel", "set_ylabel", "suptitle", "title")
    + ("write", "xlabel", "ylabel")
)
_CPU = re.compile(
    r"(?i)\b(on|using|device:?|with) (the )?cpu\b|\bcpu[- ](only|latency|inference|time)\b"
)
_GPU = re.compile(r"(?i)\b(gpu|cuda|mps)\b")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINED = (*_FUNCTION, ast.ClassDef)
#: What reads a clock.
_CLOCKS = frozenset(("default_timer", "monotonic", "perf_counter", "perf_counter_ns", "time"))


def chosen(solution: Solution, reached: Collection[str]) -> str:
    """Return why a script that runs some files is on the CPU by choice, "" if nothing tells so."""
    for path in sorted(reached):
        if says_cpu(solution.programs.tree(path)):
            return f"{path.rpartition('/')[2]} writes that it uses the CPU"
    for path in sorted(reached):
        if _is_measured(solution, path, reached):
            return f"{path.rpartition('/')[2]} measures how long the CPU takes"
    if only_looks(solution, reached):
        return "it looks once at what modules give that have learned nothing"
    return ""


def only_looks(solution: Solution, reached: Collection[str]) -> bool:
    """Tell whether a script that runs some files only looks at what its modules give.

    They have learned nothing. It takes no gradient, brings no weights and no
    data, and calls its modules in no loop.
    """
    if (solution.interpreter.learning | _working(solution)).isdisjoint(reached):
        trees = [solution.programs.tree(path) for path in reached]
        if not any(map(_brings, trees)) and not any(map(_goes_on, trees)):
            return _says_device(solution, reached)
    return False


def _is_measured(solution: Solution, path: str, reached: Collection[str]) -> bool:
    """Tell whether a file is a script that measures again and again how long something takes.

    It trains nothing. On a device its clock would be read before the work is done.
    """
    scripts = {script for script, _ in solution.programs.scripts()}
    trained = {group.spot.path for group in solution.all_groups(Optimizes)}
    if path not in scripts or not trained.isdisjoint(reached):
        return False
    return measures(solution.programs.tree(path))


@syntax.per_node
def measures(tree: ast.Module) -> bool:
    """Tell whether a file reads a clock on both sides of rounds that it counts, or in each."""
    if "synchronize" in words_of(tree.body):
        return False
    for around in (tree, *(f for fs in syntax.functions(tree).values() for f in fs)):
        nodes = list(_nodes(around))
        read = [node.lineno for node in nodes if isinstance(node, ast.Call) and _is_clock(node)]
        rounds = [
            loop for loop in nodes
            if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call)
            and syntax.dotted(loop.iter.func) == "range"
        ]  # fmt: skip
        for loop in rounds:
            last = loop.end_lineno or loop.lineno
            inside = [line for line in read if loop.lineno <= line <= last]
            beside = read and min(read) <= loop.lineno and last <= max(read)
            if len(inside) > 1 or beside and len(read) > 1:
                return True
    return False


def _nodes(around: ast.AST) -> Iterator[ast.AST]:
    """Yield the code of a function, or of a file without its functions and classes."""
    if isinstance(around, ast.Module):
        parts = [each for each in around.body if not isinstance(each, _DEFINED)]
        yield from syntax.walk_all(parts)
    else:
        yield from syntax.walk(around)


def _is_clock(call: ast.Call) -> bool:
    return syntax.dotted(call.func).rpartition(".")[2] in _CLOCKS and not call.args


def _working(solution: Solution) -> set[str]:
    """Return the files that train, or take data from loaders or files."""
    kinds = (Optimizes, Drawn, Loaded)
    return {group.spot.path for kind in kinds for group in solution.all_groups(kind)}


def _says_device(solution: Solution, reached: Collection[str]) -> bool:
    """Tell whether other files of the project say on which device they compute.

    Those of scripts that share code with this one do not count: each is judged by itself.
    """
    beside = set(reached)
    for _, files in solution.programs.scripts():
        beside |= set() if files.isdisjoint(reached) else files
    return any(
        _DEVICE.search(source.text)
        for path, source in solution.project.sources.items()
        if path not in beside and "torch" in source.text
    )


@syntax.per_node
def _brings(tree: ast.Module) -> bool:
    """Tell whether a file's code speaks of what was learned, or of data."""
    return any(map(_BRINGS.fullmatch, words_of(tree.body)))


@syntax.per_node
def _goes_on(tree: ast.Module) -> bool:
    """Tell whether a file calls in a loop what may be a module: a value, not what has a name.

    What a module's own code does in loops is one call of it.
    """
    defined = (node for node in syntax.walk(tree) if isinstance(node, (*_FUNCTION, ast.ClassDef)))
    named = {node.name for node in defined}
    for node in syntax.statements(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named |= {alias.asname or alias.name for alias in node.names}
    outside = [each for each in tree.body if not isinstance(each, ast.ClassDef)]
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and not (call.func.id in named or hasattr(builtins, call.func.id))
        for loop in syntax.walk_all(outside)
        if isinstance(loop, _LOOPS)
        for call in ast.walk(loop)
    )


@syntax.per_node
def says_cpu(tree: ast.Module) -> bool:
    """Tell whether a file writes that it uses the CPU: on the screen, in a log, on a figure.

    What it writes of GPUs besides is about a choice.
    """
    told = [
        part.value
        for call in syntax.walk(tree)
        if isinstance(call, ast.Call) and syntax.dotted(call.func).rpartition(".")[2] in _WRITES
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return any(map(_CPU.search, told)) and not any(map(_GPU.search, told))
