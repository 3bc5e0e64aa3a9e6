"""Comments that switch rules off: `# samedevice: ignore` and `# samedevice: ignore[rule, rule]`.

A comment speaks for its own line; one that has a line to itself speaks for the next line of code.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import replace

from .finding import Finding, Span
from .source import Source

_COMMENT = re.compile(r"#\s*samedevice:\s*ignore\s*(?:\[([^\]]*)\])?(?![\w-])")
_SPACE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)


class Suppressions:
    """What the comments of a project switch off."""

    def __init__(self, sources: dict[str, Source]) -> None:
        self._sources = sources
        self._lines: dict[str, dict[int, frozenset[str] | None]] = {}

    def covers(self, path: str, span: Span, rule: str) -> bool:
        """Tell whether a comment on the first or last line of `span` switches `rule` off."""
        if path not in self._lines:
            source = self._sources.get(path)
            self._lines[path] = _comments(source.text) if source else {}
        lines = self._lines[path]
        return any(
            rules is None or rule in rules
            for rules in (lines.get(line, frozenset()) for line in {span.line, span.end_line})
        )

    def apply(self, finding: Finding) -> Finding | None:
        """Return `finding`, without a fix that would touch such a line; None if it is on one."""
        if self.covers(finding.path, finding.span, finding.rule):
            return None
        for edit in finding.fix.edits if finding.fix else ():
            if self.covers(edit.path, edit.span, finding.rule):
                place = f"{edit.path}:{edit.span.line}"
                return replace(
                    finding, fix=None, unfixed=f"a comment at {place} says to leave that line"
                )
        return finding


def _comments(text: str) -> dict[int, frozenset[str] | None]:
    """Return the rules switched off by line (None: all of them)."""
    if "samedevice:" not in text:
        return {}
    found: dict[int, frozenset[str] | None] = {}
    waiting: list[frozenset[str] | None] = []  # from comments with a line to themselves
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line, column = token.start
            if token.type == tokenize.COMMENT:
                match = _COMMENT.match(token.string)
                if match:
                    listed = match[1]
                    rules = None if listed is None else frozenset(re.split(r"[\s,]+", listed))
                    if token.line[:column].strip():
                        _add(found, line, rules)
                    else:
                        waiting.append(rules)
            elif token.type not in _SPACE:
                while waiting:
                    _add(found, line, waiting.pop())
    except (tokenize.TokenError, SyntaxError):
        pass  # the comments before the place count; `source` reports the place itself
    return found


def _add(found: dict[int, frozenset[str] | None], line: int, rules: frozenset[str] | None) -> None:
    other = found.get(line, frozenset())
    found[line] = None if rules is None or other is None else rules | other
