"""Findings that were there before, in a file, so that they do not hold up new work.

The file has one line for each finding: its path from the file's folder, its rule and its code,
with tabs between. The code is the finding's logical line without comments, white space, trailing
commas and the choice of quotes: moved lines and formatters leave it as it is, and whoever changes
the line meets the finding. Equal lines are counted. Nothing depends on the order, so that two
branches merge by keeping the lines of both.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import rules
from ..finding import Finding, current_rule
from ..reading.config import Config, ConfigError
from ..reading.project import Project
from ..reading.source import Source, printable
from . import write as write_
from .check import is_wrong, select

_HEAD = (
    "# Findings that `samedevice check --baseline` leaves out: path, rule and code of each.\n"
    "# `samedevice check --prune-baseline` takes out those that were repaired.\n"
)
_LONGEST = 160  # characters of a line's code; of a longer one the rest is hashed
_STRING = re.compile(r"([A-Za-z]*)'([^'\"\\]*)'")
_CONFLICT = re.compile(r"(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)( |$)")
_CLOSING = (")", "]", "}")
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# From Python 3.12 an f-string is many tokens; here it is one, as it was.
_INNER_START = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")}
_INNER_END = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")}


class Entry(NamedTuple):
    """What names a finding in the file: the path as the file has it, the rule, the code."""

    path: str
    rule: str
    code: str


@dataclass(frozen=True)
class Compared:
    """Findings against a baseline.

    `new` are those to report, notes among them; `old` are in the baseline. `gone` are the entries
    without a finding, though their file was looked at or is no more; `unseen` those that this run
    cannot speak of: other files, other rules, files that do not parse.
    """

    new: list[Finding]
    old: list[Finding]
    gone: Counter[Entry]
    unseen: Counter[Entry]


class Baseline:
    """The entries of the file `path`; none, when it is yet to be written."""

    def __init__(self, path: str, entries: Counter[Entry] | None = None) -> None:
        self.path = path
        self.entries = Counter[Entry]() if entries is None else entries
        self._folder = os.path.dirname(os.path.abspath(path))

    def compare(
        self,
        findings: Iterable[Finding],
        project: Project,
        paths: Sequence[str],
        config: Config,
    ) -> Compared:
        """Return which findings of a run on `paths` are new, and which entries have none any more.

        Of more equal findings than there are entries, the last ones count as new.
        """
        if not self.entries:
            return Compared(list(findings), [], Counter(), Counter())
        left = Counter(self.entries)
        new, old = [], []
        for finding, entry in self.named(findings, project.sources):
            if left[entry] and is_wrong(finding):
                left[entry] -= 1
                old.append(finding)
            else:
                new.append(finding)
        left = +left
        known, selected = rules.load(), select(config)
        failed = {self._name(error.path) for error in project.errors}
        roots = [self._name(path) for path in paths if path != "-"]
        gone = Counter(
            {
                entry: count
                for entry, count in left.items()
                if entry.path not in failed
                and (entry.rule in selected or entry.rule not in known)
                and (self._is_missing(entry) or any(_is_in(entry.path, root) for root in roots))
            }
        )
        return Compared(new, old, gone, left - gone)

    def named(
        self, findings: Iterable[Finding], sources: Mapping[str, Source]
    ) -> Iterator[tuple[Finding, Entry]]:
        """Yield findings with what each is called in the file."""
        lines: dict[str, list[tuple[int, str]]] = {}
        for finding in findings:
            path = finding.path
            if path not in lines:
                lines[path] = logical_lines(sources[path])
            at = bisect_right(lines[path], finding.span.line, key=lambda line: line[0]) - 1
            code = _short(lines[path][at][1]) if at >= 0 else ""
            yield finding, Entry(self._name(path), finding.rule, code)

    def _name(self, path: str) -> str:
        """Return what the file `path` is called in the baseline."""
        name = os.path.abspath(path)
        with contextlib.suppress(ValueError):  # another drive of Windows
            name = os.path.relpath(name, self._folder)
        name = printable(name.replace(os.sep, "/"))
        return f"./{name}" if name.startswith("#") else name

    def _is_missing(self, entry: Entry) -> bool:
        return not os.path.lexists(os.path.join(self._folder, entry.path))


def read(path: str) -> Baseline:
    """Return the baseline in a file.

    Raises `ConfigError`, with the line where there is one, for a file that cannot be read or that
    is no baseline.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; --write-baseline makes it") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not a baseline: not UTF-8 text") from None
    entries: Counter[Entry] = Counter()
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        if _CONFLICT.match(line):
            raise ConfigError(f"{path}:{number}: a merge conflict: keep the lines of both sides")
        fields = line.split("\t")
        if len(fields) != 3:
            raise ConfigError(f"{path}:{number}: expected path, rule and code with tabs between")
        path_, rule, code = fields
        entries[Entry(path_, current_rule(rule), code)] += 1
    return Baseline(path, entries)


def write(path: str, entries: Counter[Entry]) -> None:
    """Write a baseline file, sorted; raises `SourceError` when that cannot be done."""
    write_.replace(path, text(entries).encode())


def text(entries: Counter[Entry]) -> str:
    """Return the text of a baseline file, sorted."""
    return _HEAD + "".join("\t".join(entry) + "\n" for entry in sorted(entries.elements()))


def update(
    config: Config,
    findings: Iterable[Finding],
    project: Project,
    paths: Sequence[str],
    *,
    add: bool,
) -> str:
    """Rewrite the settings' baseline after a run on `paths`; returns what was done, in words.

    Repaired findings leave it, and with `add` new ones enter. What the run did not cover stays.
    Raises `ConfigError` for a file that is no baseline and `SourceError` when it cannot be written.
    """
    path = config.baseline
    before = read(path) if not add or os.path.lexists(path) else Baseline(path)
    compared = before.compare(findings, project, paths, config)
    after = before.entries - compared.gone
    wrong = filter(is_wrong, compared.new)
    new = Counter(entry for _, entry in before.named(wrong, project.sources))
    if add:
        after += new
    if after != before.entries or not os.path.lexists(path):
        write(path, after)
    count = after.total()
    findings_ = "finding" if count == 1 else "findings"
    told = f"{path}: {count:,} {findings_}, {compared.gone.total():,} taken out"
    if add:
        return f"{told}, {new.total():,} new"
    return f"{told}; not in it: {new.total():,} new" if new else told


def _is_in(path: str, root: str) -> bool:
    return path == root or root == "." or path.startswith(root + "/")


def logical_lines(source: Source) -> list[tuple[int, str]]:
    """Return the number of its first line and the code of each logical line, in order."""
    found: list[tuple[int, str]] = []
    parts: list[str] = []
    first = 0
    try:
        for line, text in _words(source):
            if not text:
                found.append((first, "".join(parts)))
                parts = []
                continue
            if not parts:
                first = line
            elif text in _CLOSING and parts[-1] == ",":
                parts.pop()
            if parts and _is_word(parts[-1][-1]) and _is_word(text[0]):
                parts.append(" ")
            parts.append(text)
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # `ast` could read it, and tokenize refuses more
    return found


def _words(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each token that counts; an empty one ends a logical line."""
    depth, start = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source.text, newline="\n").readline):
        if token.type in _INNER_START:
            if not depth:
                start = token.start
            depth += 1
        elif token.type in _INNER_END:
            depth -= 1
            if not depth:
                text = source.text[source.offset(*start) : source.offset(*token.end)]
                yield start[0], _string(text)
        elif depth or token.type in _LAYOUT:
            continue
        elif token.type == tokenize.NEWLINE:
            yield token.start[0], ""
        elif token.type == tokenize.STRING:
            yield token.start[0], _string(token.string)
        else:
            yield token.start[0], token.string


def _string(text: str) -> str:
    plain = _STRING.fullmatch(text)
    return f'{plain[1]}"{plain[2]}"' if plain else text


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_\"'"


def _short(code: str) -> str:
    text = printable(code)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}"
