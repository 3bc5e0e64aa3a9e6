"""What a map shows -> one HTML document: no request, no script but its own, all text escaped."""

from __future__ import annotations

import io
import json
import keyword
import os
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files as package_files
from typing import Any
from unicodedata import east_asian_width
from urllib.parse import quote

from ..finding import Span
from ..places.graph import Place
from ..places.trace import WORDS, Event, Life
from ..report.diff import opcodes
from ..report.shell import UNSEEN, document, visible
from ..report.shell import text as _text
from ..source import Source
from . import graph
from .model import At, Clash, File, View, pieces

#: Lines of code that are laid out together, when they come into view.
_CHUNK = 50
#: Lines shown around a clash when only clashes are shown.
_AROUND = 2
#: Lines of two versions that are compared; longer files are shown without being lined up.
_COMPARED = 20_000

CLASSES = {
    Place.HOST: "h", Place.CENTRAL: "c", Place.FIXED: "x", Place.FOLLOWS: "f", Place.UNKNOWN: "u",
}  # fmt: skip
_LEGEND = {
    Place.HOST: ("CPU", "C", "on the CPU"),
    Place.CENTRAL: ("device", "D", "on the project\u2019s device"),
    Place.FIXED: ("pinned", "P", "on a second device, by name"),
    Place.FOLLOWS: ("as input", "I", "where its input or its module is"),
    Place.UNKNOWN: ("unknown", "?", "not decided by what can be read"),
}


@dataclass(frozen=True)
class Page:
    """A map: the document, and where each file that it shows is in it, as the end of an address."""

    text: str
    anchors: Mapping[str, str]


def render(
    before: View, after: View | None, *, title: str, root: str = "", only: Collection[str] = ()
) -> Page:
    """Return the page.

    Files are called by their path under the folder `root`. `only` names the files whose source is
    shown, all of them when empty.
    """
    page = _Page(before, after, root, only)
    body = "\n".join(page.body(title))
    data = json.dumps(page.data, separators=(",", ":"), ensure_ascii=True)
    body += f'\n<script type="application/json" id="data">{_json_in_html(data)}</script>'
    name = f"{title or 'project'}: where its tensors live"
    return Page(document(name, body, _asset("page.css"), _asset("page.js")), page.anchors)


@cache
def _asset(name: str) -> str:
    return (package_files(__package__) / name).read_text("utf-8")


def _json_in_html(data: str) -> str:
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _code(text: str) -> str:
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


class _Page:
    """One page while it is made; `data` is what its script needs, `anchors` are as in `Page`."""

    def __init__(self, before: View, after: View | None, root: str, only: Collection[str]) -> None:
        self.before = before
        self.after = after
        self._root = root.replace("\\", "/").rstrip("/") + "/"
        self.only = only
        self.paths = list(dict.fromkeys([*before.files, *(after.files if after else ())]))
        self.anchors: dict[str, str] = {}
        self._infos: dict[tuple[Any, ...], int] = {}
        self.data: dict[str, Any] = {
            "files": [[visible(self._name(path)), self._id(path)] for path in self.paths],
            "words": {CLASSES[place]: words for place, words in WORDS.items()},
            "infos": [],
            "clashes": [],
        }

    # -- the page ---------------------------------------------------------------------------

    def body(self, title: str) -> Iterator[str]:
        """Yield the lines of the body."""
        shown = [
            path for path in self.paths
            if (not self.only or path in self.only) and self._has_marks(path)
        ]  # fmt: skip
        self.anchors = {path: self._id(path) for path in shown}
        clashes = self._numbered(shown)
        yield '<a class="skip" href="#code">Skip to the code</a>'
        yield from self._header(title, len(clashes), shown)
        yield '<main id="main">'
        yield from self._overview(shown)
        yield from self._clash_list(clashes)
        sides = ' class="two"' if self.after else ""
        yield f'<section id="code"{sides} aria-label="Source code">'
        if not shown:
            yield '<p class="empty">No tensor, module or move was found.</p>'
        for path in shown:
            yield from self._file(path, clashes)
        yield "</section>"
        yield from self._left_out(shown)
        yield "</main>"
        yield '<div id="card" role="tooltip" hidden></div>'
        yield '<svg id="arrows" aria-hidden="true"></svg>'

    def _has_marks(self, path: str) -> bool:
        return any(
            view is not None and path in view.files
            and (view.files[path].lives or view.files[path].clashes)
            for view in (self.before, self.after)
        )  # fmt: skip

    def _header(self, title: str, clashes: int, shown: Sequence[str]) -> Iterator[str]:
        counts = self.before.counts
        after = self.after.counts if self.after else None
        yield "<header>"
        yield '<div class="bar">'
        yield f"<h1>{_text(title or 'project')}</h1>"
        yield '<div class="legend" role="group" aria-label="Places: press one to hide its colour">'
        for place, (name, letter, meaning) in _LEGEND.items():
            number = f"{counts[place]:,}"
            if after is not None:
                number += f' <span class="to">\u2192</span> {after[place]:,}'
            yield (
                f'<button type="button" class="key {CLASSES[place]}" aria-pressed="true" '
                f'data-place="{CLASSES[place]}" title="{escape(meaning)}">'
                f'<span class="letter" aria-hidden="true">{letter}</span>'
                f'<span class="v {CLASSES[place]}">{name}</span> '
                f'<span class="count">{number}</span></button>'
            )
        yield "</div>"
        yield '<div class="tools">'
        disabled = "" if clashes else " disabled"
        label = f"{clashes} finding" + ("" if clashes == 1 else "s")
        yield (
            f'<button type="button" id="only" aria-pressed="false"{disabled}>'
            f'<span class="bolt" aria-hidden="true">\u26a1</span> only {label}</button>'
        )
        if clashes:
            yield (
                '<button type="button" id="previous" aria-label="Previous finding (p)" '
                'title="Previous finding (p)">\u2191</button>'
                '<button type="button" id="next" aria-label="Next finding (n)" '
                'title="Next finding (n)">\u2193</button>'
            )
        if self.after:
            yield '<div role="radiogroup" aria-label="Show" class="sides">'
            for value, label in (("both", "both"), ("before", "before"), ("after", "after")):
                checked = " checked" if value == "both" else ""
                yield (
                    f'<label><input type="radio" name="side" value="{value}"{checked}>'
                    f"{label}</label>"
                )
            yield "</div>"
        yield '<button type="button" id="letters" aria-pressed="false" '
        yield 'title="Write a letter for the place at each value">letters</button>'
        yield '<button type="button" id="theme" title="Light or dark">theme</button>'
        yield "</div></div></header>"

    def _overview(self, shown: Sequence[str]) -> Iterator[str]:
        view = self.before
        yield '<section class="overview" aria-labelledby="overview">'
        yield '<h2 id="overview">The project</h2>'
        summary = _summary(view)
        if self.after is not None:
            left = len(self.after.clashes)
            summary += f" After <code>samedevice fix</code>: {_count(left, 'finding')} left."
        yield f"<p>{summary}</p>"
        files = {path: view.files[path] for path in shown if path in view.files}
        if len(files) > 1:
            side = "b" if self.after is None else "a"
            after = self.after.files if self.after else {}
            yield graph.draw(
                files,
                after,
                self._name,
                self._id,
                lambda path, line: self._line_id(path, line, side),
            )
        yield '<div class="scroll"><table class="files"><caption class="hidden">'
        yield "Files with the number of values in each place</caption><thead><tr>"
        yield '<th scope="col">file</th><th scope="col">modules</th>'
        for place, (name, _, _) in _LEGEND.items():
            yield f'<th scope="col" class="number {CLASSES[place]}">{name}</th>'
        yield '<th scope="col">enters the device</th><th scope="col">leaves it</th>'
        yield '<th scope="col" class="number">findings</th></tr></thead><tbody>'
        for path, file in files.items():
            now = self.after.files.get(path) if self.after else None
            counts, later = file.counts, now.counts if now is not None else None
            link = f'<a href="#{self._id(path)}">{_text(self._name(path))}</a>'
            yield f'<tr><th scope="row">{link}</th>'
            yield f"<td>{_listed(_text(name) for name in file.modules)}</td>"
            for place in _LEGEND:
                yield f'<td class="number {CLASSES[place]}">{_change(counts, later, place)}</td>'
            moves = file if now is None else now
            yield f"<td>{self._lines_of(moves, moves.enters)}</td>"
            yield f"<td>{self._lines_of(moves, moves.leaves)}</td>"
            found = str(len(file.clashes) or "")
            if now is not None and len(now.clashes) != len(file.clashes):
                found = f"{len(file.clashes)} \u2192 {len(now.clashes)}"
            yield f'<td class="number bad">{found}</td></tr>'
        yield "</tbody></table></div></section>"

    def _lines_of(self, file: File, lives: Sequence[Life]) -> str:
        lines = list(dict.fromkeys(life.span.line for life in lives))
        side = "a" if self.after and self.after.files.get(file.path) is file else "b"
        links = [
            f'<a href="#{self._line_id(file.path, line, side)}">{_label(file.source, line)}</a>'
            for line in lines[:6]
        ]
        more = f" +{len(lines) - 6}" if len(lines) > 6 else ""
        return ", ".join(links) + more

    def _clash_list(self, clashes: Sequence[Clash]) -> Iterator[str]:
        if not clashes:
            return
        yield '<section class="clashes" aria-labelledby="clashes">'
        yield f'<h2 id="clashes">{_count(len(clashes), "finding")}</h2><ol>'
        for number, clash in enumerate(clashes):
            finding = clash.finding
            where = self._link(finding.path, finding.span)
            fix = finding.fix
            note = (
                '<span class="fix">samedevice fix repairs it</span>' if fix and fix.safe
                else '<span class="fix">samedevice fix --unsafe repairs it</span>' if fix
                else ""
            )  # fmt: skip
            yield f'<li id="finding-{number + 1}" data-clash="{number}"><div>'
            yield f'{where} <span class="rule">{_text(finding.rule)}</span> {note}</div>'
            yield f'<p><button type="button" class="show">{_message(finding.message)}</button></p>'
            if clash.meeting is not None:
                yield "<ul>" + "".join(self._ends(clash)) + "</ul>"
            yield "</li>"
        yield "</ol></section>"

    def _ends(self, clash: Clash) -> Iterator[str]:
        assert clash.meeting is not None
        ends = [(clash.origin, clash.origin_place, "decided here:")]
        if clash.other is not None:
            ends.append((clash.other, clash.other_place, "decided here:"))
        for at, place, what in ends:
            name = _LEGEND[place][0]
            yield f'<li><span class="v {CLASSES[place]}">{name}</span> {what} '
            yield f"{self._link(at.path, at.span)} <code>{self._short(at)}</code></li>"
        at = clash.meeting
        if at != At(clash.finding.path, clash.finding.span):
            together = len({place for _, place, _ in ends}) == 1
            what = "both have to be on the device:" if together else "they meet:"
            yield f'<li><span class="bolt" aria-hidden="true">\u26a1</span> {what} '
            yield f"{self._link(at.path, at.span)} <code>{self._short(at)}</code></li>"

    def _short(self, at: At) -> str:
        file = self.before.files.get(at.path)
        if file is None:
            return ""
        code = " ".join(file.source.slice(at.span).split())
        return _code(code if len(code) <= 80 else code[:79] + "\u2026")

    def _left_out(self, shown: Sequence[str]) -> Iterator[str]:
        hidden = [path for path in self.paths if path not in shown and not self.only]
        errors = self.before.errors
        if hidden:
            yield f'<details class="rest"><summary>{_count(len(hidden), "file")} without tensors'
            yield "</summary><ul>"
            yield from (f"<li><code>{_text(self._name(path))}</code></li>" for path in hidden)
            yield "</ul></details>"
        if errors:
            yield '<section class="rest"><h2>Not on the map</h2><ul>'
            yield from (f"<li>{_text(str(error))}</li>" for error in errors)
            yield "</ul></section>"

    # -- clashes ----------------------------------------------------------------------------

    def _numbered(self, shown: Sequence[str]) -> list[Clash]:
        """Return the clashes of the files that are shown, and give the script their ends."""
        clashes = [c for path in shown if path in self.before.files
                   for c in self.before.files[path].clashes]  # fmt: skip
        for clash in clashes:
            ends = [self._end(clash.origin, clash.origin_place)]
            if clash.other is not None:
                ends.append(self._end(clash.other, clash.other_place))
            meeting = clash.meeting
            if meeting is not None and meeting.path not in shown:
                meeting = None
            self.data["clashes"].append({
                "ends": [end for end in ends if end[0] in {self.paths.index(p) for p in shown}],
                "at": self._end(meeting, Place.UNKNOWN)[:3] if meeting is not None else None,
                "line": [self.paths.index(clash.finding.path), clash.finding.span.line],
            })  # fmt: skip
        return clashes

    def _end(self, at: At, place: Place) -> list[Any]:
        return [self.paths.index(at.path), at.span.line, at.span.column, CLASSES[place]]

    # -- files ------------------------------------------------------------------------------

    def _file(self, path: str, clashes: Sequence[Clash]) -> Iterator[str]:
        old = self.before.files.get(path)
        new = self.after.files.get(path) if self.after else None
        about = [c for c in clashes if path in _paths(c)]
        classes = "file bad" if about else "file"
        yield f'<article class="{classes}" id="{self._id(path)}">'
        shown = old or new
        assert shown is not None
        folder, _, name = self._name(path).rpartition("/")
        prefix = f'<span class="folder">{_text(folder)}/</span>' if folder else ""
        yield f'<h2 class="path"><a href="#{self._id(path)}">{prefix}{_text(name)}</a> '
        yield from self._tally(shown)
        if self.after and old is None:
            yield '<span class="new">new</span>'
        yield "</h2>"
        pairs = _aligned(old, new) if self.after else None
        yield '<div class="panes">'
        if self.after is None:
            assert old is not None
            whole = range(len(_lines(old.source)))
            near = _near(whole, self._ends_in(path, about, clashes)[1])
            yield from self._pane(old, "b", about, whole, clashes, near)
        else:
            assert pairs is not None
            key = self._ends_in(path, about, clashes)[1]
            near = _near(pairs[0], key)
            for file, side, rows in ((old, "b", pairs[0]), (new, "a", pairs[1])):
                if file is None:
                    label = "before" if side == "b" else "after"
                    yield f'<div class="pane {side}"><p class="empty">not there {label}</p></div>'
                else:
                    ours = about if side == "b" else []
                    yield from self._pane(file, side, ours, rows, clashes, near)
        yield "</div></article>"

    def _tally(self, file: File) -> Iterator[str]:
        counts = file.counts
        for place, (name, _, _) in _LEGEND.items():
            if counts[place]:
                yield (
                    f'<span class="tally {CLASSES[place]}" title="{counts[place]} {name}">'
                    f'<span class="v {CLASSES[place]}">{name}</span> {counts[place]}</span>'
                )

    def _pane(
        self, file: File, side: str, about: Sequence[Clash], rows: Sequence[int],
        clashes: Sequence[Clash], near: Collection[int],
    ) -> Iterator[str]:  # fmt: skip
        """Yield the code of one file; `rows` are its lines from 0, and -1 for an empty one.

        Of these the ones at `near` stay when only findings are shown.
        """
        source = file.source
        lines = _lines(source)
        tokens = _tokens(source)
        marks: dict[int, list[Life]] = {}
        for life in file.lives:
            marks.setdefault(life.span.line, []).append(life)
        ends, key = self._ends_in(file.path, about, clashes)
        width = max((_width(line) for line in lines), default=0)
        changed = set()
        if rows is not None and isinstance(rows, _Rows):
            changed = rows.changed
        name = "before" if side == "b" else "after"
        label = self._name(file.path) + (f", {name}" if self.after else "")
        yield (
            f'<div class="pane {side}" role="region" tabindex="0" '
            f'aria-label="{_text(label)}"><div class="code" style="--w:{width}">'
        )
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            yield f'<div class="chunk" style="--n:{len(part)}">'
            for at, row in enumerate(part, start):
                number = row + 1
                stays = " nr" * (at in near) + " sk" * (at in near and at - 1 not in near)
                if row < 0:
                    yield f'<div class="l gap{stays}"></div>'
                    continue
                classes = "l"
                if row in changed:
                    classes += " ch"
                classes += " k" * (number in key) + stays
                line = lines[row]
                cell = source.cell_of(number)
                if cell is not None and cell[1] == 0:
                    anchor = self._line_id(file.path, number, side)
                    yield f'<div class="{classes} cell" id="{anchor}">cell {cell[0] + 1}</div>'
                    continue
                shown = cell[1] if cell is not None else number
                bolt = ends.get(number)
                flag = (
                    f'<a class="flag" href="#finding-{bolt + 1}" data-clash="{bolt}" '
                    f'aria-label="finding {bolt + 1}">\u26a1</a>' if bolt is not None else ""
                )  # fmt: skip
                anchor = self._line_id(file.path, number, side)
                code = self._marked(line, marks.get(number, ()), tokens.get(number, ()), side)
                yield (
                    f'<div class="{classes}" id="{anchor}">{flag}<b class=n>{shown}</b>'
                    f"<code>{code}</code></div>"
                )
            yield "</div>"
        yield "</div></div>"

    def _ends_in(
        self, path: str, about: Sequence[Clash], clashes: Sequence[Clash]
    ) -> tuple[dict[int, int], set[int]]:
        """Return the lines with a finding, with its number, and all lines that clashes touch."""
        flags: dict[int, int] = {}
        key: set[int] = set()
        numbers = {id(clash): number for number, clash in enumerate(clashes)}
        for clash in about:
            for at in (clash.origin, clash.meeting, clash.other):
                if at is not None and at.path == path:
                    key.add(at.span.line)
            if clash.finding.path == path:
                flags.setdefault(clash.finding.span.line, numbers[id(clash)])
                key.add(clash.finding.span.line)
        return flags, key

    def _marked(
        self, line: str, lives: Sequence[Life], tokens: Sequence[tuple[int, int, str]], side: str
    ) -> str:
        """Return a line of code with its values and tokens marked."""
        ranges = [
            (life.span.column, life.span.end_column if life.span.end_line == life.span.line
             else len(line))
            for life in lives
        ]  # fmt: skip
        out: list[str] = []
        for start, end, index in pieces(line, ranges):
            if index >= 0:
                out.append(self._value(lives[index], _code(line[start:end]), side))
                continue
            at = start
            for left, right, name in tokens:
                left, right = max(left, at), min(right, end)
                if left < right:
                    out.append(_code(line[at:left]))
                    out.append(f"<span class={name}>{_code(line[left:right])}</span>")
                    at = right
            out.append(_code(line[at:end]))
        return "".join(out)

    def _value(self, life: Life, code: str, side: str) -> str:
        classes = f"v {CLASSES[life.place]}"
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
        known = self._infos.get(key)
        if known is None:
            known = self._infos[key] = len(self._infos)
            self.data["infos"].append([
                life.kind,
                CLASSES[life.place],
                CLASSES[life.wanted] if life.wanted is not None else "",
                life.device,
                int(life.varies),
                CLASSES[life.before] if life.before is not None else "",
                [self._event(event, side) for event in life.chain],
            ])  # fmt: skip
        return known

    def _event(self, event: Event, side: str) -> list[Any]:
        view = self.after if side == "a" and self.after is not None else self.before
        code = " ".join(event.code.split())
        return [
            event.what, CLASSES[event.place], self.paths.index(event.path), event.span.line,
            _label(view.files[event.path].source, event.span.line),
            code if len(code) <= 90 else code[:89] + "\u2026",
        ]  # fmt: skip

    # -- places in the page -----------------------------------------------------------------

    def _line_id(self, path: str, line: int, side: str = "b") -> str:
        return f"{'after:' if side == 'a' else ''}{self._id(path)}:{line}"

    def _name(self, path: str) -> str:
        return path.replace(os.sep, "/").removeprefix(self._root).removeprefix("./")

    def _id(self, path: str) -> str:
        """Return the id of a file: its name, as an address may have it."""
        return quote(self._name(path), safe="/~", errors="surrogatepass")

    def _link(self, path: str, span: Span) -> str:
        label = f"{_text(self._name(path))}:{_label(self.before.files[path].source, span.line)}"
        return f'<a class="at" href="#{self._line_id(path, span.line)}">{label}</a>'


def _paths(clash: Clash) -> set[str]:
    ends = (clash.origin, clash.meeting, clash.other)
    return {clash.finding.path, *(at.path for at in ends if at is not None)}


def _summary(view: View) -> str:
    lines = sum(len(file.source.starts) for file in view.files.values())
    counts = Counter(life.kind for file in view.files.values() for life in file.lives)
    moves = counts["moved"] + counts["read"]
    enters = sum(len(file.enters) for file in view.files.values())
    leaves = sum(len(file.leaves) for file in view.files.values())
    return (
        f"{_count(len(view.files), 'file')}, {_count(lines, 'line')}: "
        f"{_count(sum(view.counts.values()), 'value')} with a place, {_count(moves, 'move')}. "
        f"Values enter the device at {_count(enters, 'site')} and leave it at "
        f"{_count(leaves, 'site')}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _listed(names: Iterable[str], most: int = 6) -> str:
    names = list(names)
    more = f" +{len(names) - most}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _message(text: str) -> str:
    """Return a message with its code set as code."""
    parts = _text(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in
                   enumerate(parts))  # fmt: skip


def _label(source: Source, line: int) -> str:
    """Return how people call a line: by its number, in a notebook that in its cell."""
    cell = source.cell_of(line)
    return str(line) if cell is None else f"cell {cell[0] + 1}:{cell[1]}"


def _change(before: Counter[Place], after: Counter[Place] | None, place: Place) -> str:
    if after is None or after[place] == before[place]:
        return str(before[place] or "")
    return f"{before[place]} \u2192 {after[place]}"


@cache
def _lines(source: Source) -> list[str]:
    """Return a file's lines; a notebook's magics as they were written."""
    lines = source.text.split("\n")
    if source.cell_of(1) is None:
        return lines[:-1] if lines and not lines[-1] else lines
    cells = {index: text.split("\n") for index, text in source.cells(source.text).items()}
    for number, line in enumerate(lines, 1):
        cell = source.cell_of(number)
        if cell is not None and "#%samedevice%" in line and 0 < cell[1] <= len(cells[cell[0]]):
            lines[number - 1] = cells[cell[0]][cell[1] - 1]
    return lines[:-1] if lines and not lines[-1] else lines


def _tokens(source: Source) -> Mapping[int, Sequence[tuple[int, int, str]]]:
    """Return the comments, strings and keywords of each line."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    lines = source.text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            kind = (
                "cm" if token.type == tokenize.COMMENT
                else "kw" if token.type == tokenize.NAME and keyword.iskeyword(token.string)
                else "st" if token.type == tokenize.STRING
                or tokenize.tok_name[token.type].startswith("FSTRING_M")
                else ""
            )  # fmt: skip
            if not kind:
                continue
            (line, start), (last, end) = token.start, token.end
            for at in range(line, last + 1):
                left = start if at == line else 0
                right = end if at == last else len(lines[at - 1])
                found.setdefault(at, []).append((left, right, kind))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # what parses for `ast` but not here stays plain
    return found


def _width(line: str) -> int:
    """Return how many columns a line takes: tabs take up to four, wide characters two."""
    if line.isascii() and "\t" not in line:
        return len(line)
    columns = 0
    for character in line:
        if character == "\t":
            columns += 4 - columns % 4
        else:
            columns += 2 if east_asian_width(character) in "WF" else 1
    return columns + 7 * len(UNSEEN.findall(line))


class _Rows(list[int]):
    """Lines of one side, -1 where only the other side has one, and which of them differ."""

    changed: set[int]


def _near(rows: Sequence[int], key: Collection[int]) -> set[int]:
    """Return which rows are lines of findings or around them, counted as they stand."""
    found = [at for at, row in enumerate(rows) if row + 1 in key]
    return {row for at in found for row in range(at - _AROUND, at + _AROUND + 1)}


def _aligned(old: File | None, new: File | None) -> tuple[_Rows, _Rows]:
    """Line up two versions of a file."""
    before = _lines(old.source) if old is not None else []
    after = _lines(new.source) if new is not None else []
    left, right = _Rows(), _Rows()
    left.changed, right.changed = set(), set()
    if old is None or new is None or max(len(before), len(after)) > _COMPARED:
        left.extend(range(len(before)))
        right.extend(range(len(after)))
        return left, right
    for tag, a, b, c, d in opcodes(before, after):
        left.extend([*range(a, b), *[-1] * (d - c - (b - a))])
        right.extend([*range(c, d), *[-1] * (b - a - (d - c))])
        if tag != "equal":
            left.changed.update(range(a, b))
            right.changed.update(range(c, d))
    return left, right
