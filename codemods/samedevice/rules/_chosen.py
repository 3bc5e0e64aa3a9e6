"""What decides the device is no hard-coded one: a test, a table, a probe, an option, a comment.

The rule `hard-coded-device` leaves that as it is.
"""

from __future__ import annotations

import ast
import re

from samedevice.inference import Solution
from samedevice.inference.events import Literal, Settled
from samedevice.inference.nodes import Location
from samedevice.inference.probes import is_fallback
from samedevice.reading import syntax
from samedevice.rules import _choice, _settled
from samedevice.rules._build import tests_devices
from samedevice.rules._taken_back import is_taken_back

#: What a comment says that means the CPU.
_ON_PURPOSE = re.compile(
    r"(?i)\b(forc\w+|only|always|must|keep\w*|purpose|deliberate\w*|stab\w+)\b"
)
#: What a comment says of a GPU that is not wanted.
_UNWANTED = re.compile(
    r"(?i)\b(no need|not? need\w*|without|un(?:necessary|needed))\b.{0,40}\b(gpu|cuda)"
    r"|(gpu|cuda)s?\b.{0,40}(\bnot\b|n't\b|\bunnecessary\b)"
)
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_chosen(solution: Solution, spot: Location) -> bool:
    """Tell whether a test about devices decides if this code runs: it is a choice, then.

    So is the entry of a table whose key names the device, and a case that matches its name. What a
    function of `torch.cuda` is asked is the business of `cuda-only-api`.
    """
    if is_taken_back(solution, spot) or _is_meant(solution, spot):
        return True
    parents, asks = solution.programs.parents(spot.path), _somebody_chooses(solution, spot)
    node: ast.AST | None = spot.node
    while node is not None:
        parent = parents.get(node)
        if isinstance(parent, ast.Call) and node in parent.args:
            if syntax.dotted(parent.func).startswith("torch.cuda."):
                return True
        if parent is not None and solution.groups_at(Settled, parent):
            return not _settled.leaves_without(solution, Location(spot.path, parent))
        if isinstance(parent, (ast.If, ast.IfExp)) and node is not parent.test:
            how = solution.says_how(Location(spot.path, parent))
            arms = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
            without = node in arms and _counts_several(parent.test)
            if tests_devices(parent.test) and not how and not without:
                return True
        if isinstance(parent, ast.Dict) and node in parent.values and asks:
            if _names_accelerator(parent.keys[parent.values.index(node)]):
                return True
        if isinstance(parent, ast.Try) and (node in parent.body or node in parent.orelse):
            if is_fallback(parent):
                return True
        if isinstance(parent, (ast.List, ast.Tuple)) and _tries_each(parents.get(parent)):
            return True
        if asks and isinstance(parent, ast.match_case):
            pattern = parent.pattern
            if isinstance(pattern, ast.MatchValue) and _names_accelerator(pattern.value):
                return True
        node = parent
    return False


def _counts_several(test: ast.expr) -> bool:
    """Tell whether a test asks for more than one GPU: where it does not hold there may be none."""
    match test:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op], comparators=[number]):
            least = 1 if isinstance(op, ast.Gt) else 2
            return (
                ast.unparse(left) == "torch.cuda.device_count()"
                and isinstance(number, ast.Constant)
                and isinstance(number.value, int)
                and number.value >= least
            )
    return False


def _is_meant(solution: Solution, spot: Location) -> bool:
    """Tell whether a place is to fail without CUDA, or only who wants a GPU comes to it.

    A class's own method `cuda` says by its name where its object goes: `self.to("cuda")`.
    """
    function = solution.programs.function_of(spot)
    if solution.is_to_fail(spot.node):
        return True
    if isinstance(function, _FUNCTION) and function.name == "cuda":
        match solution.programs.parents(spot.path).get(spot.node):
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="to")):
                return True
    return _left_before(function, solution.statement_of(spot))


def _left_before(function: ast.AST | None, statement: ast.stmt | None) -> bool:
    """Tell whether who wants no GPU has left a function by then: `if not gpu: return x`."""
    if not isinstance(function, _FUNCTION) or statement not in function.body:
        return False
    given = syntax.parameters(function)
    for each in function.body[: function.body.index(statement)]:
        match each:
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)),
                body=[*_, ast.Return()] as body, orelse=[],
            ) if name in given and re.search(r"(?i)cuda|gpu", name):  # fmt: skip
                # Where this uses CUDA as well, the option says how something is done.
                return "cuda" not in "".join(map(ast.unparse, body))
    return False


def _somebody_chooses(solution: Solution, spot: Location) -> bool:
    """Tell whether somebody may choose what code at a place does.

    A program does if it asks for anything, and so do the callers of a function that nobody is seen
    to call.
    """
    groups = solution.groups_at(Literal, spot.node)
    known = groups and not any(site.callers_unknown for group in groups for site in group.sites)
    return not known or solution.programs.asks(spot.path)


def _tries_each(loop: ast.AST | None) -> bool:
    """Tell whether a loop goes on to the next device where one cannot be used."""
    return isinstance(loop, ast.For) and any(
        isinstance(part, (ast.Continue, ast.Pass))
        for each in loop.body
        if isinstance(each, ast.Try)
        for handler in each.handlers
        for part in handler.body
    )


def is_said_on_purpose(solution: Solution, spot: Location) -> bool:
    """Tell whether a comment says that the CPU is meant: `# force CPU`, `# no need for a GPU`.

    It stands beside the CPU's name, or on lines of its own right above.
    """
    line = solution.span(spot).line
    lines = solution.project.sources[spot.path].text.split("\n")
    said = [lines[line - 1].rpartition("#")[2]] if "#" in lines[line - 1] else []
    while line > 1 and lines[line - 2].lstrip().startswith("#"):
        line -= 1
        said.append(lines[line - 1])
    return any(
        "cpu" in each.lower() and _ON_PURPOSE.search(each) or _UNWANTED.search(each)
        for each in said
    )


def is_kept_up_to_date(solution: Solution, spot: Location) -> bool:
    """Tell whether an attribute begins with a device, and another method of the class sets it anew.

    Then it says where its object is by now: when it is made, that is the CPU.
    """
    statement = solution.statement_of(spot)
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(), attr=attr)]):
            pass
        case _:
            return False
    parents = solution.programs.parents(spot.path)
    method = solution.programs.function_of(spot)
    klass = parents.get(method) if method is not None else None
    others = klass.body if isinstance(klass, ast.ClassDef) else []
    return any(
        isinstance(node, ast.Attribute) and node.attr == attr and isinstance(node.ctx, ast.Store)
        for other in others
        if isinstance(other, _FUNCTION) and other is not method
        for node in syntax.walk(other)
    )


def _names_accelerator(key: ast.AST | None) -> bool:
    """Tell whether what a table or a `match` chooses by is the name of an accelerator."""
    text = key.value if isinstance(key, ast.Constant) else None
    return isinstance(text, str) and text.lower().partition(":")[0] in (*_choice.AVAILABLE, "gpu")
