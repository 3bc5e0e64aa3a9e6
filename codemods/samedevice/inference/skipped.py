"""Functions that never run where there is no CUDA: what they say of it is meant.

A mark says so of a test, one of the function, of its class or of the file, or what prepares the
test. What runs on a rented machine says which GPU that has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samedevice.inference.objects import Func
from samedevice.reading import syntax

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What is asked of the machine: that there is no GPU, or too few, and that there are some.
_NONE = re.compile(r"not [\w.]*is_available\(\)|device_count\(\) (<|==)|is_available\(\) is False")
_SOME = re.compile(r"is_available\(\)|device_count\(\) >")
#: Marks of a project's own: `@requires_cuda`, `@pytest.mark.gpu`, `@skip_if_no_gpu`.
_NAMED = re.compile(
    r"(?i)([\w.]*\.)?(mark\.|requires?_|needs?_|skip_?(if|unless|without)_?(no_?|not?_)?|only_?)"
    r"(\w*_)?(cuda|gpus?)(_\w+)?|(cuda|gpu)_only"
)
#: How many names deep a mark is looked for.
_DEPTH = 2
#: What such a mark is told how many there have to be.
_AT_LEAST = frozenset(("min_cuda_gpus", "min_gpus"))


def on_rented_gpu(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Tell whether a function or a class says which GPU its machine has: `f(gpu="A100")`."""
    return any(
        word.arg == "gpu" and not (isinstance(word.value, ast.Constant) and not word.value.value)
        for mark in definition.decorator_list
        if isinstance(mark, ast.Call)
        for word in mark.keywords
    )


def without_cuda(func: Func, tree: ast.Module) -> bool:
    """Tell whether a test is left out on a machine without CUDA."""
    if isinstance(func.node, ast.Lambda):
        return False
    marks = [*func.node.decorator_list, *_marks_of(tree.body)]
    if func.cls is not None and isinstance(func.cls.node, ast.ClassDef):
        own = func.cls.node
        marks += [*own.decorator_list, *_marks_of(own.body)]
        if any(map(_leaves, own.body)):
            return True
    return any(_says_so(mark, tree) for mark in marks)


def _marks_of(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """Yield the marks of all tests of a file or a class: `pytestmark = ...`."""
    for each in body:
        match each:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                yield from value.elts if isinstance(value, ast.List) else [value]


def _says_so(mark: ast.expr, tree: ast.Module, depth: int = _DEPTH) -> bool:
    if isinstance(mark, ast.Name) and depth:
        given = _given(mark.id, tree)
        if given:
            return len(given) == 1 and _says_so(given[0], tree, depth - 1)
    match mark:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if depth:
            for each in tree.body:  # what makes one: `return unittest.skipUnless(...)(test)`
                if not isinstance(each, _FUNCTION) or each.name != name:
                    continue
                if isinstance(mark, ast.Name) or not syntax.parameters(each):
                    calls = [part for part in syntax.walk(each) if isinstance(part, ast.Call)]
                    return any(_says_so(call, tree, 0) for call in calls)
    if not isinstance(mark, ast.Call):
        return _NAMED.fullmatch(ast.unparse(mark)) is not None
    for word in mark.keywords:  # a mark of a project's own: `@run_if(min_gpus=1)`
        if word.arg in _AT_LEAST and isinstance(word.value, ast.Constant) and word.value.value:
            return True
    match syntax.dotted(mark.func).rpartition(".")[2], mark.args:
        case "skipif" | "skipIf", [test, *_]:
            return _NONE.search(_asked(test, tree)) is not None
        case "skipUnless", [test, *_]:
            asked = _asked(test, tree)
            return _SOME.search(asked) is not None and _NONE.search(asked) is None
    return _NAMED.fullmatch(ast.unparse(mark.func)) is not None


def _given(name: str, tree: ast.Module) -> list[ast.expr]:
    """Return what a file binds a name to, at its top."""
    return [
        each.value
        for each in tree.body
        if isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
    ]


def _asked(test: ast.expr, tree: ast.Module) -> str:
    """Return what a test asks, in the words of what its name is bound to."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) | ast.Name(id=name):
            given = _given(name, tree)
            if len(given) == 1:
                asked = ast.unparse(given[0])
                return asked if isinstance(test, ast.Name) else f"not {asked}"
    return ast.unparse(test)


def _leaves(prepared: ast.stmt) -> bool:
    """Tell whether what prepares the tests of a class skips them where there is no CUDA."""
    if not isinstance(prepared, _FUNCTION) or not prepared.name.lower().startswith("setup"):
        return False
    return any(
        isinstance(each, ast.If)
        and _NONE.search(ast.unparse(each.test)) is not None
        and any("skip" in ast.unparse(part).lower() for part in each.body)
        for each in syntax.statements(prepared)
    )
