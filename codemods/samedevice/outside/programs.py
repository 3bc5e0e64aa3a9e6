"""Where programs are: in PATH, and never in the working directory."""

from __future__ import annotations

import os
import shutil


def find(name: str) -> str:
    """Return the path of a program in PATH, "" where there is none.

    Entries of PATH that mean the working directory are passed over, which Windows would search
    even first.
    """
    found = shutil.which(name, path=search_path())
    if found is None or _leads_here(os.path.dirname(found)):
        return ""
    return found


def search_path() -> str:
    """Return PATH without what depends on the working directory."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if not _leads_here(entry))


def _leads_here(folder: str) -> bool:
    return not os.path.isabs(folder) or os.path.realpath(folder) == os.path.realpath(os.curdir)
