"""CODEOWNERS -> who owns the changed files, as GitHub and GitLab read it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..patterns import Patterns

PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may be; the first counts."""

_SECTION = re.compile(r"\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)")
_ESCAPED_SPACE = "\0"
_MOST = 5_000
"""Lines that are read: each changed path is held against all of them."""


def owners(text: str, paths: Iterable[str]) -> list[str]:
    """Return the owners of `paths`, each once, sorted.

    The last pattern that fits a path decides. GitLab's sections decide each for itself, and a
    section's own owners hold for its patterns that name none. Lines that cannot be read are passed
    over, as the forges do.
    """
    sections: list[list[tuple[Patterns, list[str]]]] = [[]]
    default: list[str] = []
    lines = text.splitlines()
    for line in lines if len(lines) <= _MOST else ():
        line = line.partition(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        section = _SECTION.fullmatch(line)
        if section:
            default = section[1].split()
            sections.append([])
            continue
        words = line.replace("\\ ", _ESCAPED_SPACE).split()
        pattern = words[0].replace(_ESCAPED_SPACE, "\\ ")
        sections[-1].append((Patterns([pattern]), words[1:] or default))
    found = set()
    for path in paths:
        for rules in sections:
            for spec, names in reversed(rules):
                if spec.matches(path):
                    found.update(names)
                    break
    return sorted(found)
