"""A Change -> a unified diff: bytes that `git apply` takes, or colours on a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from ..migration.migrate import Change
from ..reading.matching import Matcher, in_step, joined
from ..reading.source import from_bytes
from .place import printable

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_LONG = 400  # comparing two lines by character is quadratic in their length,
_MANY = 2500  # and two blocks by line in their lengths
_ALIKE = 0.6  # from here two lines are versions of one


def unified(change: Change, context: int = 3, mark: str = "") -> bytes:
    """Return the unified diff of `change`, in the file's own encoding and newlines.

    With a `mark` behind the names of the files, no tool applies it.
    """
    path = change.path.encode("utf-8", "surrogateescape").removeprefix(b"/")
    old, new = (
        _quoted(side + path).decode("ascii", "surrogateescape") + mark for side in (b"a/", b"b/")
    )
    before, after = (
        [line.decode("ascii", "surrogateescape") for line in _lines(data)]
        for data in (change.before or b"", change.after)
    )
    old = "/dev/null" if change.before is None else old
    found = _terminated(_unified(before, after, old, new, context))
    return "".join(found).encode("ascii", "surrogateescape")


def _unified(
    before: Sequence[str], after: Sequence[str], old: str, new: str, context: int = 3
) -> Iterator[str]:
    """Yield the lines of a unified diff; nothing for two texts that are the same."""
    for number, group in enumerate(Matcher(before, after).get_grouped_opcodes(context)):
        if not number:
            yield from (f"--- {old}\n", f"+++ {new}\n")
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[i1:i2])
            else:
                yield from (f"-{line}" for line in before[i1:i2])
                yield from (f"+{line}" for line in after[j1:j2])


def by_cells(change: Change, mark: str = "") -> bytes:
    """Return the unified diff of `change`, of a notebook cell by cell: as people read it.

    Another file's is that of `unified`. `git apply` takes no cell.
    """
    if not is_notebook(change):
        return unified(change, mark=mark)
    found: list[str] = []
    for where, before, after in _texts(change):
        name = f"{printable(change.path).removeprefix('/')}{where}{mark}"
        heads = f"a/{name}", f"b/{name}"
        old, new = ([f"{line}\n" for line in lines] for lines in (before, after))
        found += _unified(old, new, *heads)
    return "".join(found).encode("utf-8", "surrogateescape")


def is_notebook(change: Change) -> bool:
    """Tell whether a diff shows the cells of a file."""
    return change.before is not None and change.path.endswith(".ipynb")


def _quoted(name: bytes) -> bytes:
    """Return a name as git writes it: one with a newline could begin the diff of another file."""
    if name.decode("utf-8", "replace").isprintable() and not set(name) & set(b'"\\'):
        return name
    quoted = (
        b"\\%c" % byte if byte in b'"\\'
        else b"\\%03o" % byte if byte < 32 or byte > 126
        else bytes([byte])
        for byte in name
    )  # fmt: skip
    return b'"' + b"".join(quoted) + b'"'


def _lines(data: bytes) -> list[bytes]:
    """Split at `\\n` only, as diff and patch do."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [
        line for line in data.split(b"\n")[-1:] if line
    ]


def _terminated(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def show(console: Console, change: Change, mark: str = "") -> None:
    """Print the diff of `change` with colours and, within changed lines, what differs."""
    name = printable(change.path)
    old = "/dev/null" if change.before is None else f"a/{name}"
    for where, before, after in _texts(change):
        head = f"--- {old}{where}{mark}\n+++ b/{name}{where}{mark}"
        console.print(Text(head, "bold"), soft_wrap=True)
        for hunk in hunks(before, after):
            show_hunk(console, hunk, before, after)


def _texts(change: Change) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the lines before and after: of a file as a whole, of a notebook cell by cell."""
    if change.before is None or not is_notebook(change):
        yield "", text_lines(change.before, change.path), text_lines(change.after, change.path)
        return
    before, after = (from_bytes(data, change.path) for data in (change.before, change.after))
    old = before.cells(before.text)
    for number, text in after.cells(after.text).items():
        if old[number] != text:
            yield f":cell {number + 1}", old[number].split("\n"), text.split("\n")


Opcode = tuple[str, int, int, int, int]


class _Lines(Matcher):
    """Matches lines; where others were put beside a changed line, the two versions stay a pair."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(before, after)
        self._before, self._after = before, after

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]  # plain tuples
        opcodes: list[Opcode] = []
        for opcode in super().get_opcodes():
            opcodes += self._paired(opcode) if opcode[0] == "replace" else [opcode]
        return opcodes

    def _paired(self, opcode: Opcode) -> list[Opcode]:
        _, i1, i2, j1, j2 = opcode
        if i2 - i1 == j2 - j1:
            return [opcode]
        if (i2 - i1) * (j2 - j1) > _MANY:
            return list(self._in_runs(opcode))
        if i2 - i1 < j2 - j1:
            few, many, more = range(i1, i2), range(j1, j2), "insert"
        else:
            few, many, more = range(j1, j2), range(i1, i2), "delete"
        opcodes: list[Opcode] = []
        start = many.start
        for number, line in enumerate(few):
            last = many.stop - (len(few) - number - 1)  # each line left needs one, too
            likeness = [self._likeness(more, line, other) for other in range(start, last)]
            if max(likeness) < _ALIKE:
                return [opcode]
            best = start + likeness.index(max(likeness))
            if best > start:
                opcodes.append(_opcode(more, more, line, line, start, best))
            opcodes.append(_opcode("replace", more, line, line + 1, best, best + 1))
            start = best + 1
        if start < many.stop:
            opcodes.append(_opcode(more, more, few.stop, few.stop, start, many.stop))
        return opcodes

    def _in_runs(self, opcode: Opcode) -> Iterator[Opcode]:
        """Divide a long block: what was put in or taken out, and what was changed line by line."""
        _, i1, i2, j1, j2 = opcode
        one, other = i1, j1
        for old, new, size in joined(in_step(self._before[i1:i2], self._after[j1:j2])):
            yield from _between(one, i1 + old, other, j1 + new)
            one, other = i1 + old + size, j1 + new + size
            yield "replace", one - size, one, other - size, other
        yield from _between(one, i2, other, j2)

    def _likeness(self, more: str, line: int, other: int) -> float:
        old, new = (line, other) if more == "insert" else (other, line)
        return difflib.SequenceMatcher(None, self._before[old], self._after[new]).quick_ratio()


def _between(i1: int, i2: int, j1: int, j2: int) -> Iterator[Opcode]:
    """Yield what was taken out, and what was put in, between two runs."""
    if i1 < i2:
        yield "delete", i1, i2, j1, j1
    if j1 < j2:
        yield "insert", i2, i2, j1, j2


def _opcode(tag: str, more: str, few1: int, few2: int, many1: int, many2: int) -> Opcode:
    if more == "delete":
        return tag, many1, many2, few1, few2
    return tag, few1, few2, many1, many2


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Return how `before` becomes `after`, line by line."""
    return _Lines(before, after).get_opcodes()


def hunks(before: Sequence[str], after: Sequence[str], context: int = 3) -> list[list[Opcode]]:
    """Return the same in hunks, with lines of context around the changes."""
    matcher = _Lines(before, after)
    return [list(group) for group in matcher.get_grouped_opcodes(context)]


def text_lines(data: bytes | None, path: str) -> list[str]:
    """Return the lines of a file's code as `Source` has it: decoded, without newlines."""
    lines = from_bytes(data, path).text.split("\n") if data else [""]
    return lines if lines[-1] else lines[:-1]


def show_hunk(
    console: Console, hunk: Sequence[Opcode], before: Sequence[str], after: Sequence[str]
) -> None:
    """Print one hunk."""
    first, last = hunk[0], hunk[-1]
    old = _range(first[1], last[2])
    new = _range(first[3], last[4])
    text = Text()  # lines around a change have no colour of their own
    text.append(f"@@ -{old} +{new} @@\n", _STYLES["@"])
    for tag, i1, i2, j1, j2 in hunk:
        if tag == "equal":
            for line in before[i1:i2]:
                text.append(f" {_code(line)}\n")
            continue
        removed, added = before[i1:i2], after[j1:j2]
        paired = len(removed) == len(added)
        for sign, lines, others in (("-", removed, added), ("+", added, removed)):
            for number, line in enumerate(lines):
                _append(text, sign, line, others[number] if paired else None)
    console.print(text, end="", soft_wrap=True)


def _append(text: Text, sign: str, line: str, other: str | None) -> None:
    """Append a changed line; what it does not share with `other` stands out."""
    style = _STYLES[sign]
    code = _code(line)
    text.append(sign, style)
    if other is None or len(code) > _LONG:
        text.append(f"{code}\n", style)
        return
    matcher = difflib.SequenceMatcher(None, code, _code(other), autojunk=False)
    for tag, i1, i2, _, _ in matcher.get_opcodes():
        text.append(code[i1:i2], style if tag == "equal" else f"bold {style} reverse")
    text.append("\n")


def _code(line: str) -> str:
    return printable(line.expandtabs(8))


def _range(start: int, stop: int) -> str:
    """Return a range of lines as a hunk's head has it."""
    count = stop - start
    first = start + 1 if count else start
    return f"{first}" if count == 1 else f"{first},{count}"
