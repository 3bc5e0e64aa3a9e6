"""Names that an edit used or moved: each has to be bound, and to be no None, where it is used."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property

from samedevice.reading import syntax
from samedevice.reading.syntax import is_main_test
from samedevice.verify.binding import State, states
from samedevice.verify.callers import Callers
from samedevice.verify.edited import Edited


def unbound(edited: Edited, *, brought: Collection[str] = ()) -> Iterator[tuple[ast.AST, str]]:
    """Yield uses of names that an edit made wrong, each with what is wrong.

    A file may be imported, so its functions run without what is under `if __name__ == "__main__":`
    as well. `brought` are the names that its `from module import *` bring.
    """
    names = set(_touched(edited))
    if not names:
        return
    seen: set[tuple[int, str]] = set()
    before, after = Callers(edited.before), Callers(edited.after)
    asks = any("__name__" in syntax.uses(tree) for tree in (edited.before, edited.after))
    for as_main in (True, False) if asks else (True,):
        now = states(after, names, as_main=as_main, brought=brought)
        then = _Then(before, names, as_main, brought)
        for use, state in now.items():
            if not isinstance(use.ctx, ast.Load) or (use.lineno, use.id) in seen:
                continue
            if not as_main and _is_of_main(edited, use):
                continue  # who imports the file does not get the function, either
            reason = _wrong(edited, use, state, then)
            if reason:
                seen.add((use.lineno, use.id))
                yield use, reason if as_main else f"{reason} in a process that imports this file"


def _is_of_main(edited: Edited, use: ast.Name) -> bool:
    """Tell whether code stands under `if __name__ == "__main__":`, in a function, say."""
    node: ast.AST = use
    while (around := edited.parents.get(node)) is not None:
        if isinstance(around, ast.If) and is_main_test(around.test):
            return any(node is each for each in around.body)
        node = around
    return False


class _Then:
    """The states of names before the edit, which nobody may have to ask for."""

    def __init__(
        self, callers: Callers, names: set[str], as_main: bool, brought: Collection[str]
    ) -> None:
        self._asked = callers, names, as_main, brought

    @cached_property
    def found(self) -> dict[ast.Name, State]:
        """The state of each use of a name."""
        callers, names, as_main, brought = self._asked
        return states(callers, names, as_main=as_main, brought=brought)


def _wrong(edited: Edited, use: ast.Name, state: State, then: _Then) -> str:
    before = edited.kept.get(use)
    if _says_where(edited, use):
        return f"`{use.id}` may not be bound here" if state & State.UNBOUND else ""
    if isinstance(before, ast.Name):
        if state & State.UNBOUND and not then.found.get(before, State.UNBOUND) & State.UNBOUND:
            return f"`{use.id}` may no longer be bound here"
        return ""
    if use.id.startswith("__") and not use.id.endswith("__") and _in_class(edited, use):
        return f"`{use.id}` has another name in a class"
    if state & State.UNBOUND and not _relied_on(edited, use, then):
        return f"`{use.id}` may not be bound here"
    if state & State.NONE and _is_value(edited, use):
        return f"`{use.id}` may be None here"
    if _is_set_again(edited, use):
        return f"`{use.id}` is set to something else before this branch ends"
    return ""


def _says_where(edited: Edited, use: ast.Name) -> bool:
    """Tell whether an edit made `x.to(name)` of `x.cuda(name)`: it runs without CUDA from now on,
    where the name may be bound by a branch for CUDA alone."""
    match edited.parents.get(use):
        case ast.Call(func=ast.Attribute(attr="to"), args=[first, *_]) as call:
            return first is use and not edited.is_new(use) and edited.is_new(call)
    return False


def _is_set_again(edited: Edited, use: ast.Name) -> bool:
    """Tell whether the branch that a new use is in binds the name anew: behind it the name means
    another device than the one that was used."""
    node: ast.AST | None = use
    while node is not None and not isinstance(node, ast.stmt):
        node = edited.parents.get(node)
    branch = edited.parents.get(node) if node is not None else None
    if not isinstance(branch, (ast.If, ast.Try)):
        return False
    for block in (branch.body, branch.orelse):
        if node in block:
            behind = block[block.index(node) + 1 :]
            return any(
                isinstance(target, ast.Name) and target.id == use.id
                for statement in behind
                if isinstance(statement, ast.Assign) and not edited.is_new(statement)
                for target in statement.targets
            )
    return False


def _in_class(edited: Edited, use: ast.Name) -> bool:
    """Tell whether a name stands in a class, where Python changes one with two underscores."""
    node = edited.parents.get(use)
    while node is not None and not isinstance(node, ast.ClassDef):
        node = edited.parents.get(node)
    return node is not None


def _is_value(edited: Edited, use: ast.Name) -> bool:
    """Tell whether a new use needs something rather than None: it does unless it asks for it."""
    match edited.parents.get(use):
        case ast.Compare() | ast.BoolOp() | ast.If() | ast.IfExp() | ast.While():
            return False
    return True


def _relied_on(edited: Edited, use: ast.Name, then: _Then) -> bool:
    """Tell whether the program itself relies on a name in the same way, in a block around the use.

    It does so everywhere with a name that it uses and that no code in sight binds.
    """
    known = [state for node, state in then.found.items() if node.id == use.id]
    if known and all(state == State.UNBOUND for state in known):
        return not _binds(edited.before, use.id) and not _binds(edited.after, use.id)
    around = _blocks(edited.parents, use)
    for after, before in edited.kept.items():
        if isinstance(after, ast.Name) and after.id == use.id and isinstance(after.ctx, ast.Load):
            assert isinstance(before, ast.Name)
            if then.found.get(before, State(0)) & State.UNBOUND:
                its = _blocks(edited.parents, after)
                if its == around[: len(its)]:
                    return True
    return False


def _binds(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in syntax.walk(tree)
    )


def _blocks(parents: syntax.Parents, node: ast.AST) -> list[tuple[ast.AST, str]]:
    """Return the blocks that a node is in, the outermost first."""
    found: list[tuple[ast.AST, str]] = []
    child, parent = node, parents.get(node)
    while parent is not None:
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(parent, name, None)
            if inside is child or isinstance(inside, list) and child in inside:
                found.append((parent, name))
        child, parent = parent, parents.get(parent)
    return found[::-1]


def _touched(edited: Edited) -> Iterator[str]:
    """Yield the names that an edit uses, binds or binds no longer."""
    for node in (*edited.new, *edited.gone):
        match node:
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Name(id=name), *_]):
                yield name
            case ast.Name(id=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
