"""Walks over `ast` trees, several times as fast as those of `ast` itself.

What says nothing by itself is left out: contexts (`ast.Load`) and operators (`ast.Add`).
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

_Node = TypeVar("_Node", bound=ast.AST)
_P = ParamSpec("_P")
_T = TypeVar("_T")

#: The beginning of a line up to a comment in it.
_COMMENT = re.compile(r"""[^#'"]*(?:(?:'[^']*'|"[^"]*")[^#'"]*)*#""")
#: Fields that hold no nodes, or only such as say nothing by themselves.
_PLAIN = frozenset(
    (
        "arg",
        "asname",
        "attr",
        "conversion",
        "ctx",
        "id",
        "is_async",
        "kind",
        "kwd_attrs",
        "level",
        "module",
        "op",
        "ops",
        "rest",
        "simple",
        "str",
        "tag",
        "type_comment",
        "type_ignores",
    )  # fmt: skip
)
#: Fields that hold text in all types but these.
_NAMES = {"name": ("TypeAlias",), "names": ("Import", "ImportFrom")}

_fields: dict[type, tuple[str, ...]] = {type(None): (), ast.Constant: (), ast.MatchSingleton: ()}
_blocks: dict[type, tuple[str, ...]] = {}


def _node_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a type of node that hold nodes."""
    _fields[kind] = tuple(
        name
        for name in kind._fields
        if name not in _PLAIN and (name not in _NAMES or kind.__name__ in _NAMES[name])
    )
    return _fields[kind]


def _block_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a type of node that hold statements, or what holds statements."""
    blocks = ("body", "orelse", "finalbody", "handlers", "cases")
    compound = issubclass(kind, (ast.stmt, ast.mod, ast.ExceptHandler, ast.match_case))
    _blocks[kind] = tuple(name for name in kind._fields if name in blocks) if compound else ()
    return _blocks[kind]


def per_node(
    read: Callable[Concatenate[_Node, _P], _T],
) -> Callable[Concatenate[_Node, _P], _T]:
    """Keep what a function reads off a node, as long as the node is there.

    Its other arguments follow from the node. What is asked for each place of a file or a function
    is read once, and an editor judges the same trees again with each key. What is read must not
    hold the node itself, or both would stay for good.
    """
    kept: WeakKeyDictionary[_Node, _T] = WeakKeyDictionary()

    @wraps(read)
    def known(node: _Node, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if node not in kept:
            kept[node] = read(node, *args, **kwargs)
        return kept[node]

    return known


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right under one, in order."""
    found: list[ast.AST] = []
    kind = node.__class__
    for name in _fields[kind] if kind in _fields else _node_fields(kind):
        child = getattr(node, name, None)
        if child.__class__ is list:
            found += [each for each in child if each is not None]
        elif child is not None:
            found.append(child)
    return found


def walk(tree: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes under it, the outer before the inner, as `ast.walk` does."""
    return walk_all((tree,))


def walk_all(trees: Iterable[ast.AST]) -> list[ast.AST]:
    """Return nodes and all nodes under them, the outer before the inner."""
    nodes = list(trees)
    for node in nodes:  # which grows
        kind = node.__class__
        for name in _fields[kind] if kind in _fields else _node_fields(kind):
            child = getattr(node, name, None)
            if child.__class__ is list:
                nodes += child
            elif child is not None:
                nodes.append(child)
    return [node for node in nodes if node is not None]


def walk_with(tree: ast.Module, text: str, words: re.Pattern[str]) -> list[ast.AST]:
    """Return what `walk` does, without the statements in whose lines none of some words stands.

    An editor asks of a file with each key what few of its lines speak of. `text` is the file's.
    """
    lines, line, last = [0], 1, 0
    for found in words.finditer(text):
        line, last = line + text.count("\n", last, found.start()), found.start()
        lines.append(line)

    def has_one(statement: ast.stmt) -> bool:
        return lines[bisect_right(lines, statement.end_lineno or 0) - 1] >= _start(statement)

    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows
        nodes += [one for one in children(node) if not isinstance(one, ast.stmt) or has_one(one)]
    return nodes


@per_node
def uses(tree: ast.Module) -> Mapping[str, Sequence[ast.Name | ast.Attribute]]:
    """Return the names and attributes of a file, by the word that each ends with."""
    found: dict[str, list[ast.Name | ast.Attribute]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Attribute):
            found.setdefault(node.attr, []).append(node)
    return found


@per_node
def calls(tree: ast.Module) -> Mapping[str, Sequence[ast.Call]]:
    """Return the calls of a file, by the last word of what is called."""
    found: dict[str, list[ast.Call]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            word = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            found.setdefault(word, []).append(node)
    return found


@per_node
def functions(tree: ast.Module) -> Mapping[str, Sequence[ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return the functions of a file, and those within others, by their names."""
    found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for node in statements(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.setdefault(node.name, []).append(node)
    return found


def attributes_set(statement: ast.AST) -> list[tuple[ast.Attribute, ast.expr]]:
    """Return what an assignment gives to which attributes of names: `self.a, self.b = x, y`.

    Empty for any other statement, and where a value reads an attribute that the statement sets:
    then it is not so many plain assignments.
    """
    targets: list[ast.expr] = []
    values: list[ast.expr] = []
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            targets, values = [target], [value]
        case ast.Assign(targets=[ast.Tuple(elts=several)], value=ast.Tuple(elts=given)):
            targets, values = several, given
            names = {each.attr for each in several if isinstance(each, ast.Attribute)}
            read = [node for value in given for node in walk(value)]
            if any(isinstance(node, ast.Attribute) and node.attr in names for node in read):
                return []
    if len(targets) != len(values):
        return []
    pairs = [
        (target, value)
        for target, value in zip(targets, values, strict=True)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    ]
    return pairs if len(pairs) == len(targets) else []


def statements(tree: ast.AST) -> list[ast.stmt]:
    """Return the statements of a tree, the outer before the inner."""
    nodes = [tree]
    for node in nodes:  # which grows
        kind = node.__class__
        for name in _blocks[kind] if kind in _blocks else _block_fields(kind):
            nodes += getattr(node, name)
    return [node for node in nodes if isinstance(node, ast.stmt)]


def certain(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block, and those inside them that run whenever they do.

    That is what a `with`, a `try` that only cleans up, and a test that is always true have in them.
    """
    for statement in block:
        yield statement
        yield from certain(goes_on(statement))


def in_order(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield what a block does, one after another: a `with`, a `try` that only cleans up and a test
    that is always true are no blocks of their own. Of a `with` its head comes first."""
    for statement in block:
        inside = goes_on(statement)
        if not inside:
            yield statement
            continue
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            head = type(statement)(items=statement.items, body=[])
            yield ast.copy_location(head, statement)
        yield from in_order(inside)


def goes_on(statement: ast.AST) -> list[ast.stmt]:
    """Return the statements in another one that run whenever what stands behind it is come to."""
    match statement:
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            return [] if any(map(_may_swallow, items)) else body
        case ast.Try(handlers=[], body=body, finalbody=last):
            return [*body, *last]
        case ast.If(test=ast.Constant(value=value), body=body, orelse=other):
            return body if value else other
    return []


def _may_swallow(item: ast.withitem) -> bool:
    """Tell whether a context is one that stops errors, so that a part of its block is left out."""
    call = item.context_expr
    name = dotted(call.func if isinstance(call, ast.Call) else call)
    return name.rpartition(".")[2] in ("suppress", "raises", "assertRaises", "assertRaisesRegex")


def parameters(func: ast.AST) -> tuple[str, ...]:
    """Return the names of a function's parameters, without those for the rest."""
    if not isinstance(func, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return ()
    args = func.args
    return tuple(a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def defaults(args: ast.arguments) -> dict[str, ast.expr]:
    """Return the parameters that may be left out, with what they are then."""
    names = [a.arg for a in (*args.posonlyargs, *args.args)]
    found = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    others = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return found | {a.arg: default for a, default in others if default is not None}


@per_node
def is_abstract(function: ast.AST) -> bool:
    """Tell whether a function only says that subclasses define it: it raises, and does no more."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    decorators = map(dotted, function.decorator_list)
    if any(name.rpartition(".")[2].startswith("abstract") for name in decorators):
        return True
    match [
        statement
        for statement in function.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]:
        case [ast.Raise(exc=ast.Name() | ast.Call() as error)]:
            named = dotted(error.func if isinstance(error, ast.Call) else error)
            return named == "NotImplementedError"
    return False


@per_node
def asked_for_none(function: ast.AST) -> frozenset[str]:
    """Return the names that a function compares with None."""
    return frozenset(
        node.left.id
        for node in walk(function)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    )


def is_main_test(node: ast.expr) -> bool:
    """Tell whether this is `__name__ == "__main__"`."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = (left, right)
            return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
                isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
            )
    return False


def stored_names(loop: ast.stmt) -> dict[str, None]:
    """Return the names that the statements in a loop's body bind, in order."""
    found: dict[str, None] = {}
    for statement in statements(loop)[1:]:
        match statement:
            case ast.Assign(targets=targets):
                _targets(targets, found)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                _targets([target], found)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                _targets([target], found)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                _targets([i.optional_vars for i in items if i.optional_vars is not None], found)
    return found


def _targets(targets: list[ast.expr], found: dict[str, None]) -> None:
    for target in targets:
        match target:
            case ast.Name(id=name):
                found[name] = None
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                _targets(parts, found)
            case ast.Starred(value=part):
                _targets([part], found)


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Return the parents of all nodes under one, which come the outer before the inner."""
    known: dict[ast.AST, ast.AST] = {}
    nodes = [tree]
    for parent in nodes:  # which grows
        kind = parent.__class__
        for name in _fields[kind] if kind in _fields else _node_fields(kind):
            child = getattr(parent, name, None)
            if child.__class__ is list:
                nodes += child
                for each in child:
                    known[each] = parent
            elif child is not None:
                nodes.append(child)
                known[child] = parent
    known.pop(None, None)  # type: ignore[call-overload]  # a key of `{**a}`
    return known


@per_node
def _defined(tree: ast.Module) -> frozenset[str] | None:
    """Return the names that a file binds anywhere, None where it imports names that it does not
    say, or reads others than its own (`%run`, `exec`)."""
    found: set[str] = set()
    for node in walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                if any(alias.name == "*" for alias in aliases):
                    return None
                found.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.Name(id="exec" | "eval" | "globals" | "locals" | "vars" | "get_ipython"):
                return None
    return frozenset(found)


def is_undefined(tree: ast.Module, name: str) -> bool:
    """Tell whether nothing in a file gives a meaning to a name, nor does Python."""
    known = _defined(tree)
    return known is not None and name not in known and not hasattr(builtins, name)


@per_node
def bound_once(code: ast.AST) -> dict[str, ast.expr]:
    """Return the values of the names that some code binds in one place."""
    stores = Counter(
        node.id
        for node in walk(code)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    return {
        target.id: node.value
        for node in walk(code)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and stores[target.id] == 1
    }


def set_on_self(code: ast.AST) -> set[str]:
    """Return the attributes of `self` that some code sets."""
    return {
        node.attr
        for node in walk(code)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


@per_node
def set_in_one_arm(function: ast.FunctionDef) -> frozenset[str]:
    """Return the attributes of `self` that a function may leave unset: one arm of an `if` does."""
    return frozenset(set_on_self(function) - _surely_set(function.body))


def _surely_set(block: Iterable[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for statement in block:
        if not isinstance(statement, ast.If):
            found |= set_on_self(statement)
            continue
        arms = [
            _surely_set(arm)
            for arm in (statement.body, statement.orelse)
            if not (arm and isinstance(arm[-1], ast.Raise))
        ]
        found |= set.intersection(*arms) if arms else set()
    return found


class Parents:
    """The parent of each node of a file; only what is asked about is walked.

    The statements of a file are walked one by one, when a node in the lines of one is looked up.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._known: dict[ast.AST, ast.AST] = dict.fromkeys(tree.body, tree)
        self._left = list(tree.body)  # not walked yet, in order
        self._ends = [statement.end_lineno or 0 for statement in tree.body]

    def get(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node; None for the file itself and what is not part of it."""
        found = self._known.get(node)
        if found is None and not isinstance(node, ast.mod):
            while self._walk_one(getattr(node, "lineno", 0)):
                found = self._known.get(node)
                if found is not None:
                    break
        return found

    def block(self, statement: ast.AST) -> list[ast.stmt]:
        """Return the statements of the block that a statement is in, with itself."""
        parent = self.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return []

    def behind(self, statement: ast.AST) -> list[ast.stmt]:
        """Return the statements that follow one in its block."""
        block = self.block(statement)
        return next((block[at:] for at, each in enumerate(block, 1) if each is statement), [])

    def follows(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Yield what is done behind a statement, in its block and in those that go on with that."""
        inner, behind = statement, self.behind(statement)
        while True:
            yield from in_order(behind)
            outer = self.get(inner)
            if not isinstance(outer, ast.stmt) or inner not in goes_on(outer):
                return
            inner, behind = outer, self.behind(outer)

    def _walk_one(self, line: int) -> bool:
        """Walk the first statement with that line (any for 0); tell whether there was one."""
        index = bisect_left(self._ends, line)
        if index == len(self._left) or (line and _start(self._left[index]) > line):
            return False
        statement = self._left.pop(index)
        del self._ends[index]
        nodes: list[ast.AST] = [statement]
        known = self._known
        for parent in nodes:  # which grows
            kind = parent.__class__
            for name in _fields[kind] if kind in _fields else _node_fields(kind):
                child = getattr(parent, name, None)
                if child.__class__ is list:
                    nodes += child
                    for each in child:
                        known[each] = parent
                elif child is not None:
                    nodes.append(child)
                    known[child] = parent
        return True


def _start(statement: ast.stmt) -> int:
    """Return the first line of a statement, that of its decorators if it has some."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def is_deep(tree: ast.Module, limit: int) -> bool:
    """Tell whether a tree is deeper than `limit`, so that recursion over it would fail."""
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        below: list[ast.AST] = []
        for node in level:
            if isinstance(node, ast.stmt) and _is_short(node, limit):
                continue
            kind = node.__class__
            for name in _fields[kind] if kind in _fields else _node_fields(kind):
                child = getattr(node, name, None)
                if child.__class__ is not list:
                    if child is not None and not _is_short(child, limit):
                        below.append(child)
                elif child and isinstance(child[0], ast.stmt):
                    below += child
                else:
                    below += [each for each in child if not _is_short(each, limit)]
        if not below:
            return False
        level = below
    return True


def _is_short(node: ast.AST, limit: int) -> bool:
    """Tell whether a node has no room for `limit` levels, each of a character or more."""
    start = getattr(node, "lineno", None)
    if start is None:  # `ast.arguments`, `ast.comprehension` and the like
        return node is None
    if node.end_lineno != start:  # type: ignore[attr-defined]
        return False
    return bool(node.end_col_offset - node.col_offset < limit)  # type: ignore[attr-defined]


def says(pattern: re.Pattern[str], code: str) -> bool:
    """Tell whether code has something in it, comments aside."""
    for match in pattern.finditer(code):
        line = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "#" not in line or not _COMMENT.match(line):
            return True
    return False


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` as written, or an empty string."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
