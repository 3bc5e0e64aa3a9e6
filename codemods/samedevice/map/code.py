"""The code of a file -> HTML with its values marked, and what the page's script tells of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from ..inference.trace import Event, Life
from ..report.shell import UNSEEN, visible
from . import lines
from .lines import Rows
from .look import CSS
from .model import File, View
from .names import Names

#: Lines of code that are laid out together, when they come into view.
_CHUNK = 50


@dataclass(frozen=True)
class Shown:
    """What of a file is shown: its rows, those `near` findings, lines with a finding and its
    number, and all lines that findings touch.
    """

    rows: Rows
    near: Collection[int]
    flags: Mapping[int, int]
    key: Collection[int]


def marks(text: str) -> str:
    """Return code for HTML, with characters that are not seen in a frame of their own."""
    if text.isascii() and text.isprintable():
        return escape(text)
    out: list[str] = []
    at = 0
    for match in UNSEEN.finditer(text):
        out.append(escape(text[at : match.start()]))
        out.append(f"<s class=ctl>U+{ord(match[0]):04X}</s>")
        at = match.end()
    return "".join(out) + escape(text[at:])


class Writer:
    """Writes panes of code; `infos` is what is said about their values, equal ones once."""

    def __init__(self, names: Names, before: View, after: View | None) -> None:
        self.infos: list[list[Any]] = []
        self._names = names
        self._views = {"b": before, "a": after if after is not None else before}
        self._two = after is not None
        self._known: dict[tuple[Any, ...], int] = {}

    def pane(self, file: File, side: str, shown: Shown) -> Markup:
        """Return the code of one file; side "a" is after the fix."""
        return Markup("\n".join(self._pane(file, side, shown)))

    def _pane(self, file: File, side: str, shown: Shown) -> Iterator[str]:
        wide = max(map(lines.width, lines.text(file.source)), default=0)
        label = self._names.shown(file.path)
        if self._two:
            label += ", after" if side == "a" else ", before"
        yield (
            f'<div class="pane {side}" role="region" tabindex="0" '
            f'aria-label="{escape(label)}"><div class="code" style="--w:{wide}">'
        )
        rows = list(self._rows(file, side, shown))
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            yield f'<div class="chunk" style="--n:{len(part)}">'
            yield from part
            yield "</div>"
        yield "</div></div>"

    def _rows(self, file: File, side: str, shown: Shown) -> Iterator[str]:
        tokens = lines.tokens(file.source)
        lives: dict[int, list[Life]] = {}
        for life in file.lives:
            lives.setdefault(life.span.line, []).append(life)
        text = lines.text(file.source)
        count = len(shown.rows.lines)
        left_out = dict(lines.runs(shown.near, count)) if shown.near else {}
        for at, row in enumerate(shown.rows.lines):
            before = ""
            if at in left_out:
                end = left_out[at]
                words = f"{end - at} line{'s' * (end - at > 1)}"
                before = (
                    f'<button type="button" class="sep" data-rows="{at} {end}" '
                    f'aria-label="Show {words}">\u22ef {words}</button>'
                )
            stays = " nr" * (at in shown.near)
            if row < 0:
                yield f'{before}<div class="l gap{stays}"></div>'
                continue
            number = row + 1
            classes = "l" + " ch" * (row in shown.rows.changed)
            classes += " k" * (side == "b" and number in shown.key) + stays
            anchor = self._names.line(file.path, number, side)
            cell = file.source.cell_of(number)
            if cell is not None and cell[1] == 0:
                yield f'{before}<div class="{classes} cell" id="{anchor}">cell {cell[0] + 1}</div>'
                continue
            bolt = shown.flags.get(number) if side == "b" else None
            flag = (
                f'<a class="flag" href="#finding-{bolt + 1}" data-clash="{bolt}" '
                f'aria-label="finding {bolt + 1}">\u26a1</a>' if bolt is not None else ""
            )  # fmt: skip
            code = self._marked(text[row], lives.get(number, ()), tokens.get(number, ()), side)
            yield (
                f'{before}<div class="{classes}" id="{anchor}">{flag}'
                f"<b class=n>{cell[1] if cell is not None else number}</b>"
                f"<code>{code}</code></div>"
            )

    def _marked(
        self, line: str, lives: Sequence[Life], tokens: Sequence[tuple[int, int, str]], side: str
    ) -> str:
        """Return a line of code with its values and tokens marked."""
        out: list[str] = []
        for start, end, index in lines.pieces(line, [ends(life, line) for life in lives]):
            if index >= 0:
                out.append(self._value(lives[index], marks(line[start:end]), side))
                continue
            at = start
            for left, right, name in tokens:
                left, right = max(left, at), min(right, end)
                if left < right:
                    out.append(marks(line[at:left]))
                    out.append(f"<span class={name}>{marks(line[left:right])}</span>")
                    at = right
            out.append(marks(line[at:end]))
        return "".join(out)

    def _value(self, life: Life, code: str, side: str) -> str:
        classes = f"v {CSS[life.place]}"
        if life.kind in ("moved", "read"):
            classes += " m"
        elif life.kind == "device":
            classes += " d"
        if life.wanted is not None and life.kind not in ("tensor", "tensors", "module"):
            classes += " w"
        return (
            f'<span class="{classes}" role=button tabindex=-1 data-i={self._info(life, side)}>'
            f"{code}</span>"
        )

    def _info(self, life: Life, side: str) -> int:
        """Return the number of what is said about a value; equal ones share it."""
        key = (side, life.kind, life.place, life.wanted, life.device, life.varies, life.chain,
               life.before)  # fmt: skip
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._known)
            self.infos.append([
                life.kind,
                CSS[life.place],
                CSS[life.wanted] if life.wanted is not None else "",
                life.device,
                int(life.varies),
                CSS[life.before] if life.before is not None else "",
                [self._event(event, side) for event in life.chain],
            ])  # fmt: skip
        return known

    def _event(self, event: Event, side: str) -> list[Any]:
        source = self._views[side].files[event.path].source
        return [
            event.what, CSS[event.place], self._names.number(event.path), event.span.line,
            lines.label(source, event.span.line), visible(lines.short(event.code, 90)),
        ]  # fmt: skip


def ends(life: Life, line: str) -> tuple[int, int]:
    """Return where a value begins and ends on the line that it begins on."""
    span = life.span
    return span.column, span.end_column if span.end_line == span.line else len(line)
