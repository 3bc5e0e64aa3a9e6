"""What a file defines, and what names of it stand for, by its text alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What is called like this only keeps what it is given: a table, options, settings.
KEEPING = re.compile(
    "dict|namespace|config|arg(ument)?s|option|setting|param|munch|field|spec", re.IGNORECASE
)
#: A class by how its name begins, and those whose objects keep texts as they are.
_CLASS = re.compile(r"[A-Z]\w*[a-z]")
_NO_DEVICE = re.compile(f"error|exception|warning|path|enum|literal|{KEEPING.pattern}", re.I)


def taken(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return what names of a file stand for, of torch."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update((a.asname, a.name) for a in node.names if a.asname)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update((a.asname or a.name, f"{node.module}.{a.name}") for a in node.names)
    return {name: what for name, what in found.items() if what.partition(".")[0] == "torch"}


def own(nodes: Iterable[ast.AST]) -> set[str]:
    """Return what a file defines: a text that one of these is given is more than a text."""
    return {node.name for node in nodes if isinstance(node, (*_FUNCTION, ast.ClassDef))}


def classes_from_elsewhere(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the classes that a file imports, by how their names begin: what one of these is given
    by the name of a device alone is where its objects compute."""
    return {
        name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in (alias.asname or alias.name for alias in node.names)
        if _CLASS.match(name) and not _NO_DEVICE.search(name)
    }


def given_devices(nodes: Sequence[ast.AST]) -> set[str]:
    """Return what of a file takes the name of a device for more than a text."""
    return own(nodes) | classes_from_elsewhere(nodes)
