"""What the code of a file does that tells what it is for: evidence, read off its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from samedevice.inference.checks import Checks, checks, is_value, named_by_definitions
from samedevice.inference.trying import practises, tries, words_of
from samedevice.reading import syntax

#: What code says that brings what was learned. What reads data is none.
_LEARNED = re.compile(
    r"load(_(?!audio|batch|cfg|config|csv|data|example|im|json|sample|sett|text|token|vocab|wav|yaml)\w*)?"
    r"|\w*_load|\w*pretrained\w*|weights|checkpoint_(path|file|dir|name)|\w*from_checkpoint|ckpt\w*|hub|restore\w*|fit|pickle"
)
#: What it says that is about the user's machine, or about time.
_ASKS = re.compile(r"argv|parse_args|perf_counter|timeit|time")
#: What writes for people, and what it writes of where something is computed.
_WRITES = frozenset(
    ("debug", "info", "print", "set_title", "set_xlabel", "set_ylabel", "suptitle", "title")
    + ("write", "xlabel", "ylabel")
)
_CPU = re.compile(
    r"(?i)\b(on|using|device:?|with) (the )?cpu\b|\bcpu[- ](only|latency|inference|time)\b"
)
_GPU = re.compile(r"(?i)\b(gpu|cuda|mps)\b")
#: What reads a clock.
_CLOCKS = frozenset(
    ("default_timer", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
    + ("process_time", "process_time_ns", "time", "time_ns")
)
#: What tells whether arrays are alike.
_NUMPY = frozenset(("np", "numpy"))
_ALIKE = ("allclose", "array_equal", "assert_allclose", "assert_almost_equal", "isclose")
_LOOPS = (
    *(ast.For, ast.AsyncFor, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
#: What makes a module one for a phone.
FOR_A_PHONE = frozenset(("_save_for_lite_interpreter", "optimize_for_mobile"))
_FOR_THE_CPU = FOR_A_PHONE | {"quantize_dynamic"}
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Doings:
    """What the code of a file does.

    `writes_cpu`: it tells people that it uses the CPU. `clocked`: it reads a clock. `times`:
    between two readings it calls what may be a module, and throws away what that gives. `profiles`:
    it has the CPU's work profiled, and not the GPU's. `checks`: how it checks what modules give.
    `tries`: it hands on numbers that it makes up, and only shows what that gives.
    `practises`: it trains on such numbers, and keeps nothing.
    `compares_arrays`: it tells whether arrays of NumPy are alike.
    """

    writes_cpu: bool
    clocked: bool
    times: bool
    profiles: bool
    checks: Checks
    tries: bool
    practises: bool
    compares_arrays: bool


@syntax.per_node
def doings(tree: ast.Module) -> Doings:
    """Return what the code of a file does."""
    clocked = bool(words_of(tree.body) & _CLOCKS)
    return Doings(
        says_cpu(tree),
        clocked,
        clocked and any(map(_times, _blocks(tree))),
        _profiles(tree),
        checks(tree),
        tries(tree),
        practises(tree),
        any(
            syntax.dotted(call.func).partition(".")[0] in _NUMPY
            for name in _ALIKE
            for call in syntax.calls(tree).get(name, ())
        ),
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


@syntax.per_node
def brings(code: ast.stmt) -> bool:
    """Tell whether some code speaks of what was learned, of a user's options, or of time."""
    return any(_LEARNED.fullmatch(word) or _ASKS.fullmatch(word) for word in words_of([code]))


@syntax.per_node
def repeats(code: ast.stmt, named: frozenset[str]) -> bool:
    """Tell whether some code calls in a loop what may be a module: a value, not what has a name."""
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and is_value(call.func.id, named)
        for loop in syntax.walk(code)
        if isinstance(loop, _LOOPS)
        for call in ast.walk(loop)
    )


def _profiles(tree: ast.Module) -> bool:
    """Tell whether a file has the work of the CPU profiled, and not that of a GPU."""
    kinds = {
        node.attr
        for node in syntax.walk(tree)
        if isinstance(node, ast.Attribute)
        and syntax.dotted(node.value).rpartition(".")[2] == "ProfilerActivity"
    }
    return kinds == {"CPU"}


def _blocks(tree: ast.Module) -> Iterator[tuple[Sequence[ast.stmt], frozenset[str]]]:
    """Yield the blocks of a file that may read a clock, with the names of its definitions."""
    named = named_by_definitions(tree)
    for node in syntax.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and len(block) > 1:
                yield list(syntax.in_order(block)), named


def _times(given: tuple[Sequence[ast.stmt], frozenset[str]]) -> bool:
    """Tell whether a block reads a clock twice, and throws away what is computed in between."""
    block, named = given
    reading = [at for at, each in enumerate(block) if _reads_clock(each)]
    return any(
        any(_is_thrown_away(each, named) for each in syntax.walk_all(block[first + 1 : last]))
        for first, last in zip(reading, reading[1:], strict=False)
    )


def _reads_clock(statement: ast.stmt) -> bool:
    """Tell whether a statement keeps, or adds, what a clock says."""
    return isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)) and any(
        isinstance(call, ast.Call) and syntax.dotted(call.func).rpartition(".")[2] in _CLOCKS
        for call in syntax.walk(statement)
    )


def _is_thrown_away(node: ast.AST, named: Iterable[str]) -> bool:
    """Tell whether a statement calls what may be a module for nothing."""
    names = frozenset(named)
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[_, *_])):
            return is_value(name, names)
        case ast.Assign(targets=[ast.Name(id="_")], value=ast.Call(func=called)):
            return is_value(syntax.dotted(called).partition(".")[0] or "print", names)
    return False


@syntax.per_node
def quantizing(tree: ast.Module) -> tuple[ast.Call, ...]:
    """Return where a file makes a module one that only the CPU computes with: of whole numbers, or
    for a phone."""
    found = []
    for node in syntax.walk(tree):
        if isinstance(node, ast.Call):
            owner, _, last = syntax.dotted(node.func).rpartition(".")
            if last in _FOR_THE_CPU or last == "convert" and owner.endswith("quantization"):
                found.append(node)
    return tuple(found)
