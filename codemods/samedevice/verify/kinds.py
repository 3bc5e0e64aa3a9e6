"""What an expression is known to be, as far as a file shows it: evidence, not proof.

Nothing is evaluated: names are led back to what is assigned to them, parameters to their
annotations, defaults and the calls in the same file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from samedevice.reading import syntax
from samedevice.verify.callers import bound_in

#: The kinds; a set of them holds all that an expression may be, and is empty where nothing shows.
DEVICE, TEXT, NUMBER, FLAG, MODULE, TENSOR, DATA = (
    "a device", "a string", "a number", "a flag", "a module", "a tensor", "data that is no tensor",
)  # fmt: skip

_ANNOTATIONS = {
    "device": DEVICE,
    "str": TEXT,
    "int": NUMBER,
    "float": NUMBER,
    "bool": FLAG,
    "Module": MODULE,
    "Tensor": TENSOR,
    "ndarray": DATA,
    "dict": DATA,
    "list": DATA,
    "tuple": DATA,
    "Dict": DATA,
    "List": DATA,
    "Tuple": DATA,
}
_RESULTS = {
    "str": TEXT,
    "int": NUMBER,
    "float": NUMBER,
    "len": NUMBER,
    "bool": FLAG,
}
_CREATIONS = frozenset(
    {"zeros", "ones", "rand", "randn", "empty", "full", "tensor", "as_tensor", "arange", "eye"}
)
_DEPTH = 6
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Kinds:
    """What the expressions of a file are known to be."""

    def __init__(self, tree: ast.Module, parents: syntax.Parents) -> None:
        self._tree = tree
        self._parents = parents
        self._bound: dict[ast.AST, set[str]] = {}
        nodes = syntax.walk(tree)
        self.classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        self._known: dict[tuple[ast.AST, str, int], set[str]] = {}
        self._calls: dict[str, list[ast.Call]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
                self._calls.setdefault(called, []).append(node)
        self._names: dict[str, list[tuple[ast.Name, ast.expr | None]]] = {}
        self._attributes: dict[str, list[tuple[ast.Attribute, ast.expr | None]]] = {}
        for target, value in _assignments(nodes):
            if isinstance(target, ast.Name):
                self._names.setdefault(target.id, []).append((target, value))
            elif isinstance(target, ast.Attribute):
                self._attributes.setdefault(ast.unparse(target), []).append((target, value))

    def of(self, node: ast.AST | None, depth: int = _DEPTH) -> set[str]:
        """Return the kinds that an expression may have."""
        if depth == 0:
            return set()
        match node:
            case ast.Constant(value=value):
                return _of_constant(value)
            case ast.JoinedStr():
                return {TEXT}
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body, depth - 1) | self.of(orelse, depth - 1)
            case ast.BoolOp(op=ast.Or(), values=values):
                return set().union(*(self.of(value, depth - 1) for value in values))
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return {FLAG}
            case ast.Call(func=func):
                return self._of_call(func)
            case ast.Attribute():
                return self._of_attribute(node, depth)
            case ast.Name():
                return self._of_name(node, depth)
        return set()

    def _of_call(self, func: ast.expr) -> set[str]:
        name = getattr(func, "attr", "") or getattr(func, "id", "")
        owner = ast.unparse(func.value) if isinstance(func, ast.Attribute) else ""
        if name == "device" and owner in ("torch", "th", "t", ""):
            return {DEVICE}
        if name == "item":
            return {NUMBER}
        if name in _RESULTS and isinstance(func, ast.Name):
            return {_RESULTS[name]}  # `x.float()` is what `x` is
        if owner in ("torch", "th", "t") and name in _CREATIONS:
            return {TENSOR}
        if owner in ("torch.nn", "nn") and name[:1].isupper() and name != "Parameter":
            return {MODULE}
        known = self.classes.get(name) if not owner else None
        return {MODULE} if known is not None and self.is_module(known) else set()

    def _of_attribute(self, node: ast.Attribute, depth: int) -> set[str]:
        if node.attr == "type" and DEVICE in self.of(node.value, depth - 1):
            return {TEXT}
        code = ast.unparse(node)
        around = self.class_around(node) if code.startswith("self.") else None
        asked = around or self._tree, code, depth
        if asked not in self._known:
            self._known[asked] = set().union(
                *(
                    self.of(value, depth - 1)
                    for target, value in self._attributes.get(code, ())
                    if around is None or self.class_around(target) is around
                )
            )
        found = self._known[asked]
        return found or ({DEVICE} if self._is_tensors_device(node, depth) else set())

    def _is_tensors_device(self, node: ast.Attribute, depth: int) -> bool:
        return node.attr == "device" and TENSOR in self.of(node.value, depth - 1)

    def _of_name(self, node: ast.Name, depth: int) -> set[str]:
        scope = self._scope_of(node)
        asked = scope, node.id, depth
        if asked not in self._known:
            found: set[str] = set()
            if isinstance(scope, _Function):
                found |= self._of_parameter(scope, node.id, depth)
            for target, value in self._names.get(node.id, ()):
                if self._scope_of(target) is scope:
                    found |= self.of(value, depth - 1)
            self._known[asked] = found
        return self._known[asked]

    def _of_parameter(self, function: _Function, name: str, depth: int) -> set[str]:
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        for argument in (*positional, *arguments.kwonlyargs):
            if argument.arg == name:
                break
        else:
            return set()
        found = _of_annotation(argument.annotation)
        found |= self.of(syntax.defaults(arguments).get(name), depth - 1)
        if isinstance(function, ast.Lambda):
            return found
        owner = self._parents.get(function)
        is_method = isinstance(owner, ast.ClassDef)
        called = function.name
        how: type[ast.expr] = ast.Attribute if is_method else ast.Name
        if isinstance(owner, ast.ClassDef) and called == "__init__":
            called, how = owner.name, ast.expr
        for call in self._calls.get(called, ()):
            if not isinstance(call.func, how):
                continue  # `f(1)` calls no method `f`, and `a.f(1)` no function of the file
            skipped = positional[1:] if is_method else positional
            given = dict(zip((each.arg for each in skipped), call.args, strict=False))
            given |= {each.arg: each.value for each in call.keywords if each.arg}
            if name in given and not isinstance(given[name], ast.Starred):
                found |= self.of(given[name], depth - 1)
        return found

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class that a node is in."""
        at = self._parents.get(node)
        while at is not None and not isinstance(at, ast.ClassDef):
            at = self._parents.get(at)
        return at

    def _scope_of(self, node: ast.Name) -> ast.AST:
        """Return the function that binds the name of a node, or the file."""
        at = self._parents.get(node)
        while at is not None:
            if isinstance(at, _Function):
                if at not in self._bound:
                    self._bound[at] = bound_in(at)
                if node.id in self._bound[at]:
                    return at
            at = self._parents.get(at)
        return self._tree

    def is_module(self, node: ast.ClassDef) -> bool:
        """Tell whether a class is one of torch's modules, by its bases in the file."""
        return any(
            name.endswith("Module")
            or (base is not None and base is not node and self.is_module(base))
            for name, base in self.bases(node)
        )

    def bases(self, node: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef | None]]:
        """Yield the bases of a class as they are written, with their definitions in the file."""
        for base in node.bases:
            yield ast.unparse(base), self.classes.get(ast.unparse(base))


def _assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield what is assigned to names and attributes; None is something out of something."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _taken_apart(target, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield target, value


def _taken_apart(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    match target, value:
        case (ast.Tuple(elts=names), ast.Tuple(elts=values)) if len(names) == len(values):
            for one, other in zip(names, values, strict=True):
                yield from _taken_apart(one, other)
        case (ast.Name() | ast.Attribute(), _):
            yield target, value


def _of_constant(value: object) -> set[str]:
    if isinstance(value, bool):
        return {FLAG}
    if isinstance(value, str):
        return {TEXT}
    return {NUMBER} if isinstance(value, (int, float)) else set()


def _of_annotation(node: ast.expr | None) -> set[str]:
    """Return the kinds that an annotation allows, each part of a union for itself."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _of_annotation(left) | _of_annotation(right)
        case ast.Subscript(value=ast.Name(id="Union" | "Optional"), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return set().union(*map(_of_annotation, parts))
        case ast.Subscript(value=value):
            return _of_annotation(value)
        case ast.Constant(value=str(text)):
            try:
                return _of_annotation(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return set()
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {_ANNOTATIONS[name]} if name in _ANNOTATIONS else set()
    return set()
