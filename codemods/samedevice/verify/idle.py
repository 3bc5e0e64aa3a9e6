"""What code only keeps, by names, defaults of parameters and attributes, and never uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samedevice.inference.nodes import Location
from samedevice.inference.programs import Programs
from samedevice.reading import syntax

#: A name in a function or a file, or an attribute of the instance.
_Binding = tuple[ast.AST, str, bool]


def is_idle(programs: Programs, path: str, node: ast.expr, edited: bool = True) -> bool:
    """Tell whether a value is only handed from name to name: `kind = torch.cuda.FloatTensor`,
    `def cast(x, kind=kind)`, `self.kind = kind`, and nothing calls it or is given it.

    Before the text is `edited`, it is enough that it is kept: its uses may go.
    """
    if not edited:
        return _kept(programs, path, node) is not None
    open_, seen = [node], set[_Binding]()
    while open_:
        kept = _kept(programs, path, open_.pop())
        if kept is None:
            return False
        for binding in kept - seen:
            scope, name, of_self = binding
            if isinstance(scope, ast.Module) and {name, "*"} & programs.taken_from(path):
                return False
            if of_self and _is_read_elsewhere(programs, path, name):
                return False
            open_ += _loads(programs.tree(path), binding)
        seen |= kept
    return True


def _kept(programs: Programs, path: str, node: ast.expr) -> set[_Binding] | None:
    """Return what keeps a value where it stands; None if something else is done with it."""
    parents = programs.parents(path)
    parent = parents.get(node)
    targets: list[ast.expr] = []
    match parent:
        case ast.Assign():
            targets = parent.targets
        case ast.AnnAssign():
            targets = [parent.target]
        case ast.arguments():
            function = parents.get(parent)
            given = syntax.defaults(parent).items()
            return {(function, name, False) for name, each in given if each is node and function}
        case _:
            return None
    scope = programs.function_of(Location(path, node)) or programs.tree(path)
    found: set[_Binding] = set()
    for target in targets:
        match target:
            case ast.Name(id=name):
                found.add((scope, name, False))
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                found.add((programs.tree(path), name, True))
            case _:
                return None
    return found


def _loads(tree: ast.Module, binding: _Binding) -> Iterator[ast.expr]:
    """Yield where a file reads what a name or an attribute of the instance holds."""
    scope, name, of_self = binding
    for node in syntax.walk(tree if of_self else scope):
        match node:
            case ast.Name(id=read, ctx=ast.Load()) if read == name and not of_self:
                yield node
            case ast.Attribute(value=ast.Name(id="self"), attr=read, ctx=ast.Load()):
                if of_self and read == name:
                    yield node


def _is_read_elsewhere(programs: Programs, path: str, name: str) -> bool:
    """Tell whether another file of the program reads an attribute of its instances by that name."""
    others = programs.of(path) - {path}
    return any(
        next(_loads(tree, (tree, name, True)), None) is not None
        for tree in map(programs.tree, others)
    )
