"""Which files take their device from a new module: who needs one is known in the end."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace

from samedevice.finding import Finding


def needless(
    wanted: Iterable[Finding], files: Container[str], importers: Mapping[str, Collection[str]]
) -> set[str]:
    """Return the modules that would be new for the sake of one file: it can have its own name.

    So can two scripts that have nothing to agree on, and scripts outside a package that itself has
    no use for the module. `files` are those of the project, and `importers` tells who imports one.
    `wanted` are the findings that are repaired, or only left for now by who asks. Others that would
    use such a module have no edits any more, as something of theirs does not hold.
    """
    users: dict[str, set[str]] = {}
    for finding in wanted:
        for each in finding.fix.resolvers if finding.fix is not None else ():
            if each.module_path is not None:
                users.setdefault(each.module_path, set()).add(each.path)
    return {
        path
        for path, using in users.items()
        if len(using) == 1
        or len(using) == 2
        and not _run_together(using, importers)
        or _is_outside(posixpath.dirname(path), using, files)
    }


def _run_together(using: Iterable[str], importers: Mapping[str, Collection[str]]) -> bool:
    """Tell whether some files are imported by one script, or one by the other."""
    reaching = []
    for path in using:
        found = [path]
        for each in found:
            found += [other for other in importers.get(each, ()) if other not in found]
        reaching.append(set(found))
    return bool(set.intersection(*reaching))


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
