"""Which files take their device from a new module: who needs one is known in the end."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from samedevice.finding import Finding


def of_one(wanted: Iterable[Finding]) -> set[str]:
    """Return the modules that would be new for the sake of one file: it can have its own name.

    `wanted` are the findings that are repaired, or only left for now by who asks. Others that
    would use such a module have no edits any more, as something of theirs does not hold.
    """
    users: dict[str, set[str]] = {}
    for finding in wanted:
        for each in finding.fix.resolvers if finding.fix is not None else ():
            if each.module_path is not None:
                users.setdefault(each.module_path, set()).add(each.path)
    return {path for path, files in users.items() if len(files) == 1}


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
