"""What a map shows -> one HTML document: no request, no script but its own, all text escaped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from typing import Any

from markupsafe import Markup, escape

from ..inference.trace import WORDS, Life
from ..report.shell import document, visible
from . import graph, lines, picture
from .code import Shown, Writer, marks
from .look import CSS, PLACES, variables
from .model import At, Clash, File, View, marked
from .names import Names
from .templates import count, template


@dataclass(frozen=True)
class Page:
    """A map: the document, and where each file that it shows is in it, as the end of an address."""

    text: str
    anchors: Mapping[str, str]


def render(before: View, after: View | None, *, title: str, names: Names,
           only: Collection[str] = ()) -> Page:  # fmt: skip
    """Return the page. `only` names the files whose source is shown, all of them when empty."""
    page = _Page(before, after, names, only)
    body = template("page.html").render(page.context(title or "project"))
    data = json.dumps(page.data, separators=(",", ":"), ensure_ascii=True)
    body += f'\n<script type="application/json" id="data">{_json_in_html(data)}</script>'
    name = f"{title or 'project'}: where its tensors live"
    style = variables() + _asset("page.css")
    anchors = {path: names.id(path) for path in page.shown}
    return Page(document(name, body, style, _asset("page.js"), images="data:"), anchors)


@cache
def _asset(name: str) -> str:
    return (package_files(__package__) / name).read_text("utf-8")


def _json_in_html(data: str) -> str:
    return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class _Page:
    """One page while it is made; `data` is what its script needs, `shown` the files on it."""

    def __init__(
        self, before: View, after: View | None, names: Names, only: Collection[str]
    ) -> None:
        self.before, self.after = before, after
        self.names = names
        self._only = only
        self._writer = Writer(names, before, after)
        wanted = [path for path in names.paths if not only or path in only]
        self.shown = marked(before, after, wanted)
        self._clashes = [
            clash
            for path in self.shown
            if path in before.files
            for clash in before.files[path].clashes
        ]
        self._about: dict[str, list[int]] = {}
        for number, clash in enumerate(self._clashes):
            for path in dict.fromkeys(_paths(clash)):
                self._about.setdefault(path, []).append(number)
        self.data: dict[str, Any] = {
            "files": [[names.shown(path), names.id(path)] for path in names.paths],
            "words": {CSS[place]: words for place, words in WORDS.items()},
            "names": {look.css: look.name for look in PLACES.values()},
            "infos": self._writer.infos,
            "clashes": [self._ends_of(clash) for clash in self._clashes],
        }

    def context(self, title: str) -> dict[str, Any]:
        """Return what the template needs."""
        files = [self._file(path) for path in self.shown]
        drawn = {path: self.before.files[path] for path in self.shown if path in self.before.files}
        after = self.after.files if self.after else {}
        image = picture.draw(self.before, self.after, self.names, title, self.shown)
        return {
            "title": title,
            "places": list(PLACES.items()),
            "before": self.before.counts,
            "after": self.after.counts if self.after else None,
            "clashes": self._clashes,
            "left": len(self.after.clashes) if self.after else None,
            "first": [file for file in files if file["first"]],
            "others": [file for file in files if not file["first"]],
            "files": len(self.before.files),
            "summary": _summary(self.before),
            "graph": graph.draw(drawn, after, self.names) if len(drawn) > 1 else None,
            "table": [self._row(file) for file in drawn.values()],
            "empty": [path for path in self.names.paths
                      if path not in self.shown and not self._only],
            "errors": self.before.errors,
            "names": self.names,
            "picture": Markup(image),
        }  # fmt: skip

    # -- findings ---------------------------------------------------------------------------

    def _ends_of(self, clash: Clash) -> dict[str, Any]:
        """Return what the script has to know of a finding: lines by the number of their file."""
        meeting = clash.meeting
        if meeting is not None and meeting.path not in self.shown:
            meeting = None
        ends = [(clash.origin, clash.origin_place), (clash.other, clash.other_place)]
        return {
            "ends": [[*self._end(at), CSS[place]] for at, place in ends
                     if at is not None and at.path in self.shown],
            "at": self._end(meeting) if meeting is not None else None,
            "line": self._end(At(clash.finding.path, clash.finding.span))[:2],
        }  # fmt: skip

    def _end(self, at: At) -> list[Any]:
        return [self.names.number(at.path), at.span.line, at.span.column]

    def _finding(self, number: int) -> dict[str, Any]:
        clash = self._clashes[number]
        finding, fix = clash.finding, clash.finding.fix
        return {
            "number": number,
            "at": self._link(At(finding.path, finding.span)),
            "rule": finding.rule,
            "message": _message(finding.message),
            "fix": "" if fix is None else
                   "samedevice fix repairs it" if fix.safe
                   else "samedevice fix --unsafe repairs it",
            "ends": list(self._ends(clash)),
        }  # fmt: skip

    def _ends(self, clash: Clash) -> Iterator[dict[str, Any]]:
        if clash.meeting is None:
            return
        ends = [(clash.origin, clash.origin_place)]
        if clash.other is not None:
            ends.append((clash.other, clash.other_place))
        for at, place in ends:
            yield {"place": PLACES[place], "what": "since", **self._code(at)}
        if clash.meeting != At(clash.finding.path, clash.finding.span):
            together = len({place for _, place in ends}) == 1
            what = "both have to be on the device at" if together else "they meet at"
            yield {"place": None, "what": what, **self._code(clash.meeting)}

    def _code(self, at: At) -> dict[str, Any]:
        file = self.before.files.get(at.path)
        code = lines.short(file.source.slice(at.span), 80) if file is not None else ""
        return {"link": self._link(at), "code": Markup(marks(code))}

    def _link(self, at: At) -> tuple[str, str]:
        label = lines.label(self.before.files[at.path].source, at.span.line)
        return self.names.line(at.path, at.span.line), f"{self.names.name(at.path)}:{label}"

    # -- files ------------------------------------------------------------------------------

    def _file(self, path: str) -> dict[str, Any]:
        old = self.before.files.get(path)
        new = self.after.files.get(path) if self.after else None
        about = self._about.get(path, [])
        flags: dict[int, int] = {}
        key: set[int] = set()
        for number in about:
            clash = self._clashes[number]
            ends = (clash.origin, clash.meeting, clash.other)
            key.update(at.span.line for at in ends if at is not None and at.path == path)
            if clash.finding.path == path:
                flags.setdefault(clash.finding.span.line, number)
                key.add(clash.finding.span.line)
        if self.after:
            sides = lines.aligned(*(file.source if file else None for file in (old, new)))
        else:
            assert old is not None
            sides = lines.aligned(old.source, old.source)
        near = lines.near(sides, key)
        panes = []
        views = [("b", old, sides[0])] + [("a", new, sides[1])] * (self.after is not None)
        for side, file, rows in views:
            code = None
            if file is not None:
                code = self._writer.pane(file, side, Shown(rows, near, flags, key))
            panes.append((side, code))
        shown = old or new
        assert shown is not None
        folder, _, name = self.names.name(path).rpartition("/")
        return {
            "id": self.names.id(path), "folder": folder, "name": name, "counts": shown.counts,
            "new": self.after is not None and old is None,
            "first": bool(about) or any(rows.changed for rows in sides),
            "findings": [self._finding(number) for number in about
                         if self._clashes[number].finding.path == path],
            "panes": panes,
        }  # fmt: skip

    def _row(self, file: File) -> dict[str, Any]:
        now = self.after.files.get(file.path) if self.after else None
        later = now.counts if now is not None else None
        moves, side = (file, "b") if now is None else (now, "a")
        return {
            "id": self.names.id(file.path),
            "name": self.names.name(file.path),
            "modules": file.modules,
            "counts": [(look, _change(file.counts[place], None if later is None else later[place]))
                       for place, look in PLACES.items()],
            "moves": [("put on the device", self._lines_of(moves, moves.enters, side)),
                      ("taken off it", self._lines_of(moves, moves.leaves, side))],
            "findings": _change(len(file.clashes), None if now is None else len(now.clashes)),
        }  # fmt: skip

    def _lines_of(self, file: File, lives: Sequence[Life], side: str) -> list[tuple[str, str]]:
        return [
            (self.names.line(file.path, line, side), lines.label(file.source, line))
            for line in dict.fromkeys(life.span.line for life in lives)
        ]


def _paths(clash: Clash) -> list[str]:
    ends = (clash.origin, clash.meeting, clash.other)
    return [clash.finding.path, *(at.path for at in ends if at is not None)]


def _summary(view: View) -> str:
    """Return what there is in a project, in words."""
    rows = sum(len(file.source.starts) for file in view.files.values())
    kinds = Counter(life.kind for file in view.files.values() for life in file.lives)
    enters = sum(len(file.enters) for file in view.files.values())
    leaves = sum(len(file.leaves) for file in view.files.values())
    return (
        f"{count(len(view.files), 'file')}, {count(rows, 'line')}: "
        f"{count(sum(view.counts.values()), 'value')} in colour, "
        f"{count(kinds['moved'] + kinds['read'], 'move')}. Values are put on the device on "
        f"{count(enters, 'line')} and taken off it on {count(leaves, 'line')}."
    )


def _message(text: str) -> Markup:
    """Return a message with its code set as code."""
    parts: Iterable[Markup] = (escape(visible(part)) for part in text.split("`"))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part
        for index, part in enumerate(parts)
    )


def _change(before: int, after: int | None) -> str:
    if after is None or after == before:
        return str(before or "")
    return f"{before} \u2192 {after}"
