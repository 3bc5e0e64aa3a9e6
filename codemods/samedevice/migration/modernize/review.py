"""What a converted file still needs a look at: changed meanings that no spelling tells apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_INTEGERS = frozenset({"int", "len", "ord", "round", "hash", "id"})
_FLOATS = frozenset({"float"})


def review(text: str) -> list[tuple[int, str]]:
    """Return (line, what to look at) for a Python 3 text that was Python 2.

    Nothing is returned for a text that does not parse.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return sorted(set([*_divisions(tree), *_calls(tree), *_methods(tree)]))


# -- integer division ------------------------------------------------------------------------------


def _divisions(tree: ast.Module) -> list[tuple[int, str]]:
    if any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(name.name == "division" for name in node.names)
        for node in tree.body
    ):
        return []
    notes = []
    for scope in _scopes(tree):
        integers = _integer_names(scope)
        indices = {id(part) for node in _own(scope) for part in _integers_wanted(node)}
        truncated = {
            id(node.args[0])
            for node in _own(scope)
            if isinstance(node, ast.Call) and _name(node.func) == "int" and len(node.args) == 1
        }
        for node in _own(scope):
            left: ast.expr
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
                left, right = node.target, node.value
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                left, right = node.left, node.right
            else:
                continue
            if _is_integer(left, integers) and _is_integer(right, integers):
                if id(node) not in truncated:
                    notes.append((node.lineno, _DIVISION.format(_code(node))))
            elif id(node) in indices and not (_is_float(left) or _is_float(right)):
                notes.append((node.lineno, _INDEX.format(_code(node))))
    return notes


_DIVISION = "{}: both are integers, and Python 2 rounded down; write // if that is meant"
_INDEX = "{}: an integer is wanted here, and / gives a float; write // for two integers"


def _code(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0]


def _scopes(tree: ast.Module) -> list[ast.AST]:
    return [tree, *(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)))]


def _own(scope: ast.AST) -> list[ast.AST]:
    """Return the nodes of a scope without those of functions in it."""
    found: list[ast.AST] = []
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return found


def _integer_names(scope: ast.AST) -> frozenset[str]:
    """Return the variables of a scope to which nothing but integers is assigned."""
    values: dict[str, list[ast.expr | None]] = {}  # None: something that is not looked into
    if isinstance(scope, (ast.FunctionDef, ast.Lambda)):
        arguments = scope.args
        for argument in [*arguments.args, *arguments.kwonlyargs]:
            values[argument.arg] = [None]
        for argument, default in zip(arguments.args[::-1], arguments.defaults[::-1], strict=False):
            values[argument.arg] = [default]
    for node in _own(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _assign(target, node.value, values)
        elif isinstance(node, ast.AugAssign):
            _assign(node.target, node.value, values)
        elif isinstance(node, (ast.For, ast.comprehension)):
            counts = isinstance(node.iter, ast.Call) and _name(node.iter.func) == "range"
            _assign(node.target, ast.Constant(0) if counts else None, values)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            _assign(node.optional_vars, None, values)
    integers: frozenset[str] = frozenset(values)
    while True:  # take out what is not, until what is left only depends on itself
        kept = frozenset(
            name
            for name in integers
            if all(value is not None and _is_integer(value, integers) for value in values[name])
        )
        if kept == integers:
            return integers
        integers = kept


def _assign(
    target: ast.expr, value: ast.expr | None, values: dict[str, list[ast.expr | None]]
) -> None:
    if isinstance(target, ast.Name):
        values.setdefault(target.id, []).append(value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(parts):
            parts = list(value.elts)
        for element, part in zip(target.elts, parts, strict=True):
            _assign(element, part, values)


def _is_integer(node: ast.expr, integers: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Name):
        return node.id in integers
    if isinstance(node, ast.BinOp):
        return _is_integer(node.left, integers) and _is_integer(node.right, integers)
    if isinstance(node, ast.UnaryOp):
        return _is_integer(node.operand, integers)
    if isinstance(node, ast.Subscript):  # x.shape[0], x.size()[0]
        owner = node.value
        if isinstance(owner, ast.Call):
            owner = owner.func
        return isinstance(owner, ast.Attribute) and owner.attr in ("shape", "size")
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return (
                node.func.attr in ("numel", "dim") or node.func.attr == "size" and bool(node.args)
            )
        return _name(node.func) in _INTEGERS
    return False


def _is_float(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, float)
        or isinstance(part, ast.Call) and _name(part.func) in _FLOATS
        for part in ast.walk(node)
    )  # fmt: skip


def _integers_wanted(node: ast.AST) -> list[ast.expr]:
    """Return the expressions in `node` that must be integers: indices, and arguments of range."""
    if isinstance(node, ast.Call) and _name(node.func) == "range":
        return node.args
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [
            part
            for index in parts
            for part in ([index.lower, index.upper] if isinstance(index, ast.Slice) else [index])
            if part is not None
        ]
    return []


# -- other meanings --------------------------------------------------------------------------------


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _calls(tree: ast.Module) -> list[tuple[int, str]]:
    notes = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Constant):
            notes.append((node.lineno, "a string cannot be raised; name an exception class"))
        elif isinstance(node, ast.Call):
            notes += [(node.lineno, what) for what in _on_call(node)]
    return notes


def _on_call(node: ast.Call) -> Iterator[str]:
    name = _name(node.func)
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    owner = _name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    keywords = {keyword.arg for keyword in node.keywords}
    if name == "cmp":
        yield "cmp() is gone: (a > b) - (a < b)"
    compares = method == "sort" and any(map(_compares, node.args[:1]))
    if "cmp" in keywords or name == "sorted" and len(node.args) > 1 or compares:
        yield "sorting takes key= only: functools.cmp_to_key turns a cmp"
    if owner == "pickle":
        files = node.args[:1] if method == "load" else node.args[1:2]
        if any(map(_opens_text, files)):
            yield "pickle needs a file opened in binary mode ('rb', 'wb')"
        if method in ("load", "loads") and "encoding" not in keywords:
            yield "a pickle written by Python 2 may need encoding='latin1'"
    if method in ("encode", "decode") and node.args and isinstance(node.args[0], ast.Constant):
        codec = node.args[0].value
        if codec in ("hex", "base64", "rot13", "string_escape", "zlib"):
            yield f"text has no {codec!r} codec: see the module codecs"


def _compares(node: ast.expr) -> bool:
    """Tell whether an argument looks like a function of two values."""
    if isinstance(node, ast.Lambda):
        return len(node.args.args) == 2
    return "cmp" in _name(node)


def _opens_text(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or _name(node.func) != "open":
        return False
    modes = node.args[1:2] + [k.value for k in node.keywords if k.arg == "mode"]
    return not any("b" in str(getattr(mode, "value", "b")) for mode in modes)


def _methods(tree: ast.Module) -> list[tuple[int, str]]:
    notes = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name in _UNCALLED:
                    notes.append(
                        (item.lineno, f"{item.name} is never called: {_UNCALLED[item.name]}")
                    )
        elif isinstance(node, ast.FunctionDef):
            for part in ast.walk(node):
                if isinstance(part, ast.ImportFrom) and any(n.name == "*" for n in part.names):
                    notes.append((part.lineno, "import * stands at the top of a file only"))
    return notes


_UNCALLED = {
    "__cmp__": "define __eq__ and __lt__",
    "__coerce__": "convert in the operators",
    "__getslice__": "__getitem__ gets a slice",
    "__setslice__": "__setitem__ gets a slice",
    "__delslice__": "__delitem__ gets a slice",
    "__unicode__": "define __str__",
}
