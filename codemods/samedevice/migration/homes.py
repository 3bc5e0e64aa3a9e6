"""Which files take their device from a new module: who needs one is known in the end."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace

from samedevice.finding import Finding
from samedevice.reading.project import Project


class Homes:
    """The new modules that repairs ask for, and which of them would serve one file alone.

    Such a file has a name of its own instead. So have two scripts that have nothing to agree on,
    and scripts outside a package that itself has no use for the module.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._alone: set[str] = set()
        self._foreseen: set[str] = set()
        self._shared: set[str] = set()  # foreseen, and others use them after all
        self._users: dict[str, set[str]] = {}

    def begin(self) -> None:
        """Begin from the files as they were given: nothing is repaired yet."""
        self._users = {}

    def of(self, finding: Finding) -> Finding:
        """Return a finding whose fix defines in its file what it would take from such a module."""
        fix, alone = finding.fix, self._alone | self._foreseen
        if fix is None or not any(each.module_path in alone for each in fix.resolvers):
            return finding
        resolvers = tuple(
            replace(each, module=None, module_path=None) if each.module_path in alone else each
            for each in fix.resolvers
        )
        return replace(finding, fix=replace(fix, resolvers=resolvers))

    def foresee(self, wanted: Iterable[Finding]) -> bool:
        """Take what is repaired in one round; tell whether a module would serve one file so far.

        What this round makes need not be inferred then: it is made anew. `wanted` are findings as
        they were before `of`.
        """
        for path, using in _users(wanted).items():
            self._users.setdefault(path, set()).update(using)
        new = self._needless(self._users) - self._alone - self._foreseen - self._shared
        self._foreseen |= new
        return bool(new)

    def settle(self, wanted: Iterable[Finding]) -> bool:
        """Tell whether all has to be made anew, now that it is known which files use what.

        `wanted` are the findings that are repaired, or only left for now by who asks, as `of`
        gives them. Others that would use a module have no edits any more, as something of theirs
        does not hold.
        """
        wrong = self._foreseen.intersection(self._users) - self._needless(self._users)
        self._foreseen -= wrong
        self._shared |= wrong
        lonely = self._needless(_users(wanted)) - self._alone
        self._alone |= lonely
        return bool(wrong or lonely)

    def _needless(self, users: dict[str, set[str]]) -> set[str]:
        return {
            path
            for path, using in users.items()
            if len(using) == 1
            or len(using) == 2
            and not _run_together(using, self._project.importers)
            or _is_outside(posixpath.dirname(path), using, self._project.sources)
        }


def _users(wanted: Iterable[Finding]) -> dict[str, set[str]]:
    """Return the files that would use each new module."""
    users: dict[str, set[str]] = {}
    for finding in wanted:
        for each in finding.fix.resolvers if finding.fix is not None else ():
            if each.module_path is not None:
                users.setdefault(each.module_path, set()).add(each.path)
    return users


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
