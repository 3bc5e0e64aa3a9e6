"""Patterns of .gitignore, matched in time that grows no faster than pattern times path.

A repository hands them in, so that a library which turns them into regular expressions is no good
here: `*a*a*a*a*b` and a long name keep `re` busy for minutes. Here each star takes the first place
where what follows it fits, which is never wrong, as a later star can take what was left over; and
so nothing is ever tried twice. What a pattern means is git's own text (gitignore, wildmatch).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_CLASSES = {
    "alnum": r"a-zA-Z0-9", "alpha": r"a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
    "digit": r"0-9", "graph": r"!-~", "lower": r"a-z", "print": r" -~", "space": r" \t\n\r\f\v",
    "punct": r"!-/:-@\[-`{-~", "upper": r"A-Z", "xdigit": r"0-9a-fA-F",
}  # fmt: skip
_NOTHING = r"(?!)"
_LONGEST = 255  # letters of a name on the disk; a pattern that asks for more fits none


@dataclass(frozen=True)
class _Pattern:
    """One line. `parts` are regular expressions of names, and None for any number of folders."""

    parts: tuple[re.Pattern[str] | None, ...]
    includes: bool
    folders_only: bool

    def matches(self, names: Sequence[str]) -> bool:
        """Tell whether it is about the path of these names itself."""
        blocks: list[list[re.Pattern[str]]] = [[]]
        for part in self.parts:
            if part is None:
                blocks.append([])
            else:
                blocks[-1].append(part)
        first, *rest = blocks
        if not _fit(first, names, 0):
            return False
        at = len(first)
        if not rest:
            return at == len(names)
        last = rest.pop()
        for block in rest:  # each at the first place where it fits
            while not _fit(block, names, at):
                at += 1
                if at + len(block) > len(names):
                    return False
            at += len(block)
        end = len(names) - len(last)
        # `a/**` is about what is in the folder, and not about the folder
        return end >= at + (not last) and _fit(last, names, end)


def _fit(block: Sequence[re.Pattern[str]], names: Sequence[str], at: int) -> bool:
    return at + len(block) <= len(names) and all(
        part.match(name) for part, name in zip(block, names[at : at + len(block)], strict=True)
    )


class Patterns:
    """The lines of one file, of which the last one that is about a path counts.

    Lines that git cannot read either are passed over.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [found for found in map(_parse, lines) if found is not None]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: str, is_folder: bool = False) -> bool | None:
        """Tell whether `path` ("/" between its names) is matched; None: no line is about it."""
        names = path.split("/")
        for pattern in reversed(self._patterns):
            if (is_folder or not pattern.folders_only) and pattern.matches(names):
                return pattern.includes
        return None

    def matches(self, path: str) -> bool:
        """Tell whether the file `path` is matched, by itself or by a folder that it is in.

        As in git, a file of a folder that is matched cannot be taken out again.
        """
        names = path.split("/")
        for end in range(1, len(names)):
            if self.verdict("/".join(names[:end]), True):
                return True
        return bool(self.verdict(path))


@dataclass(frozen=True)
class Matching:
    """Patterns in the syntax of .gitignore, read relative to the folder `root`."""

    root: str
    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Tell whether a file is matched, by itself or by a folder that it is in."""
        relative = relative_to(path, self.root)
        return bool(relative) and _patterns(self.patterns).matches(relative.replace(os.sep, "/"))


def relative_to(path: str, root: str) -> str:
    """Return the path of a file from a folder; "" for one that is not in it."""
    try:
        relative = os.path.relpath(path, root)
    except ValueError:  # another drive of Windows
        return ""
    return "" if relative.split(os.sep)[0] == os.pardir else relative


@lru_cache
def _patterns(lines: tuple[str, ...]) -> Patterns:
    return Patterns(lines)


def _parse(line: str) -> _Pattern | None:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not _is_escaped(line, len(line) - 1):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    includes = not line.startswith("!")
    line = line if includes else line[1:]
    folders_only = line.endswith("/")
    line = line[:-1] if folders_only else line
    if not line:
        return None
    anchored = "/" in line
    names = line.removeprefix("/").split("/")
    if "" in names:
        return None  # no path has an empty name
    parts: list[re.Pattern[str] | None] = [] if anchored else [None]
    for name in names:
        if len(name) < 2 or name.strip("*"):
            parts.append(_name(name))
        elif parts[-1:] != [None]:
            parts.append(None)
    return _Pattern(tuple(parts), includes, folders_only)


def _is_escaped(text: str, at: int) -> bool:
    slashes = len(text[:at]) - len(text[:at].rstrip("\\"))
    return slashes % 2 == 1


@lru_cache(maxsize=4096)
def _name(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for one name, in which no star is tried twice."""
    chunks: list[list[str]] = [[]]
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "*":
            chunks.append([])
        elif letter == "?":
            chunks[-1].append(".")
        elif letter == "[":
            text, at = _bracket(pattern, at)
            chunks[-1].append(text)
        elif letter == "\\":
            if at == len(pattern):
                return re.compile(_NOTHING)  # git, too, matches nothing with it
            chunks[-1].append(re.escape(pattern[at]))
            at += 1
        else:
            chunks[-1].append(re.escape(letter))
    if sum(map(len, chunks)) > _LONGEST:
        return re.compile(_NOTHING)
    first, *rest = ("".join(chunk) for chunk in chunks)
    if not rest:
        return re.compile(rf"{first}\Z", re.DOTALL)
    last = rest.pop()
    # A look ahead is never entered again: that is an atomic group, which Python has from 3.11 on.
    middle = "".join(
        rf"(?=(?P<g{number}>.*?{chunk}))(?P=g{number})"
        for number, chunk in enumerate(filter(None, rest))
    )
    return re.compile(rf"{first}{middle}.*{last}\Z", re.DOTALL)


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Return the regular expression of what stands in brackets, and where it ends."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    out: list[str] = []
    first = True
    while True:
        if at >= len(pattern):
            return _NOTHING, at  # no end: git matches nothing with it
        letter = pattern[at]
        if letter == "]" and not first:
            break
        first = False
        if letter == "[" and pattern[at + 1 : at + 2] == ":":
            end = pattern.find(":]", at + 2)
            if end < 0 or pattern[at + 2 : end] not in _CLASSES:
                return _NOTHING, len(pattern)
            out.append(_CLASSES[pattern[at + 2 : end]])
            at = end + 2
            continue
        low, at = _letter(pattern, at)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _letter(pattern, at + 1)
            if low <= high:
                out.append(f"{re.escape(low)}-{re.escape(high)}")
        out.append(re.escape(low))
    if not out:
        return ("." if negated else _NOTHING), at + 1
    return f"[{'^' * negated}{''.join(out)}]", at + 1


def _letter(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1
