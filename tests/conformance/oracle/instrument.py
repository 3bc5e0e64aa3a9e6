"""Rewrite a program so that each of its expressions tells where its value is.

`x + y` becomes `samedevice_see(7, x + y, samedevice_here)`, with the operands wrapped likewise; the
value is what it was. `samedevice_here` is a name of each function for the places of its arguments.
What is no expression of the program that runs stays: annotations, decorators, patterns, and what
`inspect` reads, for the file is as it was.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

SEE, HERE, ENTER = "samedevice_see", "samedevice_here", "samedevice_enter"

#: The kinds of expressions that tell.
KINDS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.IfExp, ast.NamedExpr, ast.Compare, ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip
#: They ask for the frame that calls them, by their names.
_FRAMED = frozenset(("super", "locals", "globals", "vars", "dir", "eval", "exec"))

Key = tuple[int, int, int, int, str]
"""Lines and columns of an expression as `ast` counts them, and its kind."""


def key(node: ast.expr) -> Key:
    """Return what an expression is known by in its file."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, type(node).__name__,
    )  # fmt: skip


class Table:
    """The expressions of all files that were rewritten, by their numbers."""

    def __init__(self) -> None:
        self.keys: list[tuple[str, Key]] = []

    def number(self, path: str, node: ast.expr) -> int:
        """Return the number of one more expression."""
        self.keys.append((path, key(node)))
        return len(self.keys) - 1

    def compile(self, content: bytes | str, path: str) -> CodeType:
        """Return the code of a file whose expressions tell."""
        tree = ast.parse(content, path)
        tree = ast.fix_missing_locations(_Wrap(self, path).visit(tree))
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code


class _Wrap(ast.NodeTransformer):
    """Wraps the expressions of one file."""

    def __init__(self, table: Table, path: str) -> None:
        self._table = table
        self._path = path

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; an expression that tells comes back wrapped."""
        if not isinstance(node, KINDS) or not isinstance(getattr(node, "ctx", _LOAD), ast.Load):
            return super().visit(node)
        number = self._table.number(self._path, node)
        method: Callable[[ast.AST], Any] = getattr(
            self, f"visit_{type(node).__name__}", self.generic_visit
        )
        call = ast.Call(
            ast.Name(SEE, _LOAD), [ast.Constant(number), method(node), ast.Name(HERE, _LOAD)], []
        )
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        kept = node.func if isinstance(node.func, ast.Name) and node.func.id in _FRAMED else None
        self.generic_visit(node)
        if kept is not None:
            node.func = kept
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:  # noqa: N802
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:  # noqa: N802
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:  # noqa: N802
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [
            None if default is None else self.visit(default) for default in node.kw_defaults
        ]
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        spec = node.args
        names = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        names += [one for one in (spec.vararg, spec.kwarg) if one is not None]
        handed = ast.Tuple([ast.Name(one.arg, _LOAD) for one in names], _LOAD)
        enter = ast.Assign(
            [ast.Name(HERE, ast.Store())], ast.Call(ast.Name(ENTER, _LOAD), [handed], [])
        )
        ast.copy_location(enter, node.body[0])
        has_text = ast.get_docstring(node, clean=False) is not None
        body = [self.visit(statement) for statement in node.body]
        node.body = [*body[:has_text], enter, *body[has_text:]]
        return node


_LOAD = ast.Load()


class Finder(MetaPathFinder):
    """Imports the modules below some folders rewritten."""

    def __init__(self, table: Table, folders: Sequence[str]) -> None:
        self._table = table
        self._folders = tuple(folder.rstrip("/") + "/" for folder in folders)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a module's spec, with a loader that rewrites, if it is to be rewritten."""
        spec = PathFinder.find_spec(name, path, target)
        origin = spec.origin if spec is not None else None
        if spec is None or origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        if not origin.startswith(self._folders) or "/site-packages/" in origin.removeprefix(
            next(folder for folder in self._folders if origin.startswith(folder))
        ):
            return None
        spec.loader = _Loader(name, origin, self._table)
        return spec

    def install(self) -> None:
        """Ask this finder before all others."""
        sys.meta_path.insert(0, self)


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, table: Table) -> None:
        super().__init__(name, path)
        self._table = table

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self._table.compile(self.get_data(path), path)
