"""What only tries something out: with numbers that it makes up, to show what comes of them."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Sequence
from typing import TypeGuard

from samedevice.reading import syntax

#: What reads settings: that is no data, and no weights.
_SETTINGS = frozenset(("OmegaConf", "json", "toml", "tomllib", "yaml"))
#: What numbers are made up with, and what reads, trains, or keeps what was computed.
MADE_UP = frozenset(
    ("arange", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "tensor")
    + ("rand_like", "randn_like", "zeros")
)
READS = re.compile(
    r"(?!load_ext)\w*load\w*|read\w*|imread|open|from_(numpy|pretrained|file|json|csv)|\w*transforms?"
    r"|\w*[Dd]ata(set|loader)s?|\w*tokeniz\w*|genfromtxt|glob|iterdir|listdir|requests|urlopen|make|reset"
)
KEEPS = re.compile(
    r"\w*(save|write|plot|show|export|dump|scatter|hist)\w*|decode\w*|to_csv|optim\w*|zero_grad|fit|cuda"
)
#: What keeps what was computed, of what keeps something. What trains, keeps nothing by that.
_TRAINS = re.compile(r"optim\w*|zero_grad")
#: What numbers are made up with that mean nothing.
_RANDOM = frozenset(("rand", "randint", "randn"))
#: What code says that chooses a device.
_DEVICES = frozenset(("'cuda'", "cuda", "device", "is_available", "mps", "xpu"))
#: What brings a learned model of a library, and what goes with one.
_LEARNED = re.compile(r"from_pretrained|\w*[Tt]okeniz\w*")
#: What code says that is about the user's machine, or about time.
_ASKS = re.compile(r"argv|parse_args|perf_counter|timeit|time")
_LOOPS = (
    *(ast.For, ast.AsyncFor, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def words_of(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names and attributes in some statements, but of what reads settings."""
    nodes = syntax.walk_all(body)
    found = {node.id for node in nodes if isinstance(node, ast.Name)}
    found |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and syntax.dotted(node.value) not in _SETTINGS
    }
    texts = (str(node.value) for node in nodes if isinstance(node, ast.Constant))
    found |= {"'cuda'" for text in texts if text.startswith("cuda")}
    return found | {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}


@syntax.per_node
def tries(tree: ast.Module) -> bool:
    """Tell whether a file only shows what something gives for numbers that the file makes up.

    What it takes gradients of again and again, it trains.
    """
    body = _body(tree)
    words = words_of(body)
    if not words & MADE_UP or not _only_shows(words):
        return False
    return not any(
        isinstance(each, ast.Attribute) and each.attr in ("backward", "grad")
        for loop in syntax.walk_all(body)
        if isinstance(loop, _LOOPS)
        for each in ast.walk(loop)
    )


@syntax.per_node
def tries_learned(tree: ast.Module) -> bool:
    """Tell whether a file only shows, once, what a learned model gives for what the file says."""
    body = _body(tree)
    words = words_of(body)
    learned = {word for word in words if _LEARNED.fullmatch(word)}
    looped = any(isinstance(each, _LOOPS) for each in syntax.walk_all(body))
    return bool(learned) and not looped and _only_shows(words - learned)


@syntax.per_node
def practises(tree: ast.Module) -> bool:
    """Tell whether a file's main block trains a module of the file on numbers that mean nothing.

    It prints how that goes, and keeps nothing. It names no device but the CPU.
    """
    block = [part for each in tree.body if _is_main(each) for part in each.body]
    words = words_of(_without_cpu(block))
    own = {each.name: each for each in tree.body if isinstance(each, _DEFINED)}
    called = [own[word] for word in words if word in own]
    functions = [each for each in called if not isinstance(each, ast.ClassDef)]
    if functions or len(called) == len(functions) or not words & _RANDOM or words & _DEVICES:
        return False
    return bool(words >= {"backward", "step"}) and _only_shows(
        {word for word in words if not _TRAINS.fullmatch(word)}
    )


def _is_main(statement: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _without_cpu(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return statements without `device="cpu"` in their calls."""
    return [_OfTheCpu().visit(copy.deepcopy(each)) for each in body]


class _OfTheCpu(ast.NodeTransformer):
    """Removes a parameter that says where everything is anyway."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kept = [k for k in node.keywords if k.arg != "device" or not _is_cpu(k.value)]
        return ast.Call(node.func, node.args, kept)


def _is_cpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cpu"


def _body(tree: ast.Module) -> list[ast.stmt]:
    return [each for each in tree.body if not isinstance(each, (ast.ClassDef, *_IMPORTS))]


def _only_shows(words: set[str]) -> bool:
    """Tell whether what is computed is printed, and nothing read, kept or asked for it."""
    return "print" in words and not any(
        each.fullmatch(word) for word in words for each in (READS, KEEPS, _ASKS)
    )
