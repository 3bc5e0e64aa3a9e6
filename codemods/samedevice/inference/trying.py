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
    body = [each for each in tree.body if not isinstance(each, (ast.ClassDef, *_IMPORTS))]
    words = words_of(body)
    if not words & MADE_UP or "print" not in words:
        return False
    if any(READS.fullmatch(word) or KEEPS.fullmatch(word) for word in words):
        return False
    if any(_ASKS.fullmatch(word) for word in words):
        return False
    return not any(
        isinstance(each, ast.Attribute) and each.attr in ("backward", "grad")
        for loop in syntax.walk_all(body)
        if isinstance(loop, _LOOPS)
        for each in ast.walk(loop)
    )
