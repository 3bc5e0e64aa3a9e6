"""CODEOWNERS -> who owns the changed files, as GitHub and GitLab read it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may be; the first counts."""

_SECTION = re.compile(r"\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)")
_ESCAPED_SPACE = "\0"


def owners(text: str, paths: Iterable[str]) -> list[str]:
    """Return the owners of `paths`, each once, sorted.

    The last pattern that fits a path decides. GitLab's sections decide each for itself, and a
    section's own owners hold for its patterns that name none. Lines that cannot be read are passed
    over, as the forges do.
    """
    sections: list[list[tuple[GitIgnoreSpec, list[str]]]] = [[]]
    default: list[str] = []
    for line in text.splitlines():
        line = line.partition(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        section = _SECTION.fullmatch(line)
        if section:
            default = section[1].split()
            sections.append([])
            continue
        words = line.replace("\\ ", _ESCAPED_SPACE).split()
        try:
            spec = GitIgnoreSpec.from_lines([words[0].replace(_ESCAPED_SPACE, " ")])
        except ValueError:
            continue
        sections[-1].append((spec, words[1:] or default))
    found = set()
    for path in paths:
        for rules in sections:
            for spec, names in reversed(rules):
                if spec.match_file(path):
                    found.update(names)
                    break
    return sorted(found)
