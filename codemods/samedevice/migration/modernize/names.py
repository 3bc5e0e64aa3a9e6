"""What a name at a place in the tree is: a builtin's, the file's own, or no variable at all."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms

Tree = Any  # a fissix Node or Leaf; fissix has no types

_SCOPES = frozenset({syms.funcdef, syms.lambdef, syms.file_input})
_BINDING = frozenset(  # a name right in one of these is bound by it
    {
        syms.parameters,
        syms.tfpdef,
        syms.vfpdef,
        syms.tfplist,
        syms.vfplist,
        syms.import_name,
        syms.import_from,
        syms.import_as_name,
        syms.import_as_names,
        syms.dotted_as_name,
        syms.dotted_as_names,
        syms.dotted_name,
        syms.global_stmt,
    }
)
_TUPLES = frozenset(
    {
        syms.atom,
        syms.exprlist,
        syms.listmaker,
        syms.star_expr,
        syms.testlist,
        syms.testlist_gexp,
        syms.testlist_star_expr,
    }
)
_CATCHES = frozenset({"NameError", "ImportError", "ModuleNotFoundError", "AttributeError"})
_VERSIONS = frozenset({"version_info", "PY2", "PY3", "python_version", "hexversion"})
_SHORT = 4  # lines: a `try` about a missing name, not one around a whole program


def is_attribute(leaf: Tree) -> bool:
    """Tell whether a name comes after a dot."""
    before = leaf.prev_sibling
    return before is not None and before.type == token.DOT


def is_keyword(leaf: Tree) -> bool:
    """Tell whether a name is that of a keyword argument in a call."""
    parent = leaf.parent
    return bool(
        parent.type == syms.argument
        and parent.children[0] is leaf
        and parent.children[1].type == token.EQUAL
    )


def is_use(leaf: Tree) -> bool:
    """Tell whether a NAME leaf reads a variable."""
    return not (is_attribute(leaf) or is_keyword(leaf) or _is_bound_here(leaf))


def is_bound(leaf: Tree, known: MutableMapping[int, frozenset[str]]) -> bool:
    """Tell whether the file itself gives the name at `leaf` a value in a scope around it.

    `known` keeps what was found about a scope, by its id, until the tree changes.
    """
    scope = leaf.parent
    while scope is not None:
        if scope.type in _SCOPES:
            if id(scope) not in known:
                known[id(scope)] = frozenset(_bound_in(scope))
            if leaf.value in known[id(scope)]:
                return True
        scope = scope.parent
    return False


def is_guarded(node: Tree) -> bool:
    """Tell whether a node is in code that already serves both versions.

    That is a short `try` that catches the missing name, or an `if` that asks for the version.
    """
    child, parent = node, node.parent
    while parent is not None:
        if parent.type == syms.try_stmt and _expects_a_gap(parent):
            return True
        if parent.type in (syms.if_stmt, syms.test) and any(
            leaf.value in _VERSIONS
            for part in parent.children
            if part is not child and part.type not in (syms.suite, syms.simple_stmt)
            for leaf in part.leaves()
        ):
            return True
        child, parent = parent, parent.parent
    return False


def _expects_a_gap(statement: Tree) -> bool:
    if str(statement.children[2]).strip().count("\n") >= _SHORT:
        return False
    return any(
        str(clause).strip() == "except"
        or clause.type == syms.except_clause
        and any(leaf.value in _CATCHES for leaf in clause.leaves())
        for clause in statement.children
    )


def _bound_in(scope: Tree) -> Iterator[str]:
    """Yield the names that a scope binds itself, not those that functions in it do."""
    todo = list(scope.children)
    while todo:
        node = todo.pop()
        if node.type == token.NAME:
            if not is_attribute(node) and not is_keyword(node) and _is_bound_here(node):
                yield node.value
        elif node.type in (syms.funcdef, syms.classdef):
            yield node.children[1].value
        elif node.type not in (syms.lambdef, syms.global_stmt):
            todo.extend(node.children)


def _is_bound_here(leaf: Tree) -> bool:
    parent, before = leaf.parent, leaf.prev_sibling
    if parent.type in _BINDING:
        return True
    if parent.type in (syms.funcdef, syms.classdef):
        return before is not None and before.value in ("def", "class")
    if parent.type == syms.tname:
        return before is None
    if parent.type in (syms.typedargslist, syms.varargslist, syms.lambdef):
        return before is None or before.type not in (token.EQUAL, token.COLON)
    return _is_target(leaf)


def _is_target(leaf: Tree) -> bool:
    """Tell whether a name is assigned: `a = `, `(a, b) = `, `a += `, `for a in`, `with x as a`."""
    child, parent = leaf, leaf.parent
    while parent.type in _TUPLES:
        child, parent = parent, parent.parent
    before, after = child.prev_sibling, child.next_sibling
    if parent.type == syms.expr_stmt:
        return after is not None and str(after).strip().endswith("=")
    if parent.type in (syms.for_stmt, syms.comp_for):
        return before is not None and str(before).strip() == "for"
    if parent.type in (syms.with_item, syms.except_clause):
        return before is not None and str(before).strip() in ("as", ",")
    return False
