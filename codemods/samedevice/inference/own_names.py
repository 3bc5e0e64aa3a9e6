"""What a file defines, and what names of it stand for, by its text alone."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What is called like this only keeps what it is given: a table, options, settings.
KEEPING = re.compile(
    "dict|namespace|config|arg(ument)?s|option|setting|param|munch|field|spec", re.IGNORECASE
)
#: What takes the name of a module, a file or a test, and no device.
_OF_TEXTS = frozenset(("pytest", "torch", "setuptools", "distutils", "warnings"))
#: What keeps texts as they are.
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


def given_devices(nodes: Iterable[ast.AST], texts: frozenset[str]) -> set[str]:
    """Return what a file defines, or takes from others, for which the name of a device is more than
    a text. What only keeps what it is given, or is called with `texts` that are texts, is not."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, (*_FUNCTION, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").partition(".")[0]
            if node.level or module not in _OF_TEXTS | sys.stdlib_module_names:
                names = (alias.asname or alias.name for alias in node.names)
                found.update(name for name in names if not _NO_DEVICE.search(name))
    return found - texts
