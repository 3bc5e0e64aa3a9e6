"""Which imports mean a module beside the file: the file system is asked, nothing imported."""

from __future__ import annotations

import os
import re

_LOOKED_AT = 500  # files of a project that are searched for an import of a package


def is_local(module: str, path: str) -> bool:
    """Tell whether a module lies in the folder of the file `path`: Python 2 looks there first."""
    beside = os.path.join(os.path.dirname(path), module.split(".")[0])
    return os.path.isfile(beside + ".py") or os.path.isfile(os.path.join(beside, "__init__.py"))


def is_sibling(module: str, path: str) -> bool:
    """Tell whether an import in the file `path` means a module of the file's own package.

    A folder with an `__init__.py` counts as a package when a file outside of it imports it. Where
    none does, its files are scripts that Python finds side by side, and the import stays.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if module.startswith(".") or not is_local(module, path):
        return False
    if not os.path.isfile(os.path.join(folder, "__init__.py")):
        return False
    return os.path.basename(path) == "__init__.py" or _is_imported(folder)


def _is_imported(folder: str) -> bool:
    package = re.escape(os.path.basename(folder))
    asks = re.compile(rf"^\s*(from|import)\s+([\w.]+\.)?{package}\b", re.MULTILINE)
    root = os.path.dirname(folder)
    while os.path.isfile(os.path.join(root, "__init__.py")):
        root = os.path.dirname(root)
    looked_at = 0
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if parent == folder:
            continue
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            looked_at += 1
            if looked_at > _LOOKED_AT:
                return False
            try:
                with open(os.path.join(parent, name), encoding="utf-8", errors="replace") as file:
                    if asks.search(file.read()):
                        return True
            except OSError:
                continue
    return False
