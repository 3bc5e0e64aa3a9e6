"""Classes of a program that move in a way of their own: what may be one of them is no tensor.

A controller has a `cuda()` and no `to`; the `to` of a batch changes it and gives nothing back. What
says nothing of its kind may be one of them if they have all that the code around it uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from samedevice.finding import Edit
from samedevice.reading import syntax
from samedevice.reading.project import Project

_DEFINES = re.compile(r"\bdef (?:to|cuda)\(")
_PLAIN_BASES = frozenset(("object", "ABC", "abc.ABC"))
_TAKES_ALL = ("__getattr__", "__getattribute__")
#: What code does with a module, or with what holds one: that has a `to`.
_OF_MODULES = frozenset(
    ("__call__", "apply", "children", "eval", "forward", "half", "load_state_dict", "module",
     "modules", "named_parameters", "parameters", "requires_grad_", "state_dict", "to",
     "zero_grad")
)  # fmt: skip


class OwnMoves:
    """The classes of a program that move by themselves, and what they have."""

    def __init__(self, project: Project, program: Iterable[str]) -> None:
        self._project = project
        defining = (path for path, each in project.sources.items() if _DEFINES.search(each.text))
        trees = {path: project.tree(path) for path in sorted({*program, *defining})}
        self._trees = {path: tree for path, tree in trees.items() if tree is not None}
        self._classes: dict[str, ast.ClassDef | None] = {}
        for tree in self._trees.values():
            for node in syntax.walk(tree):
                if isinstance(node, ast.ClassDef):  # of two with one name nothing is known
                    self._classes[node.name] = None if node.name in self._classes else node
        self._found = {name: had for name in self._classes if (had := self._own(name))}

    def moved(self, edit: Edit) -> Iterator[tuple[ast.expr, tuple[str, str]]]:
        """Yield what an edit of a statement moves, with the class that it may be of, and why that
        does not do."""
        kept = edit.verb == "replace_statement"
        if not (kept or edit.verb == "method"):
            return
        span = self._project.sources[edit.path].span
        for node in syntax.walk(self._trees[edit.path]) if edit.path in self._trees else ():
            match node:
                case ast.Expr(
                    lineno=edit.span.line,
                    value=ast.Call(func=ast.Attribute(value=receiver, attr=attr)),
                ) if span(node if kept else node.value) == edit.span:
                    known = self._like(edit.path, receiver, attr, kept)
                    if known is not None:
                        yield receiver, known

    def _like(self, path: str, receiver: ast.expr, attr: str, kept: bool) -> tuple[str, str] | None:
        """Return the class that a receiver may be of, and why its result cannot be `kept`, or no
        `to` called."""
        uses = {*self._uses(path, receiver)}
        if attr == "cuda" and not uses & _OF_MODULES:
            return "an object of a class that is not seen", "which may have no `to`"
        uses = uses - {"to", "cuda"} | {attr}
        for name, (has, methods) in self._found.items():
            if not uses <= has:
                continue
            if "to" not in methods:
                return f"an object of `{name}`", "which has no `to`"
            if kept and not _gives_something(methods["to"]):
                return f"an object of `{name}`", "whose `to` gives nothing back"
        return None

    def _own(self, name: str) -> tuple[frozenset[str], dict[str, ast.FunctionDef]] | None:
        """Return the attributes and methods of a class that moves in a way of its own."""
        methods: dict[str, ast.FunctionDef] = {}
        has: set[str] = set()
        queue, seen = [name], {name}
        while queue:
            klass = self._classes.get(queue.pop(0))
            if klass is None:
                return None  # a module, perhaps
            for part in klass.body:
                if isinstance(part, ast.FunctionDef):
                    methods.setdefault(part.name, part)
            has |= syntax.set_on_self(klass)
            bases = [ast.unparse(base) for base in klass.bases]
            queue += [base for base in bases if base not in _PLAIN_BASES | seen]
            seen.update(bases)
        if any(known in methods for known in _TAKES_ALL) or not {"to", "cuda"} & {*methods}:
            return None
        if "to" in methods and _gives_something(methods["to"]):
            return None
        return frozenset(has | {*methods}), methods

    def _uses(self, path: str, receiver: ast.expr) -> Iterator[str]:
        """Yield what the file uses of what has the name of a receiver."""
        name = _name_of(receiver)
        for node in syntax.walk(self._trees[path]):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=owner, attr="train"),
                    args=[] | [ast.Constant(value=bool())],
                ) if _name_of(owner) == name:
                    yield "eval"  # as modules are switched
                case ast.Attribute(value=owner, attr=attr) if _name_of(owner) == name:
                    yield attr
                case ast.Call(func=owner) if _name_of(owner) == name:
                    yield "__call__"
                case ast.Subscript(value=owner) if _name_of(owner) == name:
                    yield "__getitem__"


def _name_of(node: ast.expr) -> str:
    """Return how an expression ends: `mac` is what `self.mac` and `mac` are called."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ast.unparse(node) if isinstance(node, ast.Subscript) else ""


def _gives_something(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Return)
        and node.value is not None
        or isinstance(node, (ast.Yield, ast.YieldFrom))
        for node in ast.walk(function)
    )
