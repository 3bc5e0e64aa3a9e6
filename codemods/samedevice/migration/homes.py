"""Which files take their device from a new module: who needs one is known in the end."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterable
from dataclasses import replace

from samedevice.finding import Finding


def needless(wanted: Iterable[Finding], files: Container[str]) -> set[str]:
    """Return the modules that would be new for the sake of one file: it can have its own name.

    So can scripts outside a package that itself has no use for the module. `files` are those of
    the project. `wanted` are the findings that are repaired, or only left for now by who asks.
    Others that would use such a module have no edits any more, as something of theirs does not
    hold.
    """
    users: dict[str, set[str]] = {}
    for finding in wanted:
        for each in finding.fix.resolvers if finding.fix is not None else ():
            if each.module_path is not None:
                users.setdefault(each.module_path, set()).add(each.path)
    return {
        path
        for path, using in users.items()
        if len(using) == 1 or _is_outside(posixpath.dirname(path), using, files)
    }


def _is_outside(folder: str, using: Iterable[str], files: Container[str]) -> bool:
    """Tell whether a folder is a package, and none of the files that would use it is in there."""
    package = posixpath.join(folder, "__init__.py") in files
    inside = posixpath.join(folder, "")
    return package and not any(path.startswith(inside) for path in using)


def at_home(finding: Finding, alone: Container[str]) -> Finding:
    """Return a finding whose fix defines in its file what it would take from such a module."""
    fix = finding.fix
    if fix is None or not any(each.module_path in alone for each in fix.resolvers):
        return finding
    resolvers = tuple(
        replace(each, module=None, module_path=None) if each.module_path in alone else each
        for each in fix.resolvers
    )
    return replace(finding, fix=replace(fix, resolvers=resolvers))
