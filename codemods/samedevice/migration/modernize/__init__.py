"""Python 2 and pre-3.7 text -> the same program in Python 3, with the smallest diff.

Needs the extra `samedevice[modernize]`: Bowler's queries and fissix's parser read what neither
`ast` nor libcst can. Everything happens in memory; only `command` writes files.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...reading.source import SourceError, from_text


@dataclass(frozen=True)
class Modernized:
    """What became of a text.

    `changes` are (line, what), by lines of the old text; `notes` are (line, what to look at by
    hand), by lines of the new one; with `errors`, (line, why), the text is the old one.
    """

    text: str
    changes: tuple[tuple[int, str], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    errors: tuple[tuple[int, str], ...] = ()


def modernize(text: str, path: str, everything: bool = False) -> Modernized:
    """Return `text` as Python 3.

    A text that parses as Python 3 comes back as it is. With `everything`, it is changed too if
    it uses names that Python 3 does not have. `path` is only asked for what lies beside it, to
    tell a relative import. Raises `ImportError` where Bowler is not installed and needed.
    """
    source = from_text(text)
    failure = _failure(source.text)
    if failure is None and not everything:
        return Modernized(text)
    from . import convert

    try:
        result = convert.convert(source.text, path)
    except convert.NotParsed as error:
        if failure is None:  # newer than fissix's grammar: nothing of Python 2 can be in it
            return Modernized(text)
        line = failure.line or 1
        why = f"neither Python 3 (line {line}: {failure.message})"
        why += f" nor Python 2 (line {error.line}: {error.what})"
        return _refused(text, (max(line, error.line), why))
    except RecursionError:
        return _refused(text, (1, "the code is nested too deeply to convert"))
    if result.errors:
        return _refused(text, *result.errors)
    broken = _failure(result.text)
    if broken is not None:
        return _refused(text, (broken.line or 1, f"still not Python 3: {broken.message}"))
    if result.text == source.text:
        return Modernized(text)
    new = source.encode(result.text).decode()
    return Modernized(new, tuple(sorted(set(result.changes))), tuple(result.notes))


def _refused(text: str, *errors: tuple[int, str]) -> Modernized:
    return Modernized(text, errors=errors)


def _failure(text: str) -> SourceError | None:
    try:
        _ = from_text(text).tree
    except SourceError as error:
        return error
    return None
