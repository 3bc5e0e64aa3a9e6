"""What a test comes to, where all that it asks is written in the program: flags that nobody sets.

An option of the command line is one that a user sets. What several places give differently is
followed by call and by object, where the one that is asked about is known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from samedevice.inference.programs import Programs
from samedevice.reading import syntax
from samedevice.torchfacts import OFFLOADING

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_UNKNOWN = object()
_STEPS = 8
#: The flags that a call gives a function, or an object's class: by their parameters.
Flags = tuple[tuple[str, bool], ...]
#: Decorators that hand on what a function is called with.
_PLAIN = frozenset(("no_grad", "inference_mode", "staticmethod", "wraps", "record"))


@dataclass(frozen=True)
class Own:
    """What is known of one call of a function: its flags, and those its object was made with.

    `maker` made the object.
    """

    call: Flags = ()
    object: Flags = ()
    maker: _Function | None = None


class Constants:
    """The constants of a project's programs."""

    def __init__(
        self, programs: Programs, means: Callable[[str, ast.expr], ast.AST | None]
    ) -> None:
        """`means` tells which function or class of the project a name in a file stands for."""
        self._programs, self._means = programs, means
        self._given: dict[tuple[_Function, str], object] = {}

    def truth(
        self, test: ast.expr, path: str, function: _Function | None, own: Own = Own()
    ) -> bool | None:
        """Return what a test in a function of a file comes to, None where that is not certain.

        `own` is what is known of the call that is asked about, and of its object.
        """
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.truth(test.operand, path, function, own)
            return None if inner is None else not inner
        match test:  # a pipeline of diffusers has them: older ones are asked for
            case ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value=name)]):
                return True if name in OFFLOADING else None
        if isinstance(test, ast.BoolOp):
            parts = [self.truth(each, path, function, own) for each in test.values]
            decisive = isinstance(test.op, ast.Or)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        value: object = self._own(test, path, function, own)
        if value is None:
            value = self._value(test, path, function, _STEPS)
        return None if value is _UNKNOWN else bool(value)

    def given(
        self, call: ast.Call, callee: _Function, path: str, function: _Function | None, own: Own,
        *, bound: bool,
    ) -> Flags:  # fmt: skip
        """Return the flags that a call in a function of a file gives, or leaves as they are.

        `bound`: the first parameter is the object.
        """
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            return ()
        if any(keyword.arg is None for keyword in call.keywords):
            return ()
        spec = callee.args
        values = dict(syntax.defaults(spec))
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)][bound:]
        default = set(values)
        for name, value in zip(names, call.args, strict=False):
            values[name] = value
            default.discard(name)
        for keyword in call.keywords:
            values[str(keyword.arg)] = keyword.value
            default.discard(str(keyword.arg))
        found = []
        for name, value in values.items():
            known: object = self._own(value, path, function, own) if name not in default else None
            if known is None and isinstance(value, ast.Constant):
                known = value.value
            if isinstance(known, bool) and not any(_stored(callee, name)):
                found.append((name, known))
        return tuple(sorted(found))

    def _own(self, node: ast.expr, path: str, function: _Function | None, own: Own) -> bool | None:
        """Return what a flag is in one call of a function, or for its object."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                known = self._own(inner, path, function, own)
                return None if known is None else not known
            case ast.Name(id=name):
                return dict(own.call).get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if own.maker is not None:
                stored = self._stores(attr, path)
                value = _assigned_to(own.maker, stored[0]) if len(stored) == 1 else None
                if value is not None:
                    return self._own(value, path, own.maker, Own(own.object))
        return None

    def _stores(self, name: str, path: str) -> list[ast.AST]:
        """Return where a program sets an attribute of a name."""
        return [
            node
            for other in self._programs.of(path)
            if f".{name}" in self._programs.project.sources[other].text
            for node in syntax.uses(self._programs.tree(other)).get(name, ())
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        ]

    def _value(self, node: ast.expr, path: str, function: _Function | None, steps: int) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        if steps <= 0:
            return _UNKNOWN
        if isinstance(node, ast.Name):
            return self._named(node.id, path, function, steps - 1)
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if function is not None:
                return self._attribute(attr, path, function, steps - 1)
        return _UNKNOWN

    def _named(self, name: str, path: str, function: _Function | None, steps: int) -> object:
        if function is not None:
            stored = list(_stored(function, name))
            if name in {a.arg for a in syntax.walk(function.args) if isinstance(a, ast.arg)}:
                return _UNKNOWN if stored else self._parameter(name, path, function, steps)
            if stored:
                return self._only(stored, path, function, steps)
            outer = _function_around(function, self._programs.parents(path))
            if outer is not None:
                return self._named(name, path, outer, steps)
        tree = self._programs.tree(path)
        if name in _made_global(tree):
            return _UNKNOWN
        return self._only(list(_stored(tree, name)), path, None, steps)

    def _only(
        self, stored: list[ast.AST], path: str, function: _Function | None, steps: int
    ) -> object:
        """Return the one value that a name is given, by a plain assignment."""
        match [self._programs.parents(path).get(node) for node in stored]:
            case [ast.Assign(targets=[_], value=value)]:
                return self._value(value, path, function, steps)
            case [ast.AnnAssign(value=ast.expr() as value)]:
                return self._value(value, path, function, steps)
        return _UNKNOWN

    def _attribute(self, name: str, path: str, function: _Function, steps: int) -> object:
        """Return what `self` has for an attribute that one statement of the program sets."""
        owner = self._programs.parents(path).get(function)
        stored = self._stores(name, path)
        if len(stored) != 1 or not isinstance(owner, ast.ClassDef):
            return _UNKNOWN
        for method in owner.body:
            if isinstance(method, _Function) and stored[0] in syntax.walk(method):
                return self._only(stored, path, method, steps)
        return _UNKNOWN

    def _parameter(self, name: str, path: str, function: _Function, steps: int) -> object:
        """Return what every call of a function gives one of its parameters."""
        if (function, name) not in self._given:
            self._given[function, name] = _UNKNOWN  # while its calls are looked at
            values = set(self._all_given(name, path, function, steps))
            self._given[function, name] = values.pop() if len(values) == 1 else _UNKNOWN
        return self._given[function, name]

    def _all_given(self, name: str, path: str, function: _Function, steps: int) -> Iterator[object]:
        owner = self._programs.parents(path).get(function)
        method = isinstance(owner, ast.ClassDef)
        called = function.name
        if isinstance(owner, ast.ClassDef) and called == "__init__":
            called = owner.name
        if not all(_is_plain(each) for each in function.decorator_list):
            yield _UNKNOWN
        ordered = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)][method:]
        default = syntax.defaults(function.args).get(name)
        named = owner if called != function.name else function
        for other in self._programs.of(path):
            if called not in self._programs.project.sources[other].text:
                continue
            parents = self._programs.parents(other)
            for node in syntax.uses(self._programs.tree(other)).get(called, ()):
                if not (method and named is function) and self._means(other, node) is not named:
                    continue  # another one of this name
                given = _given(node, parents.get(node), parents, name, ordered)
                if isinstance(given, ast.expr):
                    inside = _function_around(given, parents)
                    yield self._value(given, other, inside, steps)
                elif given is not None or default is None:
                    yield _UNKNOWN
                else:
                    yield self._value(default, path, None, steps)


def _given(
    node: ast.expr, outer: ast.AST | None, parents: syntax.Parents, name: str, ordered: list[str]
) -> ast.expr | bool | None:
    """Return what is given to a parameter where its function is named: None for its default, True
    where that is not told."""
    if isinstance(outer, ast.Call) and outer.func is node:
        args, keywords = outer.args, outer.keywords
    else:
        if isinstance(outer, ast.keyword):
            outer = parents.get(outer)
        if not isinstance(outer, ast.Call) or _last(outer.func) not in ("spawn", "Process"):
            return True
        handed = next((k.value for k in outer.keywords if k.arg == "args"), None)
        if not isinstance(handed, ast.Tuple):
            return True
        args, keywords = list(handed.elts), []
        if _last(outer.func) == "spawn":
            ordered = ordered[1:]  # the number of the process comes first
    if any(isinstance(arg, ast.Starred) for arg in args) or any(k.arg is None for k in keywords):
        return True
    by_name = next((k.value for k in keywords if k.arg == name), None)
    if by_name is not None:
        return by_name
    place = ordered.index(name) if name in ordered else len(args)
    return args[place] if place < len(args) else None


def _assigned_to(function: _Function, target: ast.AST) -> ast.expr | None:
    """Return what a statement of a function, that always runs, assigns to a target."""
    for node in function.body:
        match node:
            case ast.Assign(targets=[one], value=value) if one is target:
                return value
            case ast.AnnAssign(target=one, value=ast.expr() as value) if one is target:
                return value
    return None


def _stored(code: ast.AST, name: str) -> Iterator[ast.AST]:
    """Yield where a function, or a file's own code, binds a name."""
    queue = list(ast.iter_child_nodes(code))
    while queue:
        node = queue.pop()
        if isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            if getattr(node, "name", "") == name:
                yield node
            continue
        if isinstance(node, ast.Name):
            bound = node.id if not isinstance(node.ctx, ast.Load) else ""
        else:
            bound = (node.asname or node.name) if isinstance(node, ast.alias) else ""
        if bound == name:
            yield node
        queue += ast.iter_child_nodes(node)


@syntax.per_node
def _made_global(tree: ast.Module) -> frozenset[str]:
    """Return the names that functions of a file declare to be the file's."""
    found = (n.names for n in syntax.statements(tree) if isinstance(n, ast.Global))
    return frozenset(name for names in found for name in names)


def _function_around(node: ast.AST, parents: syntax.Parents) -> _Function | None:
    around = parents.get(node)
    while around is not None and not isinstance(around, _Function):
        around = parents.get(around)
    return around


def _is_plain(decorator: ast.expr) -> bool:
    return _last(decorator.func if isinstance(decorator, ast.Call) else decorator) in _PLAIN


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
