"""Tests that constants decide: `ngpu > 0`, where the file says `ngpu = 1`.

Who reads such a test takes it for a choice. It is none: without CUDA the program stops there, or
computes on the CPU where there is a GPU. What users say on a command line counts with what they
get if they say nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from samedevice.inference import choices, ways
from samedevice.inference.events import Settled
from samedevice.inference.nodes import Location
from samedevice.inference.objects import Scope
from samedevice.inference.values import Const, Dict, Seq
from samedevice.reading import syntax
from samedevice.reading.wording import speaks_of_devices

if TYPE_CHECKING:
    from samedevice.inference.interpret import Interpreter

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
#: What asks which devices there are, or finds out.
_ASKS = re.compile(r"is_available|device_count|is_built|\.cuda\(|nvidia")
#: What tells systems apart.
_SYSTEM = re.compile(
    r"platform$|platform\.(system|platform|machine|uname)|sys$|sys\.platform|os$|os\.name$"
)
#: What a constant has to be, so that it can be compared.
_PLAIN = (bool, int, float, str, type(None))


Deciding = ast.If | ast.IfExp | ast.BoolOp


class _NotKnown(Exception):
    """Something in a test is no constant."""


def _test_of(node: Deciding) -> ast.expr:
    """Return the test of `if`, of `a if test else b` and of `test and a or b`."""
    if not isinstance(node, ast.BoolOp):
        return node.test
    tests = node.values[0]
    return tests.values[0] if isinstance(tests, ast.BoolOp) else tests


def note(run: Interpreter, node: Deciding, scope: Scope) -> None:
    """Note a test about CUDA that constants or the system's name decide, and nothing that asks the
    machine for it."""
    arm, test = _cuda_arm(node), _test_of(node)
    if arm is None or isinstance(test, ast.Constant):
        return  # `if True:` is nothing that a reader takes for a choice
    system = _asks_system(test)
    if system and re.search(r"[\"'](mps|xpu)\b", ast.unparse(node)):
        return  # each system has its own accelerator
    try:
        holds = arm if system else bool(_constant(run, test, scope))
    except (_NotKnown, TypeError):
        return
    words = _words(test)
    program = run.project.programs.get(scope.path, frozenset((scope.path,)))
    if any(words & _asked(tree) for tree in filter(None, map(run.project.tree, program))):
        return  # something else sets it, by what the machine has
    spot = Location(scope.path, node)
    run.record(
        Settled(spot, None, scope, test=test, positive=arm, taken=holds == arm, system=system)
    )


def _asks_system(test: ast.expr) -> bool:
    """Tell whether a test asks for nothing but the system's name, which says nothing of CUDA."""
    parts = [each for each in ast.walk(test) if isinstance(each, (ast.Name, ast.Attribute))]
    return bool(parts) and all(_SYSTEM.match(syntax.dotted(each)) for each in parts)


@syntax.per_node
def _cuda_arm(node: Deciding) -> bool | None:
    """Return what a test has to be for what asks for CUDA, None if it decides no such thing."""
    if isinstance(node, ast.BoolOp):
        return True  # its caller knows
    if isinstance(node, ast.IfExp):
        arms = node.body, node.orelse
        named = [_names_cuda(arm) or choices.moves([ast.Expr(arm)]) for arm in arms]
        given = "cpu" in ast.unparse(node) or ways.decides(node)
        given = given or speaks_of_devices(node.test)
    else:
        named = [_asks(node.body), _asks(node.orelse)]
        given = speaks_of_devices(node.test) or _only_gives(node)
    return named[0] if given and named[0] != named[1] else None


def _words(test: ast.expr) -> frozenset[str]:
    """Return the names, attributes and keys that a test reads."""
    nodes = list(ast.walk(test))
    return frozenset(
        [n.id for n in nodes if isinstance(n, ast.Name)]
        + [n.attr for n in nodes if isinstance(n, ast.Attribute)]
        + [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    )


@syntax.per_node
def _asked(tree: ast.Module) -> frozenset[str]:
    """Return the words that a file sets by what the machine has, or where a test about it holds."""
    found: set[str] = set()
    for node in syntax.walk(tree):
        match node:
            case ast.keyword(arg=str(name), value=value) if _ASKS.search(ast.unparse(value)):
                found.add(name)
            case ast.If() | ast.Try() if _ASKS.search(ast.unparse(node)):
                found |= _set_in(node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                if _ASKS.search(ast.unparse(node)):
                    found |= _set_in(node)
    return frozenset(found)


def _set_in(node: ast.AST) -> set[str]:
    """Return the names, attributes and keys that code sets."""
    found: set[str] = set()
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store()):
                found.add(name)
            case ast.Dict(keys=keys):
                found |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return found


def _only_gives(node: ast.If) -> bool:
    """Tell whether both arms do no more than give a device."""
    given = (ast.Assign, ast.AnnAssign, ast.Return)
    return ways.decides(node) and all(isinstance(s, given) for s in (*node.body, *node.orelse))


def _asks(body: list[ast.stmt]) -> bool:
    return choices.moves(body) or any(
        _names_cuda(node) for part in body for node in ast.iter_child_nodes(part)
    )


def _names_cuda(node: ast.AST) -> bool:
    """Tell whether an expression names CUDA as a device, without asking whether it is there."""
    texts = [n.value for n in syntax.walk(node) if isinstance(n, ast.Constant)]
    named = any(isinstance(text, str) and text.partition(":")[0] == "cuda" for text in texts)
    return named and "is_available" not in ast.unparse(node)


def _constant(run: Interpreter, node: ast.expr, scope: Scope) -> Any:
    """Return the value of a test's part that constants decide."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _held(run, node, scope)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _constant(run, inner, scope)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_constant(run, inner, scope)
        case ast.BoolOp(op=ast.And(), values=values):
            return all([_constant(run, each, scope) for each in values])
        case ast.BoolOp(op=ast.Or(), values=values):
            return any([_constant(run, each, scope) for each in values])
        case ast.Call(func=ast.Name(id="len" | "bool" as name), args=[inner], keywords=[]):
            value = _constant(run, inner, scope)
            return len(value) if name == "len" else bool(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            pair = _constant(run, left, scope), _constant(run, right, scope)
            if all(isinstance(each, _PLAIN) for each in pair):
                return _COMPARED[type(op)](*pair)
    raise _NotKnown


def _held(run: Interpreter, node: ast.expr, scope: Scope) -> Any:
    """Return the constant that a name, an attribute or a member stands for.

    A container stands for as many members as it has.
    """
    value = run.eval(node, scope)
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Seq) and value.items is not None:
        return value.items
    if isinstance(value, Dict) and value.element is None:
        return value.items
    raise _NotKnown
