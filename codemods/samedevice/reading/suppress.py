"""Comments that switch rules off, and what is wrong with such comments.

`# samedevice: ignore` and `# samedevice: ignore[rule, rule]` speak for their own line, or, with a
line to themselves, for the next line of code. `ignore-next-line` says so wherever it stands, and
`ignore-file` speaks for the whole file. Each may stand beside the comments of other tools:
`# type: ignore  # samedevice: ignore[rule]`.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..finding import RENAMED, Finding, Span, current_rule
from .config import PerFile
from .patterns import Patterns, relative_to
from .source import Source

MISSPELT, UNUSED = "misspelt-suppression", "unused-suppression"
"""The rules that are about these comments themselves."""

_WORDS = ("ignore", "ignore-file", "ignore-next-line")
_OTHERS = ("noqa", "nolint", "skip", "disable", "off", "type")  # what other tools would say
_COMMENT = re.compile(
    r"#\s*(?P<name>same[-_ ]?device)(?P<colon>\s*:)?\s*(?P<word>[A-Za-z][\w-]*)"
    r"\s*(?P<list>\[[^\]]*\])?(?P<rest>[^#]?)",
    re.IGNORECASE,
)
# One without a `#` of its own, behind another tool's words; in quotes it is only mentioned.
_BEHIND = re.compile(
    r"(?<![\s#\"'`])[ \t]+(?P<text>samedevice\s*:\s*(?:ignore-file|ignore-next-line|ignore)\b"
    r"(?:\s*\[[^\]]*\])?)"
)
_NAMED = re.compile(r"same[-_ ]?device")
_SPACE = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
_ALIKE = 0.75  # from here a word is meant to be one of ours


@dataclass(frozen=True)
class Comment:
    """One comment of ours: where it is, what it switches off, and for which line.

    `rules` is None for all of them; those in `renamed` stand there under an old name. `line` is
    None for the whole file, and 0 where no code follows. `wrong` says what keeps it from being
    understood; it then switches nothing off.
    """

    span: Span
    rules: tuple[str, ...] | None
    line: int | None
    wrong: str = ""
    renamed: tuple[str, ...] = ()


class Suppressions:
    """What the comments of a project, and its settings for single files, switch off."""

    def __init__(self, sources: Mapping[str, Source], per_file: Collection[PerFile] = ()) -> None:
        self.sources = sources
        self._per_file = per_file
        self._files: dict[str, _File] = {}
        self._used: set[tuple[str, Comment, str]] = set()

    def covers(self, path: str, span: Span, rule: str) -> bool:
        """Tell whether `rule` is off on the first or last line of `span`."""
        file = self._file(path)
        covering = [comment for comment in file.over(span) if _names(comment, rule)]
        self._used.update((path, comment, rule) for comment in covering)
        return bool(covering) or rule in file.ignored

    def apply(self, finding: Finding) -> Finding | None:
        """Return `finding`, without a fix that would touch such a line; None if it is on one."""
        if self.covers(finding.path, finding.span, finding.rule):
            return None
        for edit in finding.fix.edits if finding.fix else ():
            if self.covers(edit.path, edit.span, finding.rule):
                source = self.sources.get(edit.path)
                line = edit.span.line
                place = source.where(line) if source is not None else f"{edit.path}:{line}"
                return replace(
                    finding, fix=None, unfixed=f"a comment or setting at {place} keeps that line"
                )
        return finding

    def unused(
        self, paths: Iterable[str], selected: Collection[str], known: Collection[str]
    ) -> Iterator[Finding]:
        """Yield a note for each comment of some files that switched nothing off.

        Only rules that were `selected` can tell, and of a comment for all rules, all `known` ones.
        """
        if UNUSED not in selected:
            return
        for path in paths:
            for comment in self._file(path).comments:
                used = {rule for where, one, rule in self._used if (where, one) == (path, comment)}
                if comment.wrong:
                    continue
                if comment.rules is None:
                    idle = "" if used or len(selected) < len(known) else "no rule"
                else:
                    names = [
                        rule for rule in comment.rules if rule in selected and rule not in used
                    ]
                    idle = ", ".join(name for name in names if name not in (UNUSED, MISSPELT))
                named = [UNUSED in (one.rules or ()) for one in self._file(path).over(comment.span)]
                if idle and not any(named) and UNUSED not in self._file(path).ignored:
                    yield _unused(path, comment, idle)

    def _file(self, path: str) -> _File:
        if path not in self._files:
            source = self.sources.get(path)
            comments = tuple(comments_of(source.text)) if source else ()
            self._files[path] = _File(comments, frozenset(self._ignored(path)))
        return self._files[path]

    def _ignored(self, path: str) -> Iterator[str]:
        """Yield the rules that the settings switch off in a file."""
        for setting, spec in self._specs:
            relative = relative_to(path, setting.root)
            if relative and spec.matches(relative.replace(os.sep, "/")):
                yield from setting.rules

    @cached_property
    def _specs(self) -> list[tuple[PerFile, Patterns]]:
        return [(one, Patterns([one.pattern])) for one in self._per_file]


@dataclass(frozen=True)
class _File:
    comments: tuple[Comment, ...]
    ignored: frozenset[str]

    def over(self, span: Span) -> Iterator[Comment]:
        """Yield the comments that speak for the first or the last line of a range."""
        for comment in self.comments:
            if comment.line in (None, span.line, span.end_line) and not comment.wrong:
                yield comment


def _names(comment: Comment, rule: str) -> bool:
    return comment.rules is None or rule in comment.rules


def _unused(path: str, comment: Comment, idle: str) -> Finding:
    what = "this comment" if idle == "no rule" else f"`ignore` of {idle}"
    message = f"{what} switches nothing off: the rule finds nothing here"
    return Finding(path, comment.span, UNUSED, message, unfixed="take it out", level="note")


def meant(comment: Comment, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what is misspelt in a comment, each with what may be meant."""
    if comment.wrong:
        yield "this comment switches nothing off: it is misspelt", f"write `# {comment.wrong}`"
        return
    known = list(known)
    for rule in comment.rules or ():
        if rule not in known:
            close = difflib.get_close_matches(rule, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "`samedevice rules` lists them"
            yield f"this comment names a rule that does not exist: {rule}", hint


def comments_of(text: str) -> Iterator[Comment]:
    """Yield the comments of ours in a text, and those that look as if they were meant to be."""
    if not _NAMED.search(text.lower()):  # much faster than what follows
        return
    if not (_COMMENT.search(text) or _BEHIND.search(text)):
        return  # a file that only speaks of "the same device" need not be taken apart
    waiting: list[Comment] = []  # those that speak for the next line of code
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                alone = not token.line[:column].strip()
                for match in () if alone else _BEHIND.finditer(token.string):
                    first, last = column + match.start("text"), column + match.end("text")
                    yield Comment(Span(line, first, line, last), None, line, match["text"])
                for match in _COMMENT.finditer(token.string):
                    comment = _comment(match, line, column)
                    if comment is None or comment.wrong or comment.line is None:
                        if comment is not None:
                            yield comment
                    elif alone or match["word"] == "ignore-next-line":
                        waiting.append(comment)
                    else:
                        yield comment
            elif token.type not in _SPACE and waiting:
                yield from (replace(comment, line=token.start[0]) for comment in waiting)
                waiting = []
    except (tokenize.TokenError, SyntaxError):
        pass  # the comments before the place count; `source` reports the place itself
    yield from (replace(one, line=0) for one in waiting)


def _comment(match: re.Match[str], line: int, column: int) -> Comment | None:
    """Return what a comment says; None for one that only happens to begin with the name."""
    word, listed = match["word"], match["list"]
    end = match.end("list") if listed else match.end("word")
    span = Span(line, column + match.start(), line, column + end)
    written = () if listed is None else tuple(re.split(r"[\s,]+", listed[1:-1].strip()))
    rules = None if listed is None else tuple(map(current_rule, written))
    renamed = tuple(name for name in written if name in RENAMED)
    exact = match["name"] == "samedevice" and match["colon"] is not None
    if exact and rules == ("",):
        return Comment(span, rules, line, f"samedevice: {word}[RULE]")
    if exact and word in _WORDS and match["rest"] != "[":
        at = None if word == "ignore-file" else line
        return Comment(span, rules, at, renamed=renamed)
    close = difflib.get_close_matches(word.lower(), _WORDS, n=1, cutoff=_ALIKE)
    if close:
        return Comment(span, rules, line, f"samedevice: {close[0]}{listed or ''}")
    if match["colon"] is not None and word.lower() in _OTHERS:
        return Comment(span, rules, line, f"samedevice: ignore{listed or ''}")
    return None
