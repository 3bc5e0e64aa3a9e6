"""The fast walks find what `ast` finds."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from samedevice.reading import syntax

CODE = '''
@decorate(a, key=b)
class C(Base, metaclass=M):
    x: int = 1
    def f(self, a, /, b=1, *args, c: int = 2, **kw) -> None:
        """Text."""
        global G
        with open(a) as (f, g), b: pass
        for i, (j, *k) in enumerate(a[1:2, ::3]):
            y = [z for z in a if z if not z]
            i += 1
        else:
            del y
        try:
            raise E from e
        except (A, B) as error: pass
        finally:
            return {**a, "b": lambda q=1: (yield q)}
        while (n := f"{a!r:>{width}}"): break
        match a:
            case {"k": [1, *rest], **others} | C(p, q=None) if a: x = 1
import os as o, sys; from . import n as m
'''
OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def test_walk_finds_every_node_that_says_something() -> None:
    tree = ast.parse(CODE)
    assert syntax.walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, OUT)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is of 3.12")
def test_walk_finds_type_parameters() -> None:
    tree = ast.parse("type A[T: int] = list[T]\ndef f[*P](): pass\n")
    assert syntax.walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, OUT)]


def test_statements_are_all_statements() -> None:
    tree = ast.parse(CODE)
    found = syntax.statements(tree)
    assert set(found) == {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    assert len(found) == len(set(found))


def test_children_are_those_that_ast_has() -> None:
    for node in ast.walk(ast.parse(CODE)):
        if not isinstance(node, OUT):
            children = [each for each in ast.iter_child_nodes(node) if not isinstance(each, OUT)]
            assert [*map(id, syntax.children(node))] == [*map(id, children)]


def test_parents_are_those_that_hold_the_node() -> None:
    for text in (CODE, "a; b = f(a); c\n" + CODE, Path(__file__).read_text()):
        tree = ast.parse(text)
        nodes = [node for node in ast.walk(tree) if not isinstance(node, OUT)]
        held = {c: node for node in nodes for c in ast.iter_child_nodes(node) if c in set(nodes)}
        parents = syntax.Parents(tree)
        assert {node: parents.get(node) for node in reversed(nodes)} == {tree: None, **held}
        assert syntax.Parents(tree).get(ast.parse("x").body[0]) is None


def test_stored_names_are_those_that_statements_bind() -> None:
    code = "for a in b:\n  c, (d, *e) = f\n  with g as h:\n    i += [j for j in k]\n"
    assert list(syntax.stored_names(ast.parse(code).body[0])) == ["c", "d", "e", "h", "i"]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 150 + "1",
        "x = " + "(" * 99 + "1" + ",)" * 99,
        "if a: pass\n" + "elif b: pass\n" * 60,
        "x = a" + ".b" * 99,
        "x = (\n" + "1 +\n" * 60 + "1)",
    ],
)
def test_what_is_deep(text: str) -> None:
    tree = ast.parse(text)
    assert syntax.is_deep(tree, 50)
    assert not syntax.is_deep(tree, 160)


def test_what_is_long_is_not_deep() -> None:
    tree = ast.parse("x = [" + "1, " * 5000 + "]\n" + "y = f(a, [b.c])\n" * 100)
    assert not syntax.is_deep(tree, 10)


def test_walk_with_words_leaves_out_statements_without_them() -> None:
    tree = ast.parse(CODE)
    everything = syntax.walk(tree)
    assert syntax.walk_with(tree, CODE, re.compile("")) == everything
    assert syntax.walk_with(tree, CODE, re.compile("not there")) == [tree]
    found = syntax.walk_with(tree, CODE, re.compile("raise E"))
    lines = {node.lineno for node in found if isinstance(node, ast.stmt)}
    start = CODE[: CODE.index("class C")].count("\n") + 1
    assert lines == {start, start + 2, start + 11, start + 12}  # the class, the function, the try
    assert [node for node in everything if node in found] == found


def test_walk_with_words_heeds_decorators_and_the_lines_of_a_text() -> None:
    code = "@mark(\n    cuda\n)\ndef f():\n    pass\n\n\nx = (\n    'a'\n    'cuda'\n)\ny = 1\n"
    tree = ast.parse(code)
    found = syntax.walk_with(tree, code, re.compile("cuda"))
    assert [node for node in found if isinstance(node, ast.stmt)] == tree.body[:2]
