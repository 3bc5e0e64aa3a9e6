"""Idioms that Python 3 cannot parse. Any of them says that a file is Python 2 (`async` apart)."""

from __future__ import annotations

import ast
import re

from fissix.fixer_util import Comma, Name, Newline, String
from fissix.fixes.fix_except import FixExcept
from fissix.fixes.fix_exec import FixExec
from fissix.fixes.fix_paren import FixParen
from fissix.fixes.fix_raise import FixRaise
from fissix.fixes.fix_repr import FixRepr
from fissix.pgen2 import token
from fissix.pygram import python_symbols as syms
from fissix.pytree import Leaf, Node

from .engine import Capture, Idioms, run
from .names import Tree, is_attribute, is_keyword

SYNTAX = Idioms()
ASYNC = Idioms()

_STRING = re.compile(r"(?i)([a-z]*)('''|\"\"\"|'|\")(.*)\2\Z", re.DOTALL)
_NUMBER = re.compile(r"(?i)(0[xob][0-9a-f]+|\d+)(l?)\Z")
_TORCH_ASYNC = ("cuda", "cpu", "to", "type", "copy_")  # methods that took `async` before 0.4.1


# -- print -----------------------------------------------------------------------------------------


@SYNTAX.add("bare='print' | print_stmt", "print is a function")
def print_function(node: Tree, capture: Capture) -> Tree | None:
    """`print >>f, a, b,` -> `print(a, b, end=' ', file=f)`; one argument in parentheses stays."""
    if "bare" in capture:
        lone = node.parent.type == syms.simple_stmt and "print" in run().statements
        return _call("print", [], node.prefix) if lone else None
    parts = node.children[1:]
    keywords = []
    if parts[0].type == token.RIGHTSHIFT:
        keywords.append(("file", parts[1]))
        parts = parts[3:]  # also past the comma
    if parts and parts[-1].type == token.COMMA:
        parts = parts[:-1]
        ended = parts[-1].type == token.STRING and parts[-1].value.rstrip("'\"").endswith("\\n")
        keywords.insert(0, ("end", String("''" if ended else "' '")))  # no space after a newline
    if len(parts) == 1 and _in_parentheses(parts[0]):
        inner = parts[0].children[1]
        if not keywords:
            return None  # `print (x)` means the same in both
        prefix, arguments = parts[0].prefix, [inner.clone()]
    else:
        prefix, arguments = "", [part.clone() for part in parts]
        if arguments:
            arguments[0].prefix = ""
    for name, value in keywords:
        argument = Node(syms.argument, [Name(name), Leaf(token.EQUAL, "="), value.clone()])
        argument.children[2].prefix = ""
        if arguments:
            arguments.append(Comma())
            argument.prefix = " "
        arguments.append(argument)
    call = _call("print", arguments, node.prefix)
    call.children[1].prefix = prefix
    return call


def _in_parentheses(node: Tree) -> bool:
    """Tell whether a node is one parenthesized value, neither a tuple nor a generator."""
    if node.type != syms.atom or node.children[0].type != token.LPAR or len(node.children) != 3:
        return False
    inner = node.children[1]
    return bool(inner.type not in (syms.testlist_gexp, syms.yield_expr))


def _call(name: str, arguments: list[Tree], prefix: str) -> Tree:
    parentheses = [Leaf(token.LPAR, "("), Leaf(token.RPAR, ")")]
    if arguments:
        parentheses.insert(1, Node(syms.arglist, arguments))
    return Node(syms.power, [Name(name, prefix=prefix), Node(syms.trailer, parentheses)])


# -- statements ------------------------------------------------------------------------------------

SYNTAX.fixer(FixExec, "exec is a function")
SYNTAX.fixer(FixRepr, "backticks are repr()")
SYNTAX.fixer(FixParen, "a tuple to loop over is in parentheses")
SYNTAX.fixer(
    FixRaise,
    "an exception is raised with its value in parentheses",
    unless=lambda node: node.children[1].type == token.STRING,  # no exception class to call
)


@SYNTAX.add("except_clause< 'except' any comma=',' NAME >", "the exception is named by 'as'")
def except_as(node: Tree, capture: Capture) -> None:
    """`except E, e:` -> `except E as e:`."""
    capture["comma"].replace(Name("as", prefix=" "))
    node.children[3].prefix = node.children[3].prefix or " "


class _Except(FixExcept):  # type: ignore[misc]
    """`except E, x[0]:` -> `except E as error:` with an assignment."""

    def new_name(self, template: str = "error") -> str:
        return str(super().new_name(template))


SYNTAX.fixer(_Except, "the exception is named by 'as'")


@SYNTAX.add("'<>'", "<> is !=")
def unequal(node: Tree, capture: Capture) -> Tree:
    """`a <> b` -> `a != b`."""
    return Leaf(token.NOTEQUAL, "!=", prefix=node.prefix)


# -- literals --------------------------------------------------------------------------------------


@SYNTAX.add("NUMBER", "an integer literal is written as in Python 3")
def integer(node: Tree, capture: Capture) -> Tree | None:
    """`10L` -> `10`, `0777` -> `0o777`."""
    match = _NUMBER.match(node.value)
    if match is None:
        return None
    digits, long = match.groups()
    octal = digits.isdigit() and digits.startswith("0") and digits.strip("0") != ""
    if not octal and not long:
        return None
    return Leaf(token.NUMBER, "0o" + digits.lstrip("0") if octal else digits, prefix=node.prefix)


@SYNTAX.add("STRING", "a string literal is written as in Python 3")
def string(node: Tree, capture: Capture) -> Tree | None:
    r"""`ur'\d'` -> `r'\d'`, and `'C:\users'` -> `'C:\\users'`: no escape in a byte string."""
    match = _STRING.match(node.value)
    if match is None:
        return None
    prefix, quote, body = match.groups()
    if prefix.lower() == "ur" and not re.search(r"\\[uU]", body):
        return String(f"{prefix[1]}{quote}{body}{quote}", prefix=node.prefix)
    if not prefix and "unicode_literals" not in run().future and not _is_literal(node.value):
        body = re.sub(r"\\(.)", _literal_escape, body, flags=re.DOTALL)
        return String(f"{quote}{body}{quote}", prefix=node.prefix)
    return None


def _literal_escape(escape: re.Match[str]) -> str:
    r"""Return an escape as a Python 2 byte string reads it: `\u`, `\U` and `\N` are none."""
    return "\\" + escape.group() if escape.group(1) in "uUN" else escape.group()


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except SyntaxError:
        return False
    return True


# -- parameters ------------------------------------------------------------------------------------


@SYNTAX.add("funcdef< 'def' any parameters< '(' any+ ')' > any+ >", "no tuple among parameters")
def tuple_parameter(node: Tree, capture: Capture) -> None:
    """`def f(a, (b, c)):` -> `def f(a, b_c):` with `(b, c) = b_c` as its first statement."""
    assignments = []
    for parameter in _tuples(node.children[2].children[1], syms.tfpdef):
        name = _joined_name(parameter)
        if parameter.children[1].type != token.NAME:  # `(a)` is no tuple
            assignments.append(f"{str(parameter).strip()} = {name}")
        parameter.replace(Name(name, prefix=parameter.prefix))
    if not assignments:
        return
    suite = node.children[-1]
    if suite.type != syms.suite:  # `def f((a, b)): return a`
        suite.insert_child(0, Name("; ".join(assignments) + ";", prefix=" "))
        return
    body = 2  # after the newline and the indentation
    first = suite.children[body]
    if first.type == syms.simple_stmt and first.children[0].type == token.STRING:
        body += 1
    # The first statement's indentation is the INDENT leaf, that of the others is their prefix.
    indentation = suite.children[1].value
    statement = Node(syms.simple_stmt, [Name(f"\n{indentation}".join(assignments)), Newline()])
    if body == 2:
        first.prefix = indentation
    else:
        statement.prefix = indentation
    suite.insert_child(body, statement)


@SYNTAX.add("lambdef< 'lambda' any ':' any >", "no tuple among parameters")
def tuple_parameter_of_lambda(node: Tree, capture: Capture) -> None:
    """`lambda (k, v): v` -> `lambda k_v: k_v[1]`."""
    for parameter in _tuples(node.children[1], syms.vfpdef):
        name = _joined_name(parameter)
        items = dict(_items(parameter, name))
        parameter.replace(Name(name, prefix=parameter.prefix or " "))
        for leaf in list(node.children[3].leaves()):
            if leaf.type == token.NAME and not is_attribute(leaf) and not is_keyword(leaf):
                leaf.replace(Name(items.get(leaf.value, leaf.value), prefix=leaf.prefix))


def _tuples(arguments: Tree, kind: int) -> list[Tree]:
    """Return the tuple parameters in what stands between a function's parentheses."""
    parts = [arguments] if arguments.type == kind else arguments.children
    return [part for part in parts if part.type == kind]


def _items(parameter: Tree, at: str) -> list[tuple[str, str]]:
    """Return each name in a tuple parameter with the expression that finds it in `at`."""
    inner = parameter.children[1]
    if inner.type == token.NAME:
        return [(inner.value, at)]  # `(a)` is no tuple
    parts = [part for part in inner.children if part.type != token.COMMA]
    items: list[tuple[str, str]] = []
    for index, part in enumerate(parts):
        here = f"{at}[{index}]"
        items += [(part.value, here)] if part.type == token.NAME else _items(part, here)
    return items


def _joined_name(parameter: Tree) -> str:
    """Return a name that the file does not use yet, made of those in the tuple."""
    names = [leaf.value for leaf in parameter.leaves() if leaf.type == token.NAME]
    used = run().tree.used_names
    name = "_".join(names)
    while name in used and len(names) > 1:
        name += "_"
    used.add(name)
    return name


# -- keywords since Python 3.7 ---------------------------------------------------------------------


@ASYNC.add("leaf='async' | leaf='await'", "async is a keyword")
def keyword_name(node: Tree, capture: Capture) -> Tree | None:
    """`x.cuda(async=True)` -> `x.cuda(non_blocking=True)`; any other such name gets a `_`."""
    if node.type != token.NAME:
        return None
    parent = node.parent
    if _is_module(node):
        why = f"a module named {node.value} cannot be imported since Python 3.7; rename its file"
        run().errors.append((node.lineno, why))
        return None
    if is_keyword(node):
        call = parent.parent if parent.parent.type == syms.trailer else parent.parent.parent
        method = call.prev_sibling
        moves = method is not None and method.type == syms.trailer and method.children[-1]
    else:
        moves = _function(node)
    name = "non_blocking" if moves and moves.value in _TORCH_ASYNC else node.value + "_"
    return Name(name, prefix=node.prefix)


def _is_module(node: Tree) -> bool:
    """Tell whether a name in an import statement is a module's, which is its file's name."""
    parent = node.parent
    if parent.type in (syms.dotted_name, syms.import_name, syms.dotted_as_names):
        return True
    if parent.type == syms.dotted_as_name:
        return parent.children[0] is node
    return bool(parent.type == syms.import_from and parent.children[1] is node)


def _function(node: Tree) -> Tree | None:
    """Return the name of the function that has the variable at `node` among its parameters."""
    while node is not None and node.type != syms.funcdef:
        node = node.parent
    if node is None:
        return None
    parameters = node.children[2].leaves()
    return (
        node.children[1]
        if any(leaf.value in ("async", "non_blocking") for leaf in parameters)
        else None
    )
