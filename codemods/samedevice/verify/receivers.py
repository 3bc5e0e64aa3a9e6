"""What an edit moves, or asks for its device, has to be a tensor or a module, whatever arrives."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from samedevice.finding import Edit, Finding
from samedevice.inference.certainty import ABSENT, ELSEWHERE, OBJECT, PLAIN, UNSEEN, UNSHOWN
from samedevice.reading import syntax
from samedevice.reading.project import Project
from samedevice.verify.own_moves import OwnMoves

_MOVES = frozenset({"to", "cpu", "cuda"})
_MOVE = re.compile(r"\.(?:to|cpu|cuda)\(")
#: A name that is asked for its device, in code that may be a piece of an expression.
_ASKED = re.compile(r"(?<![\w.\])])([^\W\d]\w*)\.device\b")
#: Methods that neither arrays nor modules have, and functions of torch that take other things, too.
_OF_TENSORS = frozenset(
    ("contiguous", "detach", "expand", "expand_as", "index_select", "is_cuda", "masked_fill",
     "new_zeros", "permute", "requires_grad", "unsqueeze")
)  # fmt: skip
_TAKES_OTHERS = ("tensor", "as_tensor", "from_numpy", "is_tensor", "save", "load", "device", "Size")
#: What code expects where it catches what torch says of a value that is no tensor.
_OF_OTHERS = ("AttributeError", "Exception", "TypeError", "(AttributeError, TypeError)",
              "(TypeError, AttributeError)")  # fmt: skip
#: What is not known of a name may be seen where it is used.
_OPEN = (UNSEEN, UNSHOWN)
_STATEMENTS = ("before", "after", "replace_statement")
_INSERTED = ("before", "after", "head")

_Lines = dict[int, list[ast.expr | ast.For | ast.AsyncFor]]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Certainty(Protocol):
    """Who knows what arrives at expressions: the inference."""

    def __call__(
        self, expressions: Collection[ast.AST], resembling: Collection[ast.AST], /
    ) -> dict[ast.AST, str]:
        """Return which of some expressions may be no tensor or module, and what else they may be.

        An expression is in doubt if it is so for one caller, on one path; of those `resembling`
        something else, one is whose kind only its use suggests.
        """


def moving(project: Project, finding: Finding) -> Iterator[frozenset[str]]:
    """Yield the programs in which the fix of a finding moves something."""
    edits = _moving(finding)
    yield from dict.fromkeys(
        project.programs[edit.path] for edit in edits if edit.path in project.programs
    )


def uncertain(
    project: Project,
    program: frozenset[str],
    findings: Iterable[Finding],
    certainty: Certainty,
) -> Iterator[tuple[Finding, str]]:
    """Yield the findings whose fix moves what may be no tensor, each with what is wrong.

    Only what is moved in files of a program is asked about.
    """
    moved: dict[ast.AST, list[tuple[Finding, str]]] = {}  # each with where it is only asked
    inserted: dict[tuple[ast.AST, Finding], Edit] = {}  # what moves something that may be absent
    tensors = set[ast.AST]()  # by what the code does with them
    lines = _Texts(project)
    own = OwnMoves(project, program)
    like: dict[ast.AST, tuple[str, str]] = {}  # what may be of a class that moves by itself
    for finding, edit in _edits(findings, program):
        for node in _receivers(project, edit, lines[edit.path]):
            moved.setdefault(node, []).append((finding, ""))
            if _is_refused(project.tree(edit.path), node):
                yield finding, f"`{_short(node)}` may be no tensor: torch has just refused it"
            tensors |= {node} if _gives_its_array(node, lines[edit.path]) else set()
            if edit.verb in _INSERTED or edit.verb == "method":
                inserted[node, finding] = edit
        for node, known in own.moved(edit):
            moved.setdefault(node, []).append((finding, ""))
            like[node] = known
        for name, node in _named_nodes(project, edit):
            moved.setdefault(node, []).append((finding, edit.path))
            if name in _moved_names(edit):
                inserted[node, finding] = edit
            tensors |= {node} if _moves_it(project.tree(edit.path), node, edit) else set()
    for node, other in certainty(moved, like).items() if moved else ():
        for finding, path in moved[node]:
            if other == OBJECT and (node, finding) in inserted:
                continue  # an object that is moved as a whole, as a graph is
            what, objection = other, _objection(project, node, other, path, tensors)
            if other == ABSENT:
                at = inserted.get((node, finding))
                if at is None or _is_needed(project, at, node):
                    continue  # without the edit the program stops there, too
                objection = "which cannot be moved"
            elif node in like:
                what, objection = like[node]
            if objection:
                yield finding, f"`{_short(node)}` may be {what}, {objection}"


class _Texts(dict[str, _Lines]):
    """The lines of the files that are asked for."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._project = project

    def __missing__(self, path: str) -> _Lines:
        self[path] = _by_line(self._project.tree(path))
        return self[path]


def _is_refused(tree: ast.Module | None, node: ast.AST) -> bool:
    """Tell whether a value is used where torch has just raised for it: `except TypeError:`."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    line = getattr(node, "lineno", 0)
    refused = _refused(tree) if tree is not None else ()
    return any(first <= line <= last and names & given for first, last, given in refused)


@syntax.per_node
def _refused(tree: ast.Module) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """Return the lines of the handlers for what is no tensor, and the names that torch got."""
    found = []
    for each in syntax.walk(tree):
        if isinstance(each, ast.Try):
            given = frozenset(
                arg.id
                for call in syntax.walk_all(each.body)
                if isinstance(call, ast.Call)
                and syntax.dotted(call.func).partition(".")[0] in ("torch", "F")
                for arg in call.args
                if isinstance(arg, ast.Name)
            )
            found += [
                (handler.lineno, handler.end_lineno or 0, given)
                for handler in each.handlers
                if handler.type is None or ast.unparse(handler.type) in _OF_OTHERS
            ]
    return tuple(found)


def _objection(
    project: Project, node: ast.AST, other: str, path: str, tensors: Collection[ast.AST]
) -> str:
    """Return what cannot be done with an expression, "" if it may well be what is needed."""
    if not path:
        sure = other == ELSEWHERE and node in tensors
        return "" if sure or other == OBJECT else "which cannot be moved"
    if other == PLAIN:
        return ""  # an attribute of its own tells the device
    if node in tensors and other in (*_OPEN, OBJECT):
        return ""
    if other in _OPEN and _is_used(project.tree(path), node):
        return ""
    return "which has no device"


def _is_needed(project: Project, edit: Edit, node: ast.AST) -> bool:
    """Tell whether code that certainly runs after an inserted statement needs a name to be there.

    It takes an attribute or a member of it, or computes with it. So does what a moved expression
    is an operand of.
    """
    tree = project.tree(edit.path)
    if tree is None:
        return True
    line, parents = edit.span.line, syntax.Parents(tree)
    if edit.verb == "method":
        return not _is_handed_on(node, parents)
    if not isinstance(node, ast.Name):
        return True
    at = _statement_at(syntax.walk(tree), line) if edit.verb != "head" else None
    block = parents.block(at) if at is not None else _body_at(tree, line)
    return any(
        isinstance(part, ast.Name) and part.id == node.id and _is_taken_apart(part, parents)
        for statement in block or []
        if statement.lineno > line or edit.verb == "before"
        for part in _likely_run(statement)
    )


def _is_handed_on(node: ast.AST, parents: syntax.Parents) -> bool:
    """Tell whether an expression is given to a function that is not torch's, which may ask for it.

    What torch takes and an operator computes with is there.
    """
    around = parents.get(node)
    if isinstance(around, ast.keyword):
        around = parents.get(around)
    if not isinstance(around, ast.Call) or around.func is node:
        return False
    return syntax.dotted(around.func).partition(".")[0] not in ("torch", "F", "np", "numpy", "plt")


def _likely_run(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, but what a test or an error decides on."""
    queue: list[ast.AST] = [statement]
    while queue:
        node = queue.pop()
        yield node
        match node:
            case ast.If(test=test) | ast.IfExp(test=test):
                queue.append(test)
            case ast.BoolOp(values=[first, *_]):
                queue.append(first)
            case ast.Try(body=body, finalbody=last):
                queue += [*body, *last]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                pass
            case _:
                queue += ast.iter_child_nodes(node)


def _body_at(tree: ast.Module, line: int) -> list[ast.stmt]:
    """Return the body of the loop or block that begins in a line."""
    bodies = (node.body for node in syntax.statements(tree) if node.lineno == line
              and isinstance(node, (ast.For, ast.AsyncFor, ast.With)))  # fmt: skip
    return next(bodies, [])


def _is_taken_apart(name: ast.Name, parents: syntax.Parents) -> bool:
    around = parents.get(name)
    if isinstance(around, (ast.Attribute, ast.Subscript)):
        return around.value is name
    return isinstance(around, (ast.BinOp, ast.UnaryOp))


def _edits(findings: Iterable[Finding], program: frozenset[str]) -> Iterator[tuple[Finding, Edit]]:
    """Yield the edits that move something in files of a program, each with its finding."""
    for finding in findings:
        for edit in _moving(finding):
            if edit.path in program:
                yield finding, edit


def _moving(finding: Finding) -> list[Edit]:
    """Return the edits of a finding's fix that move something, or follow it."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return [edit for edit in edits if _MOVE.search(_code(edit)) or _ASKED.search(_code(edit))]


def _code(edit: Edit) -> str:
    return " ".join(value for _, value in edit.args)


def _by_line(tree: ast.Module | None) -> _Lines:
    """Return the expressions and loops of a file by the line that they begin in."""
    lines: _Lines = {}
    for node in syntax.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.expr, ast.For, ast.AsyncFor)):
            lines.setdefault(node.lineno, []).append(node)
    return lines


def _receivers(project: Project, edit: Edit, lines: _Lines) -> Iterator[ast.AST]:
    """Yield the expressions that an edit moves, as far as their kind is not plain from the code."""
    if not _MOVE.search(_code(edit)):
        return
    source = project.sources[edit.path]
    for node in lines.get(edit.span.line, ()):
        if source.span(node) != edit.span:
            continue
        if isinstance(node, ast.expr) and edit.verb in ("method", "replace"):
            drawn = _drawn_from(node, lines) if " for " in _code(edit) else []
            if drawn:  # what the loop of an expression draws is moved, not what it draws from
                yield from drawn
            elif not _is_move(node):
                yield node
        elif isinstance(node, (ast.For, ast.AsyncFor)) and edit.verb == "head":
            yield from _first_uses(node, _moved_names(edit))


def _gives_its_array(value: ast.AST, lines: _Lines) -> bool:
    """Tell whether a value is asked for its array, as only a tensor is: `model(x).numpy()`."""
    return isinstance(value, ast.expr) and any(
        isinstance(node, ast.Attribute) and node.value is value and node.attr == "numpy"
        for node in lines.get(value.lineno, ())
    )


def _drawn_from(iterated: ast.expr, lines: _Lines) -> list[ast.Name]:
    """Return the uses of what the loop of an expression draws from another expression."""
    return [
        name
        for nodes in lines.values()
        for node in nodes
        for loop in getattr(node, "generators", ())
        if loop.iter is iterated and isinstance(loop.target, ast.Name)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and name.id == loop.target.id and name is not loop.target
    ]


def _moved_names(edit: Edit) -> set[str]:
    """Return the names that inserted statements move, whatever those are.

    Not those of their comprehensions, nor those that are moved only where they are not None.
    """
    try:
        tree = ast.parse(dict(edit.args).get("code", ""))
    except SyntaxError:
        return set()
    own = {
        node.id
        for each in ast.walk(tree)
        if isinstance(each, ast.comprehension)
        for node in ast.walk(each.target)
        if isinstance(node, ast.Name)
    }
    own |= {
        node.test.left.id
        for node in tree.body
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and isinstance(node.test.ops[0], ast.IsNot)
    }
    return {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _MOVES
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id not in own
    }


def _asked_in(edit: Edit) -> set[str]:
    """Return the names that an edit asks for their device."""
    return set(_ASKED.findall(_code(edit)))


def _named_nodes(project: Project, edit: Edit) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that an edit is about with their uses that see the same value."""
    for name in _named(edit):
        for node in _as_it_stands(project.tree(edit.path), name, edit):
            yield name, node


def _moves_it(tree: ast.Module | None, node: ast.AST, edit: Edit) -> bool:
    """Tell whether an edit only moves what the function around moves itself: `x = x.to(device)`."""
    if tree is None or not isinstance(node, ast.Name) or node.id in _asked_in(edit):
        return False
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr in _MOVES
        and isinstance(part.func.value, ast.Name)
        and part.func.value.id == node.id
        for part in syntax.walk(_function_around(tree, node.lineno) or tree)
    )


def _named(edit: Edit) -> set[str]:
    """Return the names that an edit asks for their device, or moves in statements of its own."""
    asked = _asked_in(edit)
    return asked | _moved_names(edit) if edit.verb in _STATEMENTS else asked


def _as_it_stands(tree: ast.Module | None, name: str, edit: Edit) -> list[ast.AST]:
    """Return the uses of a name that see the value which it has where an edit is.

    Those of the line's statement, else those since it was bound and until it is bound again: what
    a statement binds, its own expressions do not see. None where the code itself asks the name for
    a device.
    """
    if tree is None:
        return []
    line = edit.span.line
    around = _function_around(tree, line)
    nodes = syntax.walk(around if around is not None else tree)
    if any(_is_asked(node, name) for node in nodes):
        return []
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    stored = [node.lineno for node in uses if not isinstance(node.ctx, ast.Load)]
    loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
    here = _statement_at(nodes, line)
    if here is not None and edit.verb == "after" and line in stored:
        line = (here.end_lineno or line) + 1  # it sees what the statement binds
    elif here is not None:
        inside = [n for n in loads if here.lineno <= n.lineno <= (here.end_lineno or here.lineno)]
        if inside:
            return [*inside]
    since = max((at for at in stored if at < line), default=0)
    until = min((at for at in stored if at >= line), default=sys.maxsize)
    return [node for node in loads if since < node.lineno <= until]


def _is_used(tree: ast.Module | None, node: ast.AST) -> bool:
    """Tell whether the function around a name uses it as only a tensor can be used."""
    if tree is None or not isinstance(node, ast.Name):
        return False
    around = _function_around(tree, node.lineno)
    return any(_needs_tensor(part, node.id) for part in syntax.walk(around or tree))


def _needs_tensor(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("torch."):
        if any(each.arg == "dtype" and ast.unparse(each.value) == f"{name}.dtype"
               for each in node.keywords):  # fmt: skip
            return True  # an array's type is none of torch's
    match node:
        case ast.Attribute(value=ast.Name(id=known), attr=attr) if known == name:
            return attr in _OF_TENSORS
        case ast.Call(func=ast.Attribute(value=ast.Name(id=known)), keywords=given) if (
            known == name
        ):
            return any(keyword.arg == "dim" for keyword in given)
        case ast.Call(func=func, args=args) if any(
            isinstance(arg, ast.Name) and arg.id == name for arg in args
        ):
            owner, _, last = syntax.dotted(func).rpartition(".")
            known_torch = owner.split(".")[0] in ("torch", "F") and not last.endswith("Tensor")
            return known_torch and last not in _TAKES_OTHERS
    return False


def _function_around(tree: ast.Module, line: int) -> _Function | None:
    """Return the innermost function that a line is in the body of."""
    found = [
        node
        for node in syntax.walk(tree)
        if isinstance(node, _Function) and node.body[0].lineno <= line <= (node.end_lineno or 0)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _statement_at(nodes: Iterable[ast.AST], line: int) -> ast.stmt | None:
    """Return the innermost statement without a body that a line is in."""
    return next(
        (
            node
            for node in nodes
            if isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
            and not hasattr(node, "body")
        ),
        None,
    )


def _is_asked(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=known), attr="device"):
            return known == name
    return False


def _first_uses(loop: ast.For | ast.AsyncFor, names: set[str]) -> Iterator[ast.AST]:
    """Yield the first use of each name in a loop's body."""
    uses = [
        node
        for node in syntax.walk_all(loop.body)
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
    ]
    seen: set[str] = set()
    for node in sorted(uses, key=lambda node: (node.lineno, node.col_offset)):
        if node.id not in seen:
            seen.add(node.id)
            yield node


def _is_move(node: ast.expr) -> bool:
    """Tell whether an expression is a move already: what it is made for is the same."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in _MOVES


def _short(node: ast.AST) -> str:
    code = " ".join(ast.unparse(node).split())
    return code if len(code) <= 40 else f"{code[:37]}..."
