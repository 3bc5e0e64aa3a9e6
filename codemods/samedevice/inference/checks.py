"""Files that only check what modules give: its shape, whether it is finite, whether two agree.

A value that a module gives is followed through the names of a file. All that becomes of it has to
be a look; where it is decoded, drawn, saved, handed on or printed, somebody wants it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from enum import Enum

from samedevice.reading import syntax

#: What modules are asked for beside what they compute.
_HOUSEKEEPING = frozenset(
    (
        "apply", "buffers", "children", "compile", "cpu", "cuda", "double", "eval", "float", "half",
        "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
        "named_parameters", "parameters", "requires_grad_", "state_dict", "to", "train",
        "zero_grad",
    )
)  # fmt: skip
#: Which of these only modules have.
_OF_MODULES = _HOUSEKEEPING - {"apply", "compile", "cpu", "cuda", "double", "float", "half", "to"}
#: What is asked of a tensor that says nothing of its numbers, and what compares these.
_LOOKS = frozenset(
    (
        "device", "dim", "dtype", "element_size", "grad_fn", "is_contiguous", "is_leaf", "ndim",
        "ndimension", "nelement", "numel", "requires_grad", "shape", "size", "stride", "type",
    )
)  # fmt: skip
_COMPARES = frozenset(
    (
        "allclose", "array_equal", "equal", "is_tensor", "isclose", "isfinite", "isinf",
        "isinstance", "isnan", "len", "type",
    )
)  # fmt: skip
#: What sums up many numbers in one, and what is done on the way.
_SUMMARY = frozenset(("abs", "max", "mean", "min", "norm", "std", "sum", "var"))
_ARITHMETIC = frozenset(("F", "functional", "math", "nn", "np", "numpy", "torch"))
_KEEPING = frozenset(("abs", "bool", "float", "int", "list", "max", "min", "round", "sum", "tuple"))
#: What shows something to people.
_SHOWS = frozenset(("critical", "debug", "error", "info", "log", "print", "warning"))
_FILLING = frozenset(("add", "append", "extend", "insert"))
_SAVES = frozenset(("export", "save", "save_image", "save_model", "savetxt", "savez"))
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITION = (*_FUNCTION, ast.ClassDef, ast.Lambda)
#: How much of what a module has given is in a value: nothing, its numbers summed up, the numbers,
#: and how far they are from something else, which says how good they are.
_NOTHING, _SUMMED, _GIVEN, _JUDGED = range(4)
#: Passes over a file, until no name holds more than before.
_PASSES = 6


class Checks(Enum):
    """How a file checks what modules give, if it does nothing else with that."""

    NOT = "not, or somebody wants what they give"
    LOOKS = "it looks at it"
    ASSERTS = "it says what it has to be"


@syntax.per_node
def checks(tree: ast.Module) -> Checks:
    """Tell how a file checks what the modules give that it calls.

    What modules of its own do is not looked at: that is theirs.
    """
    found = _File(tree).read()
    if any(each.wanted for each in found) or not any(each.called for each in found):
        return Checks.NOT
    if any(each.asserted for each in found):
        return Checks.ASSERTS
    return Checks.LOOKS if any(each.checked for each in found) else Checks.NOT


@syntax.per_node
def named_by_definitions(tree: ast.Module) -> frozenset[str]:
    """Return the names that a file gives to functions and classes, or imports, and to nothing
    else."""
    named = {n.name for n in syntax.walk(tree) if isinstance(n, (*_FUNCTION, ast.ClassDef))}
    for node in syntax.statements(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    bound = (node for node in syntax.walk(tree) if isinstance(node, ast.Name))
    return frozenset(named.difference(n.id for n in bound if isinstance(n.ctx, ast.Store)))


def is_value(name: str, named: frozenset[str]) -> bool:
    """Tell whether a name that is called stands for a value: a module, perhaps."""
    return not (name in named or hasattr(builtins, name))


def _modules(code: Iterable[ast.stmt], named: frozenset[str]) -> frozenset[str]:
    """Return what some code calls, or asks for what only modules have."""
    found = set()
    for call in syntax.walk_all(code):
        if not isinstance(call, ast.Call):
            continue
        text = syntax.dotted(call.func)
        owner, _, last = text.rpartition(".")
        if owner and last in _OF_MODULES and is_value(owner.partition(".")[0], named):
            found.add(owner)
        elif text and not owner and is_value(text, named):
            found.add(text)
    return frozenset(found)


class _File:
    """A file whose functions hand each other what modules give."""

    def __init__(self, tree: ast.Module) -> None:
        code = [each for each in tree.body if not isinstance(each, ast.ClassDef)]
        named = named_by_definitions(tree)
        self.modules = _modules(code, named)
        functions = [node for node in syntax.walk_all(code) if isinstance(node, _FUNCTION)]
        self._bodies = [(code, _Reading(self)), *((n.body, _Reading(self)) for n in functions)]
        readings = (reading for _, reading in self._bodies[1:])
        self.functions = {n.name: (n, r) for n, r in zip(functions, readings, strict=True)}

    def read(self) -> list[_Reading]:
        """Read all functions, until none of them is handed more than before."""
        for _ in range(_PASSES):
            before = [reading.state() for _, reading in self._bodies]
            for body, reading in self._bodies:
                reading.read(body)
            if before == [reading.state() for _, reading in self._bodies]:
                break
        readings = [reading for _, reading in self._bodies]
        for each in readings:
            each.wanted |= each.returns > _NOTHING and not each.given_back
        vars(self).clear()  # they refer to each other, and would wait for the collection of garbage
        return readings


class _Reading:
    """What becomes of what modules give, in the body of one function, or of the file.

    `returns` is what it gives back, to code of the file if `given_back`.
    """

    def __init__(self, file: _File) -> None:
        self._file = file
        self._holds: dict[str, int] = {}
        self.returns = _NOTHING
        self.called = self.checked = self.asserted = self.wanted = self.given_back = False

    def state(self) -> tuple[dict[str, int], int]:
        """Return what names hold, and what is given back."""
        return dict(self._holds), self.returns

    def read(self, body: Iterable[ast.stmt]) -> None:
        """Read a body once more."""
        for statement in body:
            self._statement(statement)

    def hand(self, name: str, level: int) -> None:
        """Hand something in under a name."""
        self._holds[name] = max(level, self._holds.get(name, _NOTHING))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.Assign(targets=targets, value=value):
                self._bind(targets, self._level(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind([target], self._level(value))
            case ast.AugAssign(target=target, value=value):
                self._bind([target], self._level(value))
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._bind([target], self._level(value))
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                self.asserted |= self._look(test) and isinstance(node, ast.Assert)
            case ast.Return(value=ast.expr() as value):
                self.returns = max(self.returns, self._level(value))
            case ast.Expr(value=value):
                self._expression(value)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    self._level(item.context_expr)
        for field in ("body", "orelse", "finalbody"):
            for inner in getattr(node, field, ()):
                self._statement(inner)
        for handler in getattr(node, "handlers", ()):
            for inner in handler.body:
                self._statement(inner)

    def _bind(self, targets: Iterable[ast.expr], level: int) -> None:
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                self._bind(target.elts, level)
            elif isinstance(target, ast.Starred):
                self._bind([target.value], level)
            elif isinstance(target, ast.Name):
                self.hand(target.id, level)
            elif not (isinstance(target, ast.Subscript) and self._level(target.value)):
                self.wanted |= level > _NOTHING  # it is kept

    def _expression(self, value: ast.expr) -> None:
        if isinstance(value, (ast.Yield, ast.YieldFrom)):
            self.wanted = True
        elif isinstance(value, ast.Call) and not self._is_application(value):
            level = self._level(value)
            done = value.func.attr if isinstance(value.func, ast.Attribute) else ""
            self.wanted |= level > _NOTHING and done != "backward" and not self._is_own(value)
        else:
            self._level(value)

    def _look(self, test: ast.expr) -> bool:
        """Read what is only tested; tell whether it comes from a module."""
        before, self.checked = self.checked, False
        wanted = self.wanted
        level = self._level(test)
        looked, self.checked = self.checked, before or self.checked
        self.wanted = wanted
        return level > _NOTHING or looked

    def _is_application(self, call: ast.Call) -> bool:
        text = syntax.dotted(call.func)
        if text in self._file.modules:
            return True
        owner, _, last = text.rpartition(".")
        while owner:
            if owner in self._file.modules:
                return last not in _HOUSEKEEPING
            owner = owner.rpartition(".")[0]
        return False

    def _level(self, node: ast.AST) -> int:
        """Return how much of what modules give is in a value."""
        match node:
            case ast.Name(id=name):
                return self._holds.get(name, _NOTHING)
            case ast.Attribute(value=inner, attr=attr):
                level = self._level(inner)
                return self._looked(level) if attr in _LOOKS else level
            case ast.Call():
                return self._called(node)
            case ast.BinOp(left=left, right=right):
                return self._between(left, right)
            case ast.Compare(left=left, comparators=[*others]):
                most = max(self._level(each) for each in (left, *others))
                return _JUDGED if most > _SUMMED else self._looked(most)
            case _ if isinstance(node, _DEFINITION):
                return _NOTHING
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for each in node.generators:
                    self._bind([each.target], self._level(each.iter))
        return max((self._level(each) for each in syntax.children(node)), default=_NOTHING)

    def _looked(self, level: int) -> int:
        self.checked |= level > _NOTHING
        return _NOTHING

    def _between(self, left: ast.expr, right: ast.expr) -> int:
        first, second = self._level(left), self._level(right)
        most, least = max(first, second), min(first, second)
        other = right if first > second else left
        if most == _GIVEN and least == _NOTHING and not isinstance(other, ast.Constant):
            return _JUDGED if any(isinstance(n, ast.Name) for n in ast.walk(other)) else most
        return most

    def _called(self, call: ast.Call) -> int:
        given = [*call.args, *(each.value for each in call.keywords)]
        levels = [self._level(each) for each in given]
        most = max(levels, default=_NOTHING)
        if self._is_application(call):
            self.called = True
            return _GIVEN
        text = syntax.dotted(call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) else text
        if text in self._file.functions:
            return self._own(text, call)
        if last in _COMPARES or last.startswith("assert"):
            inner = self._level(call.func) if isinstance(call.func, ast.Attribute) else _NOTHING
            self.asserted |= last.startswith("assert") and max(most, inner) > _NOTHING
            counted = last == "len" and most == _JUDGED  # so many are right
            return most if counted else self._looked(max(most, inner))
        if last in _SHOWS:
            self.wanted |= most > _SUMMED
            return _NOTHING
        if isinstance(call.func, ast.Attribute) and not text.startswith(tuple(_PREFIXES)):
            return self._method(call.func, most)
        if last in _SAVES:
            self.wanted = True
        elif text.partition(".")[0] in _ARITHMETIC or text in _KEEPING:
            return _SUMMED if last in _SUMMARY and most == _GIVEN and len(given) == 1 else most
        elif text in ("all", "any"):
            return self._looked(most)
        elif not isinstance(call.func, ast.Call):  # `Loss()(output, target)`
            self.wanted |= most > _SUMMED or any(self._is_module(each) for each in given)
            return _NOTHING
        return most

    def _is_module(self, node: ast.expr) -> bool:
        """Tell whether a module is handed on: who gets it may call it."""
        return syntax.dotted(node) in self._file.modules and syntax.dotted(node) != ""

    def _is_own(self, call: ast.Call) -> bool:
        return syntax.dotted(call.func) in self._file.functions

    def _own(self, name: str, call: ast.Call) -> int:
        """Read a call of a function of the file."""
        function, reading = self._file.functions[name]
        reading.given_back = True
        names = list(syntax.parameters(function))
        for name, value in zip(names, call.args, strict=False):
            reading.hand(name, self._level(value))
        for keyword in call.keywords:
            if keyword.arg is not None:
                reading.hand(keyword.arg, self._level(keyword.value))
        return reading.returns

    def _method(self, func: ast.Attribute, given: int) -> int:
        level = self._level(func.value)
        if func.attr in _FILLING and isinstance(func.value, ast.Name):
            self.hand(func.value.id, given)
            return _NOTHING
        if func.attr in _LOOKS:
            return self._looked(level)
        if level == _NOTHING:
            if not self._is_module(func.value):
                self.wanted |= given > _SUMMED  # it is handed to an object
            return _NOTHING
        if func.attr in _SUMMARY and level == _GIVEN:
            return _SUMMED
        if func.attr in ("all", "any"):
            return self._looked(level)
        return max(level, given)


_PREFIXES = [f"{name}." for name in _ARITHMETIC]
