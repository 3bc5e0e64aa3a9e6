"""Python 2 text -> tree -> Bowler queries -> text, in memory.

Bowler's `Query` is what an idiom is written in: a pattern over the tree, or a fissix fixer. Its
`compile` makes fixers of the queries, and fissix walks the tree with them. Bowler's own runner is
not used: it reads and writes the files itself, through queues made for several processes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bowler import Query
from fissix import pygram, pytree
from fissix.fixer_base import BaseFix
from fissix.pgen2 import driver, parse, token, tokenize
from fissix.pygram import python_symbols as syms
from fissix.pytree import Leaf
from fissix.refactor import RefactoringTool

from .names import Tree, is_attribute, is_bound

Capture = dict[str, Any]
Rewrite = Callable[[Tree, Capture], Tree | None]


_NAMED = {
    token.NEWLINE: "end of line",
    token.INDENT: "indentation",
    token.DEDENT: "end of a block",
    token.ENDMARKER: "end of file",
}


class NotParsed(Exception):
    """The text is no Python 2 either; `line` counts from 1."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(line, what)
        self.line = line
        self.what = what


@dataclass
class Run:
    """What the idioms know and say about the file that they work on."""

    path: str
    tree: Tree
    statements: frozenset[str]  # which of `print` and `exec` are keywords in the file
    future: frozenset[str]  # names that it imports from __future__
    changes: list[tuple[int, str]] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)  # what no edit here can mend
    imports: set[str] = field(default_factory=set)  # statements that the new code needs
    modules: dict[str, str] = field(default_factory=dict)  # name in the file -> module it imports
    renamed: dict[str, str] = field(default_factory=dict)  # name in the file -> expression for it
    deleted: list[Tree] = field(default_factory=list)  # statements to take out after the walk
    scopes: dict[int, frozenset[str]] = field(default_factory=dict)  # what `names` found so far

    def binds(self, leaf: Tree) -> bool:
        """Tell whether the name at `leaf` is the file's own."""
        return is_bound(leaf, self.scopes)


_RUN: ContextVar[Run] = ContextVar("run")


def run() -> Run:
    """Return the run that the calling idiom is part of."""
    return _RUN.get()


class Idioms:
    """Idioms that are looked for in one walk over the tree, inner nodes first."""

    def __init__(self) -> None:
        self._queries: list[Query] = []

    def add(self, pattern: str, what: str) -> Callable[[Rewrite], Rewrite]:
        """Register a function that rewrites what `pattern` matches.

        It returns a new node, or None when it changed the tree in place or did not want to. A
        change is noted as `what` at the line where the match starts.
        """

        def register(rewrite: Rewrite) -> Rewrite:
            def modify(node: Tree, capture: Capture, _: str) -> Tree | None:
                return _record(node, capture, rewrite, what)

            self._queries.append(Query(python_version=2).select(pattern).modify(modify))
            return rewrite

        return register

    def fixer(
        self, fixer: type[BaseFix], what: str, unless: Callable[[Tree], bool] | None = None
    ) -> None:
        """Register one of fissix's own fixers, except where `unless` is true of the match."""
        query = Query(python_version=2).fixer(_Fixer(fixer, what))
        if unless is not None:
            query.filter(lambda node, capture, filename: not unless(node))
        self._queries.append(query)

    @cache  # noqa: B019 - there are a handful of these, made at import
    def _tool(self) -> _Tool:
        return _Tool([fixer for query in self._queries for fixer in query.compile()])

    def apply(self, to: Run) -> None:
        """Rewrite the tree of a run."""
        to.scopes.clear()
        mark = _RUN.set(to)
        try:
            self._tool().refactor_tree(to.tree, to.path)
        finally:
            _RUN.reset(mark)
        for node in to.deleted:
            _take_out(node)
        to.deleted.clear()


class _Tool(RefactoringTool):  # type: ignore[misc]
    """fissix's engine for fixer classes instead of the names of modules, as Bowler has it."""

    def get_fixers(self) -> tuple[list[BaseFix], list[BaseFix]]:
        return [], [fixer(self.options, self.fixer_log) for fixer in self.fixers]


class _Fixer:
    """A fissix fixer as Bowler's `Query.fixer` uses it.

    Bowler makes one without arguments for every match; fissix's need two, and the file's names.
    """

    BM_compatible = False  # walk as all other queries do

    def __init__(self, fixer: type[BaseFix], what: str) -> None:
        self.PATTERN = fixer.PATTERN
        self._fixer = fixer(None, [])
        self._what = what

    def __call__(self) -> _Fixer:
        return self

    def transform(self, node: Tree, capture: Capture) -> Tree | None:
        self._fixer.start_tree(run().tree, run().path)
        return _record(node, capture, self._fixer.transform, self._what)


def _record(node: Tree, capture: Capture, rewrite: Rewrite, what: str) -> Tree | None:
    line, before, doomed = line_of(node), str(node), len(run().deleted)
    new = rewrite(node, capture)
    if new is not None or str(node) != before or len(run().deleted) > doomed:
        run().changes.append((line, what.replace("{}", before.strip())))
    return new


def parse_text(text: str) -> tuple[Tree, frozenset[str]]:
    """Return the tree of a text (newlines are `\\n`), and which of `print`, `exec` are keywords.

    A text that has only calls of `print` and `exec` is read that way, so that in a file for both
    versions `print("a", 1)` does not become the print of a tuple. Raises `NotParsed`.
    """
    if not text.endswith("\n"):
        text += "\n"
    failure = None
    for statements in ((), ("exec",), ("print",), ("print", "exec")):
        grammar = pygram.python_grammar.copy()
        for keyword in {"print", "exec"}.difference(statements):
            del grammar.keywords[keyword]
        try:
            tree = driver.Driver(grammar, convert=pytree.convert).parse_string(text)
        except parse.ParseError as error:
            line = error.context[1][0]
            failure = NotParsed(line, f"unexpected {_NAMED.get(error.type) or repr(error.value)}")
        except tokenize.TokenError as error:
            raise NotParsed(error.args[1][0], error.args[0]) from None
        except IndentationError as error:
            raise NotParsed(error.args[1][1], error.args[0]) from None
        else:
            if not _has_statement(tree, {"print", "exec"}.difference(statements)):
                return tree, frozenset(statements)
    assert failure is not None  # the grammar with both statements rejects no tree
    raise failure


def _has_statement(tree: Tree, names: set[str]) -> bool:
    """Tell whether a tree read with these as names has one as a statement: `print >> f`."""
    for leaf in tree.leaves():
        if leaf.type != token.NAME or leaf.value not in names or is_attribute(leaf):
            continue
        statement = leaf
        while statement.parent is not None and statement.parent.type != syms.simple_stmt:
            statement = statement.parent
        if statement.parent is None or next(iter(statement.leaves())) is not leaf:
            continue  # `def print(...)`, `f(print)`
        if statement.type == syms.expr_stmt:
            continue  # `print = log`
        if not (statement.type == syms.power and len(statement.children) == 2):
            return True
    return False


# -- what the idioms do with the tree --------------------------------------------------------------


def delete(node: Tree) -> None:
    """Have a statement taken out when the walk, which goes through lists of them, is over."""
    run().deleted.append(node)


def _take_out(node: Tree) -> None:
    """Remove a statement, and its line with it, or put `pass` where a body needs a statement."""
    line = node.parent
    others = [child for child in line.children if child.type not in (token.SEMI, token.NEWLINE)]
    if len(others) > 1:
        at = line.children.index(node)
        semicolon = line.children[at + 1 if line.children[at + 1].type == token.SEMI else at - 1]
        if at == 0:
            line.children[2].prefix = node.prefix
        semicolon.remove()
        node.remove()
    elif line.parent.type == syms.file_input:
        following = line.next_sibling
        following.prefix = line.prefix + following.prefix
        line.remove()
    else:
        node.replace(Leaf(token.NAME, "pass", prefix=node.prefix))


# -- what the idioms ask of it ---------------------------------------------------------------------


def line_of(node: Tree) -> int:
    """Return the line of the first leaf that came from the file (new ones have none)."""
    return next((leaf.lineno for leaf in node.leaves() if leaf.lineno), 0) or (
        line_of(node.parent) if node.parent is not None else 1
    )
