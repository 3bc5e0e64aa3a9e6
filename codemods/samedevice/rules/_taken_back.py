"""A device that is written out and taken back where it is not there: that is a resolver.

`device = "cuda"`, and below `if not torch.cuda.is_available(): device = "cpu"`; the same for the
default of a parameter, of an option or of a setting, under another name, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax

_WITHOUT = re.compile(r"\bnot (\w+\.)*is_available\(\)|is_available\(\) (is|==) False")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What holds the options of a program, which have no device as tensors do.
_OPTIONS = re.compile(r"(?i)(.*_)?(arg\w*|opt\w*|conf\w*|cfg|flags|[hs]*param\w*|settings)")


def is_taken_back(solution: Solution, spot: Location) -> bool:
    """Tell whether nothing uses a device that is written out where it is not there.

    That is the one that a name, a parameter, an option or a field of settings begins with.
    """
    parents = solution.programs.parents(spot.path)
    node = spot.node
    match parents.get(node):
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]) as statement:
            if _falls_back(parents.follows(statement), ast.unparse(target)):
                return True
            if isinstance(parents.get(statement), ast.ClassDef) and isinstance(target, ast.Name):
                return _everywhere(solution, spot.path, target.id)
        case ast.AnnAssign(target=ast.Name(id=name)) as statement:
            if isinstance(parents.get(statement), ast.ClassDef):
                return _everywhere(solution, spot.path, name)
            return _falls_back(parents.follows(statement), name)
        case ast.arguments() as given:
            function = parents.get(given)
            name = next((n for n, value in syntax.defaults(given).items() if value is node), "")
            if isinstance(function, _FUNCTION) and name:
                return _falls_back(syntax.in_order(function.body), name)
        case ast.keyword(arg="default") as keyword:
            call = parents.get(keyword)
            if isinstance(call, ast.Call) and (name := _option(call)):
                return _everywhere(solution, spot.path, name)
    return False


def _option(call: ast.Call) -> str:
    """Return the name that an option has among the others, "" for what is none."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    flags = [str(arg.value) for arg in call.args if isinstance(arg, ast.Constant)]
    long = next((flag for flag in flags if flag.startswith("--")), "")
    return long.removeprefix("--").replace("-", "_")


def _falls_back(code: Iterable[ast.stmt], name: str) -> bool:
    """Tell whether some statements use a name only after it became another device, or under a test
    for it."""
    block = list(code)
    for at, each in enumerate(block):
        if name in _set_without(each):
            return True
        reads = _reads(each, name)
        if not reads:
            continue
        match each:
            case ast.Assign(targets=[target], value=value) if ast.unparse(value) == name:
                if not _falls_back(block[at + 1 :], ast.unparse(target)):
                    return False
                if not any(_reads(later, name) for later in block[at + 1 :]):
                    return True
                continue
        if not all(_is_under_test(each, read) for read in reads):
            return False
    return any(_reads(each, name) for each in block)


def _set_without(statement: ast.AST) -> set[str]:
    """Return what a statement sets, behind a test, where there is no accelerator."""
    if not isinstance(statement, ast.If) or "is_available" not in ast.unparse(statement.test):
        return set()
    without = _WITHOUT.search(ast.unparse(statement.test)) is not None
    return {
        ast.unparse(part.targets[0])
        for part in syntax.in_order(statement.body if without else statement.orelse)
        if isinstance(part, ast.Assign)
    }


def _reads(code: ast.AST, name: str) -> list[ast.expr]:
    """Return where some code reads a dotted name."""
    last = name.rpartition(".")[2]
    return [
        node
        for node in ast.walk(code)
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and last == (node.id if isinstance(node, ast.Name) else node.attr)
        and ast.unparse(node) == name
    ]


def _is_under_test(statement: ast.stmt, read: ast.expr) -> bool:
    """Tell whether a name is read where there is an accelerator only, or only to be compared."""
    for node in ast.walk(statement):
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse) if "is_available" in (
                ast.unparse(test)
            ):
                taken = orelse if _WITHOUT.search(ast.unparse(test)) else body
                if any(part is read for part in (*ast.walk(test), *ast.walk(taken))):
                    return True
    return False


def _everywhere(solution: Solution, path: str, name: str) -> bool:
    """Tell whether all that reads an option or a field of a program takes it back.

    Where one place sets it anew, those that come later read that.
    """
    found = False
    for each in sorted(solution.programs.of(path)):
        if name not in solution.project.sources[each].text:
            continue
        for code in _readers(solution.programs.tree(each)):
            holders = {
                ast.unparse(node.value)
                for node in ast.walk(code)
                if isinstance(node, ast.Attribute) and node.attr == name and _is_held(node.value)
            }
            for spelled in (f"{holder}.{name}" for holder in holders):
                if any(spelled in _set_without(part) for part in ast.walk(code)):
                    return True
                if not _falls_back(syntax.in_order(_body(code)), spelled):
                    return False
                found = True
    return found


def _is_held(owner: ast.expr) -> bool:
    """Tell whether an object holds options: a tensor has a device, too."""
    return _OPTIONS.fullmatch(syntax.dotted(owner).rpartition(".")[2]) is not None


def _readers(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the functions of a file, and its own code."""
    for node in syntax.walk(tree):
        if isinstance(node, _FUNCTION):
            yield node
    own = [part for part in tree.body if not isinstance(part, (*_FUNCTION, ast.ClassDef))]
    main = [p for p in own if isinstance(p, ast.If) and syntax.is_main_test(p.test)]
    yield from (ast.Module(part.body, []) for part in main)
    yield ast.Module([part for part in own if part not in main], [])


def _body(code: ast.AST) -> list[ast.stmt]:
    assert isinstance(code, (*_FUNCTION, ast.Module))
    return code.body
