"""Names, methods and modules that Python 3 has no more, or has elsewhere.

Like `syntax`, an idiom found here says that a file is Python 2; code that asks for the version, or
that catches the missing name, is for both and stays as it is.
"""

from __future__ import annotations

from fissix.fixer_util import Call, Name, find_indentation
from fissix.fixes.fix_apply import FixApply
from fissix.fixes.fix_execfile import FixExecfile
from fissix.fixes.fix_has_key import FixHasKey
from fissix.fixes.fix_imports import MAPPING as FISSIX_MODULES
from fissix.fixes.fix_urllib import MAPPING as URLLIB
from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms

from .engine import Capture, Idioms, delete, run
from .names import Tree, is_guarded, is_use
from .packages import is_local

IMPORTS = Idioms()  # before NAMES: it notes what the file's names stand for
NAMES = Idioms()

BUILTINS = {
    "xrange": "range",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "raw_input": "input",
    "StandardError": "Exception",
}
MOVED_BUILTINS = {  # what to write, and the import that it needs
    "reduce": ("reduce", "from functools import reduce"),
    "reload": ("importlib.reload", "import importlib"),
    "intern": ("sys.intern", "import sys"),
}
MODULES = {
    **FISSIX_MODULES,
    "anydbm": "dbm",
    "whichdb": "dbm",
    "UserDict": "collections",
}
del MODULES["dbm"]  # a module of both versions
ATTRIBUTES = {
    "sys.maxint": "sys.maxsize",
    "os.getcwdu": "os.getcwd",
    "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase",
    "string.maketrans": "str.maketrans",
    "string.atoi": "int",
    "string.atol": "int",
    "string.atof": "float",
    "itertools.izip": "zip",
    "itertools.imap": "map",
    "itertools.ifilter": "filter",
    "itertools.izip_longest": "itertools.zip_longest",
    "itertools.ifilterfalse": "itertools.filterfalse",
    "types.BooleanType": "bool",
    "types.DictType": "dict",
    "types.FloatType": "float",
    "types.IntType": "int",
    "types.ListType": "list",
    "types.LongType": "int",
    "types.NoneType": "type(None)",
    "types.ObjectType": "object",
    "types.StringType": "str",
    "types.StringTypes": "str",
    "types.TupleType": "tuple",
    "types.UnicodeType": "str",
} | {
    f"{old}.{name}": f"{new}.{name}"
    for old, parts in URLLIB.items()
    for new, names in parts
    for name in names
}  # fmt: skip
STRING_FUNCTIONS = frozenset(
    (
        "capitalize",
        "center",
        "count",
        "expandtabs",
        "find",
        "index",
        "join",
        "joinfields",
        "ljust",
        "lower",
        "lstrip",
        "replace",
        "rfind",
        "rindex",
        "rjust",
        "rstrip",
        "split",
        "splitfields",
        "strip",
        "swapcase",
        "upper",
        "zfill",
    )
)
ITERATORS = {
    **{f"iter{name}": name for name in ("keys", "values", "items")},
    **{f"view{name}": name for name in ("keys", "values", "items")},
}


# -- imports ---------------------------------------------------------------------------------------


@IMPORTS.add("import_name< 'import' any >", "a module has another name")
def import_module(node: Tree, capture: Capture) -> None:
    """`import cPickle as pickle` -> `import pickle`, and `urllib2` -> `urllib.request`."""
    if is_guarded(node):
        return
    names = node.children[1]
    written: set[str] = set()
    for part in list(names.children) if names.type == syms.dotted_as_names else [names]:
        if part.type == token.COMMA:
            continue
        module, alias = part, None
        if part.type == syms.dotted_as_name:
            module, alias = part.children[0], part.children[2].value
        old = str(module).strip()
        if is_local(old, run().path):
            continue
        if any(name.startswith(f"{old}.") for name in ATTRIBUTES):
            run().modules[alias or old] = old
        new = _modules_now(old, alias)
        if new is None:
            continue
        new -= written
        if new:
            part.replace(Name(", ".join(sorted(new)), prefix=part.prefix))
        else:  # `import urllib, urllib2`
            part.prev_sibling.remove()
            part.remove()
        written |= new


def _modules_now(old: str, alias: str | None) -> set[str] | None:
    """Return what `import old as alias` imports now; None when nothing changes."""
    if old in URLLIB and alias is None:
        return _parts_of_urllib(old) or None
    new = MODULES.get(old)
    if new is None:
        return None
    if alias is None and new in run().tree.used_names:
        alias = old  # `import Queue` beside a variable `queue`
    if alias is None:
        run().renamed[old] = new
    return {new if alias in (None, new) else f"{new} as {alias}"}


def _parts_of_urllib(module: str) -> set[str]:
    """Return the modules that hold what the file takes from `urllib` or `urllib2`."""
    parts = set()
    for leaf in run().tree.leaves():
        trailer = leaf.next_sibling
        if leaf.value == module and trailer is not None and trailer.type == syms.trailer:
            target = ATTRIBUTES.get(str(leaf.value) + str(trailer).replace(" ", ""))
            if target is not None:
                parts.add(target.rpartition(".")[0])
    return parts or ({"urllib.request"} if module == "urllib2" else set())


@IMPORTS.add("import_from< 'from' any 'import' any+ >", "a module or a name in it has moved")
def import_names(node: Tree, capture: Capture) -> Tree | None:
    """`from StringIO import StringIO` -> `from io import StringIO`; `izip` needs no import."""
    module = node.children[1]
    old = str(module).strip()
    if is_guarded(node) or is_local(old, run().path):
        return None
    if old in MODULES:
        module.replace(Name(MODULES[old], prefix=module.prefix))
        return None
    opening = node.children[3].type == token.LPAR
    names = node.children[4 if opening else 3]
    imported: dict[str, list[str]] = {}  # module -> what is imported from it now
    changed = False
    for part in names.children if names.type == syms.import_as_names else [names]:
        if part.type == token.COMMA:
            continue
        aliased = part.type == syms.import_as_name
        name = part.children[0].value if aliased else part.value
        target = ATTRIBUTES.get(f"{old}.{name}")
        if target is None:
            imported.setdefault(old, []).append(str(part).strip())
            continue
        changed = True
        local = part.children[2].value if aliased else name
        home, _, new = target.rpartition(".")
        if home in ("", "str") or not home.replace(".", "").isidentifier():  # a builtin
            if local != target:
                run().renamed[local] = target
        else:
            imported.setdefault(home, []).append(f"{new} as {local}" if aliased else new)
            if not aliased and new != local:
                run().renamed[local] = new
    if not changed:
        return None
    if not imported:
        delete(node)
        return None
    lines = [f"from {home} import {', '.join(names)}" for home, names in imported.items()]
    return Name(f"\n{find_indentation(node)}".join(lines), prefix=node.prefix)


# -- names -----------------------------------------------------------------------------------------


@NAMES.add("NAME", "Python 3 has another name for {}")
def name(node: Tree, capture: Capture) -> Tree | None:
    """`xrange` -> `range`, `unicode` -> `str`, `reduce` is imported, `file(f)` -> `open(f)`."""
    old = node.value
    known = old in BUILTINS or old in MOVED_BUILTINS or old in run().renamed or old == "file"
    if not known or not is_use(node) or run().binds(node) or is_guarded(node):
        return None
    if old in run().renamed:
        return Name(run().renamed[old], prefix=node.prefix)
    if old == "file":
        call = node.next_sibling
        called = call is not None and call.type == syms.trailer and call.children[0].value == "("
        return Name("open", prefix=node.prefix) if called else None
    if old in BUILTINS:
        return Name(BUILTINS[old], prefix=node.prefix)
    new, statement = MOVED_BUILTINS[old]
    run().imports.add(statement)
    return Name(new, prefix=node.prefix) if new != old else None


@NAMES.add("power< NAME trailer< '.' NAME > any* >", "a module's name has moved")
def attribute(node: Tree, capture: Capture) -> None:
    """`string.letters` -> `string.ascii_letters`, `itertools.izip` -> `zip`."""
    head, trailer = node.children[:2]
    module = run().modules.get(head.value)
    target = ATTRIBUTES.get(f"{module}.{trailer.children[1].value}")
    if target is None or is_guarded(node):
        return
    home, _, new = target.rpartition(".")
    if home == module:
        trailer.children[1].replace(Name(new))
    else:
        head.replace(Name(target, prefix=head.prefix))
        trailer.remove()


@NAMES.add("power< NAME trailer< '.' NAME > trailer< '(' any ')' > any* >", "a method of strings")
def string_function(node: Tree, capture: Capture) -> None:
    """`string.join(words, sep)` -> `sep.join(words)`, `string.upper(s)` -> `s.upper()`."""
    head, trailer, call = node.children[:3]
    function = trailer.children[1].value
    if run().modules.get(head.value) != "string" or function not in STRING_FUNCTIONS:
        return
    arguments = call.children[1]
    parts = [arguments]
    if arguments.type == syms.arglist:
        parts = [part for part in arguments.children if part.type != token.COMMA]
    if any(part.type == syms.argument for part in parts):
        return
    texts = [str(part).strip() for part in parts]
    simple = [part.type in (token.NAME, token.STRING, syms.power) for part in parts]
    if function in ("join", "joinfields"):
        function, texts = "join", [*texts[1:2], texts[0]] if len(texts) > 1 else ["' '", texts[0]]
        simple = [*simple[1:2], simple[0]] if len(simple) > 1 else [True, simple[0]]
    function = function.removesuffix("fields")
    receiver = texts[0] if simple[0] else f"({texts[0]})"
    head.replace(Name(f"{receiver}.{function}({', '.join(texts[1:])})", prefix=head.prefix))
    trailer.remove()
    call.remove()


# -- calls -----------------------------------------------------------------------------------------


def _defines(method: str) -> bool:
    """Tell whether the file has a function of that name, so that a call of it means that one."""
    return any(
        leaf.value == method and leaf.prev_sibling is not None and leaf.prev_sibling.value == "def"
        for leaf in run().tree.leaves()
        if leaf.type == token.NAME and leaf.parent.type == syms.funcdef
        and leaf.prev_sibling is not None and leaf.prev_sibling.type == token.NAME
    )  # fmt: skip


NAMES.fixer(
    FixHasKey, "has_key is 'in'", unless=lambda node: is_guarded(node) or _defines("has_key")
)
NAMES.fixer(FixExecfile, "execfile is exec of the file's text", unless=is_guarded)
NAMES.fixer(FixApply, "apply is a call with * and **", unless=lambda node: (
    is_guarded(node) or run().binds(node.children[0])
))  # fmt: skip


@NAMES.add("power< any any* trailer< '.' NAME > trailer< '(' ')' > any* >", "a dict's view")
def iterator_method(node: Tree, capture: Capture) -> None:
    """`d.iteritems()` -> `d.items()`, and `next(d.itervalues())` -> `next(iter(d.values()))`."""
    for index, (trailer, call) in enumerate(
        zip(node.children[1:], node.children[2:], strict=False)
    ):
        if trailer.type != syms.trailer or trailer.children[0].type != token.DOT:
            continue
        if len(getattr(call, "children", ())) != 2 or call.children[0].type != token.LPAR:
            continue
        old = trailer.children[1].value
        if old not in ITERATORS or _defines(old) or is_guarded(node):
            continue
        trailer.children[1].replace(Name(ITERATORS[old]))
        last = index + 3 == len(node.children)
        if last and old.startswith("iter") and _is_argument_of_next(node):
            prefix, node.prefix = node.prefix, ""
            hole = Name("")
            node.replace(hole)
            hole.replace(Call(Name("iter", prefix=prefix), [node]))


def _is_argument_of_next(node: Tree) -> bool:
    trailer = node.parent
    if trailer.type == syms.arglist:
        trailer = trailer.parent
    before = trailer.prev_sibling if trailer.type == syms.trailer else None
    return before is not None and before.type == token.NAME and before.value == "next"


# -- statements that have no use any more ----------------------------------------------------------


@IMPORTS.add(
    "power< 'sys' trailer< '.' 'setdefaultencoding' > trailer< '(' any ')' > >"
    " | power< 'reload' trailer< '(' 'sys' ')' > >",
    "text is Unicode without sys.setdefaultencoding",
)
def default_encoding(node: Tree, capture: Capture) -> None:
    """`reload(sys)` with `sys.setdefaultencoding('utf-8')` goes: it is Python 3's own default."""
    resets = "setdefaultencoding" in run().tree.used_names
    if node.parent.type == syms.simple_stmt and resets and not is_guarded(node):
        delete(node)
