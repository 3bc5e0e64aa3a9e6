"""The command line offers a choice of the device, and nothing reads what the user chose.

Why: somebody who gives `--device cpu` or `--no-cuda` believes that it holds, while the program
computes where it always does.

Example:

    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    model = Net().cuda()

becomes

    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    model = Net().to(args.device)

by hand, or the option is taken out.

Options of argparse, click and typer are looked at. An option counts as read where the options are
handed to code that is not part of the program, or as a whole (`vars(args)`).

Fix safety: there is no fix. Only the author knows whether the option or the code is meant.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from samedevice.finding import Finding
from samedevice.inference import Solution
from samedevice.inference.nodes import Location
from samedevice.reading import syntax
from samedevice.rules._build import finding

_NAMES = re.compile(
    r"(no_|use_|disable_|force_|enable_)?"
    r"(cuda|gpus?|devices?|accelerator|cpu)(_?(ids?|index|num|number|name|type|only))?"
)
#: Calls that show the options and look at none of them.
_SHOWN_BY = frozenset(
    ("print", "pprint", "str", "repr", "format", "debug", "info", "warning", "error", "write")
)
_ALL_AT_ONCE = frozenset(("vars", "locals", "globals", "eval", "exec"))
_PARSED = frozenset(("parse_args", "parse_known_args"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def find(solution: Solution) -> Iterator[Finding]:
    """Report the options that choose a device and are read nowhere in the program."""
    sources, tree = solution.project.sources, solution.project.tree
    files = list(solution.programs.files())
    offered = [
        (path, *one)
        for path in files
        if "add_argument" in sources[path].text
        for one in _offered(tree(path))
    ]
    if offered:
        read = _reads(solution)
        for path, node, flag, name in offered:
            if read is not None and name not in read:
                yield _finding(solution, Location(path, node), flag)
    for path in files:
        if ".command" in sources[path].text:
            for parameter, flag in _unread_parameters(tree(path)):
                yield _finding(solution, Location(path, parameter), flag)


def _finding(solution: Solution, spot: Location, flag: str) -> Finding:
    return finding(
        solution, "device-option-unread", spot,
        f"nothing reads the option `{flag}`: the device that a user chooses with it is ignored",
        None,
        unfixed="read it where the device is chosen, or take the option out",
    )  # fmt: skip


def _offered(tree: ast.Module | None) -> Iterator[tuple[ast.Call, str, str]]:
    """Yield argparse's options for a device: the call, the flag, the attribute."""
    for node in syntax.calls(tree).get("add_argument", ()) if tree is not None else ():
        if isinstance(node.func, ast.Attribute):
            flags = [flag for flag in map(_text, node.args) if flag.startswith("-")]
            long = [flag for flag in flags if flag.startswith("--")] or flags
            given = [_text(word.value) for word in node.keywords if word.arg == "dest"]
            for name in (given or [flag.lstrip("-").replace("-", "_") for flag in long])[:1]:
                if long and _NAMES.fullmatch(name.lower()):
                    yield node, long[0], name


def _text(node: ast.expr) -> str:
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if constant else ""  # type: ignore[attr-defined]  # it is a constant


def _unread_parameters(tree: ast.Module | None) -> Iterator[tuple[ast.AST, str]]:
    """Yield options of click and typer, which are a function's parameters, that it never uses."""
    functions = syntax.functions(tree).values() if tree is not None else ()
    for function in (each for alike in functions for each in alike):
        if function.args.kwarg is not None:
            continue
        calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
        named = {_called(call): call for call in calls}
        if "command" not in named:
            continue
        flags = {
            _text(flag).lstrip("-").replace("-", "_"): (call, _text(flag))
            for call in calls
            if _called(call) == "option"
            for flag in call.args
            if _text(flag).startswith("--")
        }
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        if names & _ALL_AT_ONCE:
            continue
        body = {each.id for part in function.body for each in ast.walk(part)
                if isinstance(each, ast.Name)}  # fmt: skip
        for each in (*function.args.args, *function.args.kwonlyargs):
            if _NAMES.fullmatch(each.arg.lower()) and each.arg not in body:
                node, flag = flags.get(each.arg, (each, "--" + each.arg.replace("_", "-")))
                yield node, flag


def _called(node: ast.Call) -> str:
    """Return the last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _reads(solution: Solution) -> set[str] | None:
    """Return the attributes of parsed options that a program reads.

    None where no options are parsed, or where they go where their reads cannot be seen.
    """
    namespaces = _Namespaces(solution)
    try:
        namespaces.follow()
    except _Lost:
        return None
    return namespaces.read if namespaces.parsed else None


class _Lost(Exception):
    """The options are handed to something that may read any of them."""


class _Namespaces:
    """Which expressions of a program hold parsed options, and which attributes are read of them.

    A variable of a function is one (the function, its name); what is bound in a module or stored
    in an attribute goes by its name alone, in all files.
    """

    def __init__(self, solution: Solution) -> None:
        self.read: set[str] = set()
        self.parsed = False
        self._parents: dict[ast.AST, ast.AST] = {}
        self._defined: dict[str, list[Function]] = defaultdict(list)
        self._methods: set[ast.AST] = set()
        self._names: dict[str, list[ast.expr]] = defaultdict(list)  # read, by the last name
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        self._imports: dict[str, set[str]] = defaultdict(set)  # as what a name is imported
        self._bound: dict[ast.AST, set[str]] = {}
        self._holds: set[tuple[ast.AST | None, str]] = set()
        self._returns: set[str] = set()
        self._waiting: list[ast.expr] = []
        self._tree = solution.project.tree
        self._rest = {
            path: solution.project.sources[path].text for path in solution.programs.files()
        }

    def _reach(self, *words: str) -> None:
        """Look at the other files that have one of these words, too.

        So no file that was not looked at has a name in it that holds the options.
        """
        for path in [path for path, text in self._rest.items() if any(w in text for w in words)]:
            del self._rest[path]
            tree = self._tree(path)
            if tree is not None:
                self._index(tree)

    def _index(self, tree: ast.Module) -> None:
        parents = syntax.parents(tree)
        self._parents.update(parents)
        for node in parents:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._defined[node.name].append(node)
                case ast.ClassDef():
                    methods = [part for part in node.body if isinstance(part, Function)]
                    self._methods.update(methods)
                    made = [part for part in methods if part.name == "__init__"]
                    self._defined[node.name] += made
                case ast.Call():
                    self._calls[_called(node)].append(node)
                case ast.Name(ctx=ast.Load()):
                    self._names[node.id].append(node)
                case ast.Attribute(ctx=ast.Load()):
                    self._names[node.attr].append(node)
                case ast.ImportFrom():
                    for alias in node.names:
                        self._imports[alias.name].add(alias.asname or alias.name)

    def follow(self) -> None:
        """Follow the options from where they are parsed to all that is read of them.

        Raises `_Lost` where they go to something that may read any of them.
        """
        self._reach(*_PARSED)
        for call in [call for name in _PARSED for call in self._calls[name]]:
            if isinstance(call.func, ast.Attribute):
                self.parsed = True
                if len(call.args) > 1 or any(word.arg == "namespace" for word in call.keywords):
                    raise _Lost
                self._waiting.append(call)
        while self._waiting:
            self._use(self._waiting.pop())

    def _hold(self, scope: ast.AST | None, name: str) -> None:
        """Take a variable, or an attribute, for one that holds the options."""
        if (scope, name) in self._holds:
            return
        self._holds.add((scope, name))
        if scope is None:
            self._reach(name)
        for node in self._names[name]:
            if isinstance(node, ast.Attribute):
                held = scope is None
            else:
                held = self._scope(node, name) is scope
            if held:
                self._waiting.append(node)
        if scope is None:
            for other in self._imports[name]:
                self._hold(None, other)

    def _scope(self, node: ast.AST, name: str) -> ast.AST | None:
        """Return the function that binds a name used at `node`, None for a module."""
        at: ast.AST | None = self._parents.get(node)
        while at is not None:
            if isinstance(at, ast.Lambda | Function):
                if at not in self._bound:
                    self._bound[at] = _bound(at)
                if name in self._bound[at]:
                    return at
            at = self._parents.get(at)
        return None

    def _use(self, node: ast.expr) -> None:
        """Follow one expression that holds the options."""
        parent = self._parents[node]
        match parent:
            case ast.Attribute(attr="__dict__" | "_get_kwargs"):
                raise _Lost
            case ast.Attribute():
                if isinstance(parent.ctx, ast.Load):
                    self.read.add(parent.attr)
            case ast.Assign() | ast.AnnAssign():
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                for target in targets:
                    self._bind(target, node)
            case ast.Return():
                function = self._enclosing(parent)
                if function is None:
                    raise _Lost
                if function.name not in self._returns:
                    self._returns.add(function.name)
                    self._reach(function.name)
                    self._waiting += self._calls[function.name]
            case ast.Call():
                self._pass(node, parent)
            case ast.keyword(arg=str()):
                call = self._parents[parent]
                if not isinstance(call, ast.Call):  # a class's keyword
                    raise _Lost
                self._pass(node, call)
            case ast.FormattedValue() | ast.Expr():
                pass
            case ast.Compare(comparators=[ast.Constant(value=None)]):
                pass
            case _:
                raise _Lost

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        known = isinstance(value, ast.Call) and _called(value) == "parse_known_args"
        if known and isinstance(target, ast.Tuple):
            target = target.elts[0]
        if isinstance(target, ast.Name):
            self._hold(self._scope(target, target.id), target.id)
        elif isinstance(target, ast.Attribute):
            self._hold(None, target.attr)
        else:
            raise _Lost

    def _enclosing(self, node: ast.AST) -> Function | None:
        at: ast.AST | None = node
        while at is not None and not isinstance(at, Function | ast.Lambda):
            at = self._parents.get(at)
        return at if isinstance(at, Function) else None

    def _pass(self, node: ast.expr, call: ast.Call) -> None:
        """Follow the options into a call."""
        name = _called(call)
        if name in ("getattr", "hasattr", "setattr") and call.args[:1] == [node]:
            if not (len(call.args) > 1 and _text(call.args[1])):
                raise _Lost
            if name != "setattr":
                self.read.add(_text(call.args[1]))
            return
        if name in _SHOWN_BY:
            return
        self._reach(f"def {name}", f"class {name}")
        functions = self._defined.get(name)
        if not functions:
            raise _Lost
        for function in functions:
            self._hold(function, self._parameter(function, node, call))

    def _parameter(self, function: Function, node: ast.expr, call: ast.Call) -> str:
        """Return the parameter that an argument of a call is; raises `_Lost` if none is seen."""
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod"
                     for d in function.decorator_list)  # fmt: skip
        if function in self._methods and not static:
            names = names[1:]
        for word in call.keywords:
            if word.value is node and word.arg in (
                *names, *(each.arg for each in function.args.kwonlyargs)
            ):  # fmt: skip
                return str(word.arg)
        if node in call.args:
            index = call.args.index(node)
            starred = any(isinstance(each, ast.Starred) for each in call.args[:index])
            if index < len(names) and not starred:
                return names[index]
        raise _Lost


def _bound(function: ast.Lambda | Function) -> set[str]:
    """Return the names that a function binds: parameters, and what it assigns."""
    arguments = function.args
    names = {
        each.arg
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                     *filter(None, (arguments.vararg, arguments.kwarg)))
    }  # fmt: skip
    if isinstance(function, ast.Lambda):
        return names
    shared: set[str] = set()
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Global):
            shared.update(node.names)
        if not isinstance(node, ast.Lambda | Function | ast.ClassDef):
            pending += ast.iter_child_nodes(node)
    return names - shared
