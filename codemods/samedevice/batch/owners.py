"""CODEOWNERS -> who owns the changed files: as GitHub and GitLab read it, and as Gitea does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..reading.patterns import Patterns

PLACES = (
    *(".github/CODEOWNERS", ".gitlab/CODEOWNERS", ".bitbucket/CODEOWNERS", ".forgejo/CODEOWNERS"),
    *(".gitea/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"),
)
"""Where the file may be; the first counts."""

_SECTION = re.compile(r"\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)")
_ESCAPED_SPACE = "\0"
_MOST_STEPS = 10_000_000  # of all expressions on all paths: some seconds
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


def owners_by_expression(text: str, paths: Iterable[str]) -> list[str]:
    """Return the owners of `paths` as Gitea and Forgejo read the file, each once, sorted.

    A line is a regular expression for whole paths and who owns them; "!" before it turns it round,
    and every line that fits counts. Of regular expressions it reads what is used for paths:
    letters, ".", "\\" before a sign, "[^/]", and each of these with "*" or "+". Lines with anything
    else are passed over: an expression of somebody else's could take for ever. A file that is too
    long for so many paths owns nothing.
    """
    rules = []
    lines = text.splitlines()
    for line in lines if len(lines) <= _MOST else ():
        words = line.partition(" #")[0].split()
        if len(words) < 2 or words[0].startswith("#"):
            continue
        steps = _steps(words[0].removeprefix("!"))
        if steps is not None:
            rules.append((steps, words[0].startswith("!"), words[1:]))
    changed = list(paths)
    work = sum(len(steps) for steps, _, _ in rules) * sum(len(path) + 1 for path in changed)
    if work > _MOST_STEPS:
        return []
    found = set()
    for path in changed:
        for steps, turned, names in rules:
            if _fits(steps, path) is not turned:
                found.update(names)
    return sorted(found)


_STEP = re.compile(r"(\\[^A-Za-z0-9]|\[\^/\]|[^\\*+?{}()|\[\]^$])([*+]?)")


def _steps(expression: str) -> list[tuple[str, bool]] | None:
    """Return an expression as signs, each with whether it may come any number of times."""
    steps = []
    at = 0
    while at < len(expression):
        step = _STEP.match(expression, at)
        if step is None:
            return None
        sign, often = step[1], step[2]
        steps += [(sign, False)] * (often != "*") + [(sign, True)] * bool(often)
        at = step.end()
    return steps


def _fits(steps: list[tuple[str, bool]], path: str) -> bool:
    """Tell whether a path fits, in time that grows with the product of both lengths."""

    def opened(places: set[int]) -> set[int]:
        """Add the places that are reached by passing over what may be absent."""
        every = set(places)
        for place in sorted(places):
            while place < len(steps) and steps[place][1]:
                place += 1
                every.add(place)
        return every

    places = opened({0})
    for letter in path:
        taken = set()
        for place in places:
            if place < len(steps) and _is(steps[place][0], letter):
                taken.add(place if steps[place][1] else place + 1)
        places = opened(taken)
    return len(steps) in places


def _is(sign: str, letter: str) -> bool:
    if sign == "[^/]":
        return letter != "/"
    return sign == "." or sign.removeprefix("\\") == letter
