"""What only tries something out: with numbers that it makes up, to show what comes of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

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
#: What brings a learned model of a library, and what goes with one.
_LEARNED = re.compile(r"from_pretrained|\w*[Tt]okeniz\w*")
#: What code says that is about the user's machine, or about time.
_ASKS = re.compile(r"argv|parse_args|perf_counter|timeit|time")
_LOOPS = (
    *(ast.For, ast.AsyncFor, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
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


def _body(tree: ast.Module) -> list[ast.stmt]:
    return [each for each in tree.body if not isinstance(each, (ast.ClassDef, *_IMPORTS))]


def _only_shows(words: set[str]) -> bool:
    """Tell whether what is computed is printed, and nothing read, kept or asked for it."""
    return "print" in words and not any(
        each.fullmatch(word) for word in words for each in (READS, KEEPS, _ASKS)
    )
