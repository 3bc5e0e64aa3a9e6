"""Idioms that both versions run with different results; they change in Python 2 files only."""

from __future__ import annotations

import re

from fissix.fixer_util import LParen, Name, RParen, String, find_indentation
from fissix.fixes.fix_isinstance import FixIsinstance
from fissix.fixes.fix_metaclass import FixMetaclass
from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms
from fissix.pytree import Node

from .engine import Capture, Idioms, run
from .names import Tree, is_guarded, is_use
from .packages import is_sibling

MEANING = Idioms()  # before the names change: `range` was a list, `xrange` was none
TIDY = Idioms()  # after them
RELATIVE = Idioms()

_CONSUMERS = frozenset(
    (
        "all",
        "any",
        "dict",
        "enumerate",
        "filter",
        "frozenset",
        "iter",
        "list",
        "map",
        "max",
        "min",
        "set",
        "sorted",
        "sum",
        "tuple",
        "zip",
    )
)
_CONSUMING_METHODS = frozenset({"join", "extend", "update", "writelines", "fromkeys"})
_METHODS = {
    "__nonzero__": "__bool__",
    "__div__": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "__idiv__": "__itruediv__",
    "next": "__next__",
}


# -- what was a list -------------------------------------------------------------------------------


@MEANING.add(
    "power< ('map' | 'filter' | 'zip' | 'range') trailer< '(' any* ')' > any* >",
    "the result was a list",
)
def list_function(node: Tree, capture: Capture) -> None:
    """`map(int, x)[0]` -> `list(map(int, x))[0]`, unless all that follows is a loop over it."""
    function = node.children[0]
    if not is_use(function) or run().binds(function) or is_guarded(node):
        return
    if function.value == "map" and (values := _map_none(node.children[1])) is not None:
        if (
            values
        ):  # map(None, a) is list(a); with more it pads the shorter, which has no short form
            node.children[0].replace(Name("list", prefix=function.prefix))
            arguments = node.children[1].children[1]
            del arguments.children[:2]
            arguments.children[0].prefix = ""
            arguments.changed()
        return
    if len(node.children) > 2 or not _is_consumed(node, function.value):
        _wrap(node, 2)


def _map_none(call: Tree) -> bool | None:
    """Tell whether `map(None, ...)` has one sequence; None when its function is another."""
    arguments = call.children[1]
    if arguments.type != syms.arglist or str(arguments.children[0]).strip() != "None":
        return None
    return len([part for part in arguments.children if part.type != token.COMMA]) == 2


@MEANING.add(
    "power< any any* trailer< '.' NAME > trailer< '(' ')' > any* >", "the result was a list"
)
def list_method(node: Tree, capture: Capture) -> None:
    """`d.keys()[0]` -> `list(d.keys())[0]`."""
    index = 1
    while index + 1 < len(node.children):
        trailer, call = node.children[index : index + 2]
        index += 1
        if (
            call.type != syms.trailer
            or len(call.children) != 2
            or call.children[0].type != token.LPAR
        ):
            continue
        if trailer.type != syms.trailer or trailer.children[0].type != token.DOT:
            continue
        if trailer.children[1].value not in ("keys", "values", "items") or is_guarded(node):
            continue
        last = index + 1 == len(node.children)
        if last and (_is_consumed(node, "view") or _is_compared(node)):
            continue
        _wrap(node, index + 1)
        index = 1


def _wrap(node: Tree, count: int) -> None:
    """Put the first `count` children of a power into `list(...)`."""
    prefix, node.prefix = node.prefix, ""
    inner = Node(syms.power, _taken(node, count))
    call = Node(syms.trailer, [LParen(), inner, RParen()])
    node.insert_child(0, call)
    node.insert_child(0, Name("list", prefix=prefix))


def _taken(node: Tree, count: int) -> list[Tree]:
    taken: list[Tree] = node.children[:count]
    for child in taken:
        child.remove()
    return taken


def _is_consumed(node: Tree, kind: str) -> bool:
    """Tell whether all that is done with a value is one loop over it, here and now."""
    parent = node.parent
    if parent.type in (syms.for_stmt, syms.comp_for):
        if node.prev_sibling.value != "in":
            return False
        return kind != "view" or parent.type == syms.comp_for or not _resizes(parent, node)
    if parent.type == syms.comparison:
        before = node.prev_sibling
        return before is not None and str(before).split() in (["in"], ["not", "in"])
    if parent.type == syms.argument and parent.children[0].type == token.STAR:
        return True
    if parent.type == syms.expr_stmt:
        target = node.prev_sibling.prev_sibling if node.prev_sibling is not None else None
        unpacks = target is not None and target.type in (syms.testlist_star_expr, syms.atom)
        return unpacks and node.prev_sibling.type == token.EQUAL and node.next_sibling is None
    call = parent.parent if parent.type == syms.arglist else parent
    if call is None or call.type != syms.trailer or call.children[0].type != token.LPAR:
        return False
    function = call.prev_sibling
    if function is None:
        return False
    if function.type == syms.trailer:
        return function.children[-1].value in _CONSUMING_METHODS
    if function.type != token.NAME or run().binds(function):
        return False
    if parent.type == syms.arglist and function.value not in ("zip", "map", "filter"):
        first = node.prev_sibling is None
        return first and function.value in (
            "sorted",
            "sum",
            "enumerate",
            "reduce",
            "max",
            "min",
            "dict",
        )
    more = {"range": ("len", "reversed"), "view": ("len",)}.get(kind, ())
    return function.value in _CONSUMERS or function.value in more


def _is_compared(node: Tree) -> bool:
    """Tell whether two dicts' keys are compared: views compare as sets do, lists by order."""
    parent = node.parent
    return bool(
        parent.type == syms.comparison
        and len(parent.children) == 3
        and parent.children[1].value in ("==", "!=")
        and re.sub(r"\s", "", str(parent.children[0])).endswith(".keys()")
        and re.sub(r"\s", "", str(parent.children[2])).endswith(".keys()")
    )


def _resizes(loop: Tree, view: Tree) -> bool:
    """Tell whether a loop over a dict's view adds or removes keys of that dict."""
    owner = re.escape("".join(str(child) for child in view.children[:-2]).strip())
    variable = re.escape(str(loop.children[1]).strip())
    body = "".join(str(child) for child in loop.children[loop.children.index(view) + 1 :])
    resizing = (
        rf"del\s+{owner}\["
        rf"|{owner}\.(pop|popitem|clear|update|setdefault)\("
        rf"|{owner}\[(?!{variable}\])[^\]]*\]\s*=[^=]"
    )
    return re.search(rf"(?<![\w.])({resizing})", body) is not None


# -- calls -----------------------------------------------------------------------------------------


@MEANING.add("power< 'input' trailer< '(' any* ')' > any* >", "input() evaluated what was typed")
def evaluated_input(node: Tree, capture: Capture) -> None:
    """`input(x)` -> `eval(input(x))`."""
    function = node.children[0]
    if run().binds(function) or is_guarded(node):
        return
    _wrap(node, 2)
    node.children[0].replace(Name("eval", prefix=node.children[0].prefix))


@MEANING.add(
    "power< any any* trailer< '.' 'next' > trailer< '(' ')' > any* >", "next() is a function"
)
def next_function(node: Tree, capture: Capture) -> None:
    """`it.next()` -> `next(it)`."""
    for index, child in enumerate(node.children[1:-1], 1):
        call = node.children[index + 1]
        if str(child).replace(" ", "") == ".next" and str(call).replace(" ", "") == "()":
            child.remove()
            call.remove()
            _wrap(node, index)
            node.children[0].replace(Name("next", prefix=node.children[0].prefix))
            return


# -- methods and classes ---------------------------------------------------------------------------


@MEANING.add("funcdef< 'def' NAME parameters< '(' any+ ')' > any+ >", "a special method's name")
def special_method(node: Tree, capture: Capture) -> None:
    """`def next(self)` -> `def __next__(self)`, `__nonzero__` -> `__bool__`."""
    name = node.children[1]
    arguments = node.children[2].children[1]
    scope = node.parent
    while scope is not None and scope.type not in (syms.classdef, syms.funcdef):
        scope = scope.parent
    if name.value not in _METHODS or scope is None or scope.type != syms.classdef:
        return
    new = _METHODS[name.value]
    if name.value == "next" and arguments.type != token.NAME:
        return  # it takes more than `self`: no iterator's
    if not any(leaf.value == new for leaf in scope.leaves()):
        name.replace(Name(new, prefix=name.prefix))


MEANING.fixer(FixMetaclass, "the metaclass is named in the class statement")
TIDY.fixer(FixIsinstance, "a type is named once")


@MEANING.add(
    "raise_stmt< 'raise' ('StopIteration' | power< 'StopIteration' trailer< '(' ')' > >) >",
    "a generator ends by return",
)
def end_of_generator(node: Tree, capture: Capture) -> Tree | None:
    """`raise StopIteration` in a generator -> `return`: it is an error there since Python 3.7."""
    scope = node.parent
    while scope is not None and scope.type not in (syms.funcdef, syms.try_stmt):
        scope = scope.parent
    if scope is None or scope.type != syms.funcdef or not _yields(scope.children[-1]):
        return None
    return Name("return", prefix=node.prefix)


def _yields(node: Tree) -> bool:
    if node.type in (syms.funcdef, syms.lambdef, syms.classdef):
        return False
    if node.type == token.NAME:
        return bool(node.value == "yield")
    return any(_yields(child) for child in node.children)


# -- text ------------------------------------------------------------------------------------------


@MEANING.add("STRING", r"a byte string has no \u escape")
def unicode_escape(node: Tree, capture: Capture) -> Tree | None:
    r"""`'\u0041'` -> `'\\u0041'`: in Python 2 that was six characters."""
    text = node.value
    if text[0] not in "'\"" or "unicode_literals" in run().future:
        return None
    new = re.sub(r"\\(.)", _literal_escape, text, flags=re.DOTALL)
    return String(new, prefix=node.prefix) if new != text else None


def _literal_escape(escape: re.Match[str]) -> str:
    return "\\" + escape.group() if escape.group(1) in "uUN" else escape.group()


# -- modules of the same package -------------------------------------------------------------------


@RELATIVE.add("import_from< 'from' any 'import' any+ >", "a module of the same package")
def relative_from(node: Tree, capture: Capture) -> None:
    """`from sibling import x` -> `from .sibling import x` inside of a package."""
    module = node.children[1]
    name = str(module).strip()
    if _is_sibling(name) and not is_guarded(node):
        module.replace(Name("." + name, prefix=module.prefix))


@RELATIVE.add("import_name< 'import' any >", "a module of the same package")
def relative_import(node: Tree, capture: Capture) -> Tree | None:
    """`import os, sibling` -> `import os` and `from . import sibling` inside of a package."""
    names = node.children[1]
    parts = [names]
    if names.type == syms.dotted_as_names:
        parts = [part for part in names.children if part.type != token.COMMA]
    texts = [str(part).strip() for part in parts]
    local = [text for text in texts if _is_sibling(text.split()[0])]
    if not local or is_guarded(node) or any("." in text.split()[0] for text in local):
        return None
    rest = [text for text in texts if text not in local]
    lines = [f"import {', '.join(rest)}"] if rest else []
    lines.append(f"from . import {', '.join(local)}")
    return Name(f"\n{find_indentation(node)}".join(lines), prefix=node.prefix)


def _is_sibling(module: str) -> bool:
    return "absolute_import" not in run().future and is_sibling(module, run().path)
