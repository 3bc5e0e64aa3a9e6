"""New code has the quotes of the code around it."""

from __future__ import annotations

import re
from dataclasses import replace

from ..finding import Edit
from ..reading.source import Source

#: The words that fixes write, which are code of ours and no text of the user's.
_OURS = re.compile(r'"((?:cuda|cpu|gloo|nan|CPU|mps|xpu|hpu|npu)(?::[^"\']*)?)"')
_SINGLE = re.compile(r"(?<!['\"\w])[rbfu]{0,2}'[^'\"\n]*'(?!')")
_DOUBLE = re.compile(r"(?<!['\"\w])[rbfu]{0,2}\"[^'\"\n]*\"(?!\")")


class Quotes:
    """The quotes of one source: those of the lines that are changed, else what it has most of."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._single = _prefers_single(source.text)

    def of(self, edit: Edit) -> Edit:
        """Return an edit with the quotes of its place."""
        if not any('"' in value for _, value in edit.args):
            return edit
        last = min(edit.span.end_line, edit.span.line + 20)
        here = "\n".join(self._source.line(line) for line in range(edit.span.line, last + 1))
        single = self._single if _prefers_single(here) is None else _prefers_single(here)
        if not single:
            return edit
        return replace(edit, args=tuple((name, _swapped(value)) for name, value in edit.args))

    def definition(self, code: str) -> str:
        """Return a statement that stands by itself with the quotes of the file."""
        return _swapped(code) if self._single else code


def _swapped(code: str) -> str:
    return _OURS.sub(r"'\1'", code)


def _prefers_single(text: str) -> bool | None:
    """Tell whether there are more single quotes around words than double ones; None for neither."""
    single, double = len(_SINGLE.findall(text)), len(_DOUBLE.findall(text))
    return None if single == double else single > double
