"""What asks for CUDA on every machine, by its text alone: moves, devices' names, calls, backends.

Rules judge values that were followed. This is asked last, of what none of them spoke of.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from samedevice import torchfacts
from samedevice.inference import demands, own_names, probes, unit_tests
from samedevice.inference.set_by_default import Defaults, called
from samedevice.reading import syntax
from samedevice.reading.syntax import Parents

Deciding = Literal["ifs", "arms", "otherwise"]
Kind = Literal["move", "name", "call", "type", "backend", "load", "given", "test", "settings"]

#: A file without one of these words asks for nothing.
WORDS = re.compile(r"cuda|nccl|NCCL|torch\.load|\bload\(|[\"'](?:mps|xpu)\b")
#: What it asks for stands in statements with one of these.
_ASKED = r"cuda|nccl|NCCL|Nccl|mps|xpu|\bload\(|load_state_dict_from_url"
_NAME = re.compile(r"(?:cuda|mps|xpu)(:\d+)?")
_NUMBERED = re.compile("cuda:")
#: What has such a word in its name, and may be taken under another one.
_SHORT = re.compile(r"torch\.(cuda|hub|load)")
_DEVICE = re.compile(r"device|cuda|gpu|map_location", re.IGNORECASE)
#: A test that speaks of these may well be one for CUDA.
_TEST = re.compile(
    r"cuda|gpu|mps|xpu|npu|hpu|cpu|device|accelerator|nccl|distributed|backend", re.IGNORECASE
)
#: Settings in a text that is parsed: `{"device": "cuda"}`, `device: cuda:0`, `device = cuda`.
_SETTINGS = re.compile(
    r"(?im)(?:^|[{,\s])[\"']?(?:device|accelerator)[\"']?\s*[:=]\s*[\"']?cuda(?::\d)?[\"']?\s*(?:$|[,}#])"
)
_TENSOR = re.compile(r"torch\.cuda\.(sparse\.)?\w+Tensor")
_LOAD = re.compile(r"torch\.load|torch\.hub\.load_state_dict_from_url|.*\.load_state_dict_from_url")
#: A loop over the GPUs that are there runs for none without CUDA.
_EACH_GPU = re.compile(r"range\((\w+\.)*device_count\(\)\)")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Only expressions of these kinds ask for anything.
_ASKING = frozenset((ast.Attribute, ast.Call, ast.Compare, ast.Constant, ast.IfExp))
#: What is called with texts that are texts.
_TEXTS = frozenset(
    (
        "add_argument", "append", "count", "endswith", "error", "find", "format", "get", "index",
        "info", "isin", "join", "log", "pop", "print", "replace", "setdefault", "skipif", "split",
        "startswith", "str", "warn", "warning", "write", "xfail",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Forced:
    """An expression that asks for CUDA, or for where a file was saved, and in which way.

    `by_default`: it does so unless a user, or a caller, says otherwise.
    """

    node: ast.expr
    kind: Kind
    by_default: bool = False


def forced(
    tree: ast.Module, text: str, parents: Parents, decides: Deciding | None = None
) -> Iterator[Forced]:
    """Yield what a file asks for on every machine, and no test in sight decides on; or else what
    the tests of `if` statements alone decide on ("ifs"), or `a if test else b` as well ("arms")."""
    return (each for each, decided in _asked(tree, text, parents) if decided == decides)


@syntax.per_node
def _asked(tree: ast.Module, text: str, parents: Parents) -> list[tuple[Forced, Deciding | None]]:
    """Return what a file asks for, and what decides on it."""
    statements = syntax.statements(tree)
    taken, own = own_names.taken(statements), own_names.given_devices(statements, _TEXTS)
    short = [name for name, what in taken.items() if _SHORT.match(what)]
    words = re.compile("|".join([_ASKED, *(rf"\b{re.escape(name)}\b" for name in short)]))
    found: list[tuple[Forced, Deciding | None]] = []
    for node in syntax.walk_with(tree, text, words):
        if node.__class__ not in _ASKING:
            continue
        kind = _kind(node, parents, taken, own)
        if kind is not None:
            assert isinstance(node, ast.expr)
            # A test's own assertion decides on nothing.
            at = parents.get(node) or node if kind == "test" else node
            found.append((Forced(node, kind), _what_decides(at, parents)))
    return found


def _what_decides(node: ast.AST, parents: Parents) -> Deciding | None:
    """Return which tests decide about a place; None if none does."""
    if not _is_decided(node, parents):
        return None
    if not _is_decided(node, parents, ifs=False):
        return "ifs"
    return "otherwise" if _is_decided(node, parents, ifs=False, arms=False) else "arms"


def by_default(
    tree: ast.Module, text: str, parents: Parents, defaults: Callable[[], Defaults]
) -> Iterator[Forced]:
    """Yield what a file asks for where only a user's word against it would decide on it: the
    `defaults`, for which all files of a program are read."""
    for asked, decided in _asked(tree, text, parents):
        if decided in (None, "otherwise"):
            continue
        tests = [(t, p) for t, p in _tests(asked.node, parents) if _TEST.search(ast.unparse(t))]
        if _hold(tests, defaults):
            yield replace(asked, by_default=True)
    for node in _numbered_in(tree, text):
        tests = list(_tests(node, parents))
        read = {n.attr for t, _ in tests for n in ast.walk(t) if isinstance(n, ast.Attribute)}
        if read and (_hold(tests, defaults) or read <= defaults().gpus):
            yield Forced(node, "name", by_default=True)


def _hold(tests: Sequence[tuple[ast.expr, bool]], defaults: Callable[[], Defaults]) -> bool:
    """Tell whether all tests, of which there are some, hold unless somebody says otherwise."""
    if not tests or any(isinstance(test, ast.Call) for test, _ in tests):  # that is no setting
        return False
    return all(defaults().hold(test, positive) for test, positive in tests)


@syntax.per_node
def _numbered_in(tree: ast.Module, text: str) -> list[ast.expr]:
    """Return where a file names a device by a number that it computes."""
    return [
        node
        for node in syntax.walk_with(tree, text, _NUMBERED)
        if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Call)) and numbered(node) is not None
    ]


def numbered(node: ast.AST) -> ast.expr | None:
    """Return the number of `f"cuda:{number}"`, however that is written."""
    match node:
        case ast.JoinedStr(values=[ast.Constant(value="cuda:"), ast.FormattedValue(value=number)]):
            return number
        case ast.BinOp(left=ast.Constant(value="cuda:"), op=ast.Add(), right=number):
            return number
        case ast.BinOp(left=ast.Constant(value="cuda:%d" | "cuda:%s"), op=ast.Mod(), right=number):
            return number
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value="cuda:{}"), attr="format"), args=[number]
        ):
            return number
    return None


def _tests(node: ast.AST, parents: Parents) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests behind which an expression stands, and whether they have to hold for it."""
    inner, outer = node, parents.get(node)
    while outer is not None:
        match outer:
            case ast.If(test=test, body=body) | ast.While(test=test, body=body):
                if inner is not test:
                    yield test, inner in body
            case ast.IfExp(test=test):
                if inner is not test:
                    yield test, inner is outer.body
        inner, outer = outer, parents.get(outer)


def _kind(node: ast.AST, parents: Parents, taken: dict[str, str], own: set[str]) -> Kind | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if _NAME.fullmatch(node.value):
            if _stands_in(node, parents):
                return "settings"
            if _is_device(node, parents):
                return "name"
            return "given" if _is_given_to(own, node, parents) else None
        if _SETTINGS.search(node.value) and not isinstance(parents.get(node), ast.Expr):
            return "settings"
        if _TENSOR.fullmatch(node.value) and isinstance(parents.get(node), ast.Call):
            return "type"
        return "backend" if node.value.lower() == "nccl" and _is_given(node, parents) else None
    if isinstance(node, ast.IfExp):
        both = _begins(node.body) and _begins(node.orelse)  # "mps" or "cuda", by the system's name
        return "name" if both and _is_device(node, parents) else None
    if unit_tests.asserts_cuda(node, parents):
        return "test"
    if isinstance(node, ast.Attribute):
        if node.attr == "NCCL" and _last(node.value) == "Backend":
            return "backend" if _is_given(node, parents) else None
        return "type" if _TENSOR.fullmatch(syntax.dotted(node)) else None
    if not isinstance(node, ast.Call):
        return None
    name = syntax.dotted(node.func)
    first, dot, rest = name.partition(".")
    name = taken.get(first, first) + dot + rest
    if name.startswith("torch.cuda."):
        fact = torchfacts.lookup(name)
        return "call" if fact is not None and fact.kind == "cudaonly" else None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
        return "move"
    if _LOAD.fullmatch(name) and len(node.args) < 2:
        return None if {k.arg for k in node.keywords} & {"map_location", None} else "load"
    return None


def _stands_in(node: ast.Constant, parents: Parents) -> bool:
    """Tell whether a text is what settings have that say nothing: `os.getenv("DEVICE", "cuda")`."""
    match parents.get(node):
        case ast.Call(
            func=ast.Attribute(attr="get" | "getenv" | "setdefault"),
            args=[ast.Constant() as key, one],
        ):
            return one is node and _DEVICE.search(str(key.value)) is not None
    return False


def _begins(node: ast.expr) -> bool:
    """Tell whether a text names an accelerator: `"cuda"`, `f"cuda:{index}"`, `"mps"`."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    text = str(first.value) if isinstance(first, ast.Constant) else ""
    return text.partition(":")[0] in ("cuda", "mps", "xpu")


def _is_device(node: ast.expr, parents: Parents) -> bool:
    """Tell whether a text is used as a device: by what takes it, or what it is called."""
    parent = parents.get(node)
    if isinstance(parent, ast.IfExp) and node is not parent.test:
        return _TEST.search(ast.unparse(parent.test)) is not None and _is_device(parent, parents)
    match parent:
        case ast.keyword(arg=str(name)):
            if name == "default":
                call = parents.get(parent)
                return isinstance(call, ast.Call) and any(map(_speaks, call.args))
            return _DEVICE.search(name) is not None
        case ast.Call(func=ast.Attribute(attr="to" | "device" | "set_default_device")):
            return True
        case ast.Call(func=ast.Name(id="device")):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return re.match(r"to_?(the_)?(device|cuda|gpu)$", name, re.IGNORECASE) is not None
        case ast.Assign(targets=targets):
            home = parents.get(parent)
            if isinstance(home, ast.ClassDef) and "Enum" in map(_last, home.bases):
                return False  # one of several, by its name
            return any(map(_speaks, targets))
        case ast.AnnAssign(target=target):
            return _speaks(target)
        case ast.arguments():
            given = syntax.defaults(parent).items()
            return any(each is node and _DEVICE.search(name) for name, each in given)
        case ast.Dict(keys=keys, values=values):
            key = keys[values.index(node)] if node in values else None
            return key is not None and _speaks(key)
    return False


def _last(base: ast.expr) -> str:
    return syntax.dotted(base).rpartition(".")[2].replace("StrEnum", "Enum")


def _speaks(node: ast.expr) -> bool:
    return _DEVICE.search(ast.unparse(node)) is not None


def _is_given_to(own: set[str], node: ast.Constant, parents: Parents) -> bool:
    """Tell whether a text is an argument of a function or class that the file itself defines, or
    imports by its name.

    One with a number is a device whoever is called, but where texts are made or shown.
    """
    parent = parents.get(node)
    if not isinstance(parent, ast.Call):
        return False
    name = called(parent.func)
    return name in own or ":" in str(node.value) and name.lower() not in _TEXTS


def _is_given(node: ast.expr, parents: Parents) -> bool:
    """Tell whether a text is handed to something, or kept: it is not compared."""
    parent = parents.get(node)
    if isinstance(parent, ast.keyword) and parent.arg == "choices":
        return False
    return isinstance(parent, (ast.Call, ast.keyword, ast.Assign, ast.AnnAssign, ast.arguments))


def _is_decided(node: ast.AST, parents: Parents, ifs: bool = True, arms: bool = True) -> bool:
    """Tell whether some test decides about a place: around it, before it, or of its function.

    Without `ifs`, the blocks of `if` statements do not count, nor without `arms` those of
    conditional expressions.
    """
    inner: ast.AST = node
    outer = parents.get(node)
    while outer is not None:
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) if (
                not (ifs if isinstance(outer, ast.If) else arms) and inner is not test
            ):
                pass
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                if inner is test or _TEST.search(ast.unparse(test)) and not _is_elsewhere(test):
                    return True
            case ast.Assert() | ast.Compare() | ast.ExceptHandler() | ast.match_case():
                return True
            case ast.For() | ast.ListComp() | ast.GeneratorExp() if _is_each_gpu(outer, inner):
                return True
            case ast.Try(body=body, orelse=last) if (
                inner in body or inner in last
            ) and probes.is_probe(outer):
                return True
            case ast.BoolOp(values=values) if isinstance(node, ast.Call):
                before = values[: next(i for i, each in enumerate(values) if each is inner)]
                if any(_TEST.search(ast.unparse(each)) for each in before):
                    return True
            case ast.Dict(keys=keys, values=values) if inner in values:
                if _names_cuda(keys[next(i for i, each in enumerate(values) if each is inner)]):
                    return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if any("is_available" in ast.unparse(each) for each in outer.decorator_list):
                    return True
        block = parents.block(inner)
        ending = _first_ending(block[0], block) if block else None
        if ending is not None and ending < _position(inner):
            return True
        inner, outer = outer, parents.get(outer)
    return False


def _is_each_gpu(loop: ast.For | ast.ListComp | ast.GeneratorExp, inner: ast.AST) -> bool:
    """Tell whether a part of a loop runs once for each GPU that is there."""
    loops: list[ast.For | ast.comprehension] = (
        [loop] if isinstance(loop, ast.For) else [*loop.generators]
    )
    return any(
        inner not in (each, each.iter) and _EACH_GPU.fullmatch(ast.unparse(each.iter))
        for each in loops
    )


def _is_elsewhere(test: ast.expr) -> bool:
    """Tell whether `x.device != torch.device("cuda")` asks: then `x` is moved on every machine."""
    asks = isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.NotEq]
    return asks and "cuda" in ast.unparse(test)


def _names_cuda(key: ast.expr | None) -> bool:
    """Tell whether the key of a table is the name of the device in its entry."""
    text = key.value if isinstance(key, ast.Constant) else None
    return isinstance(text, str) and text.lower().partition(":")[0] in ("cuda", "gpu")


@syntax.per_node
def _first_ending(first: ast.stmt, block: list[ast.stmt]) -> tuple[int, int] | None:
    """Return where the first statement of a block is behind which nothing comes without CUDA."""
    return next(map(_position, filter(_ends_without, block)), None)


def _position(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _ends_without(statement: ast.stmt) -> bool:
    """Tell whether nothing comes after a statement without CUDA, as far as its test says."""
    if isinstance(statement, ast.Assert):
        return "is_available" in ast.unparse(statement.test)
    return (
        isinstance(statement, ast.If)
        and _TEST.search(ast.unparse(statement.test)) is not None
        and demands.leaves(statement.body)
    )
