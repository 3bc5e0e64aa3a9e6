"""Read a traceback that somebody pasted: frames, exception, and what its message says of devices.

CPython's traceback, with or without 3.11's carets, and IPython's, coloured or not, as it stands in
a terminal, a notebook, a log with times before every line, a DataLoader's message or an issue's
quote; cut off at either end, too.
"""

from __future__ import annotations

import ast
import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from samedevice.prove.clash import Frame, Message, read_message
from samedevice.prove.topics import recognized


@dataclass(frozen=True)
class Traceback:
    """What a pasted text tells.

    `frames` are all of them, the innermost last; `exception` is the type ("RuntimeError", empty if
    that was cut off) and `text` its message. `message` is None when it is not about devices.
    """

    frames: tuple[Frame, ...]
    exception: str
    text: str
    message: Message | None


_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*\x07")

_SEPARATOR = r"(?:[ \t]*[:|-][ \t]?|[ \t])?"
# What loggers and quotes put before every line. Tried one after the other, as often as they fit.
_PREFIXES = [
    re.compile(pattern)
    for pattern in (
        r"\s*>\s?",  # a quote
        r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
        rf"{_SEPARATOR}",
        rf"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?{_SEPARATOR}",
        rf"\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]?{_SEPARATOR}",
        r"\[?(?:stderr|stdout|rank ?\d+|default\d+|\d+)\]?:[ \t]?",
        r"\[(?:rank)?\d+\][ \t]?",
        r"\|[ \t]?",
    )
]
_START = re.compile(r"Traceback \(most recent call last\)|Original Traceback")
_CPYTHON = re.compile(
    r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>.+?))?\s*$'
)
_IPYTHON_FILE = re.compile(
    r"^(?:File )?(?P<file>(?:[A-Za-z]:)?[^\s:(][^:(\n]*?\.(?:py|ipynb))(?::(?P<line>\d+))?"
    r"(?:,)? in (?P<name>[\w.<>]+)(?:\(.*\)?)?\s*$"
)
_IPYTHON_CELL = re.compile(
    r"^(?:Cell In ?\[(?P<cell>\d+)\](?:, line (?P<line>\d+))?|"
    r"Input In \[(?P<cell2>\d+)\](?:, in .*)?|"
    r"(?:File )?<ipython-input-(?P<cell3>\d+)-\w+>(?::(?P<line2>\d+))?)"
    r"(?:(?:,)? in (?P<name>[\w.<>]+).*)?\s*(?:\(\))?\s*$"
)
_ARROW = re.compile(r"^-{1,}>\s*(?P<line>\d+)\s?(?P<text>.*)$")
_NUMBERED = re.compile(r"^\s+\d+\s.*$|^\s+\d+$")
_EXCEPTION = re.compile(r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: ?(?P<text>.*))?$")
_RULE = re.compile(r"\s*[─━═-]{3}")  # what sets off a report, such as ours
_BEHIND = 3  # lines behind a message in which the frames of compiled code begin
_KNOWN = re.compile(r"(?:Error|Exception|Warning|Interrupt|Exit|Stop\w+)$")


def read(text: str) -> Traceback | None:
    """Return the last traceback in `text`, or None when there is neither frame nor known message.

    Of chained ones the last that speaks of devices is taken, as it is the one to repair. One with
    frames counts before a message that is told once more without them. A text that begins with an
    exception is its message, whatever that says.
    """
    lines = _clean(text)
    found = list(_tracebacks(lines)) or _message_alone(lines)
    telling = [one for one in found if one.message is not None]
    framed = [one for one in found if one.frames]
    best = [one for one in telling if one.frames] or telling or framed or found
    return best[-1] if best else None


def _message_alone(lines: list[str]) -> list[Traceback]:
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None or not _KNOWN.search(lines[first].partition(":")[0].strip()):
        return []
    told = _exception(lines, first, after_frames=True)
    return [_made([], told[0], told[1])] if told is not None else []


def _clean(text: str) -> list[str]:
    """Return the lines without colours and without what a log put before them."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" not in text and re.search(r"\\x1b\[|\\u001b\[", text):
        # A notebook's JSON, pasted raw: its escapes are spelled out.
        text = _unescape(text)
    lines = _COLOUR.sub("", text).split("\n")
    if len([line for line in lines if line.strip()]) == 1 and "\\n" in text:
        lines = _unescape(text).split("\n")  # a traceback as a repr
    return [_without_prefix(line.expandtabs()) for line in lines]


def _unescape(text: str) -> str:
    try:
        text = codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape")
    except ValueError:
        return text
    return _COLOUR.sub("", text)


def _without_prefix(line: str) -> str:
    for _ in range(6):
        for pattern in _PREFIXES:
            match = pattern.match(line)
            if match and match.end():
                line = line[match.end() :]
                break
        else:
            break
    return line


def _tracebacks(lines: list[str]) -> Iterator[Traceback]:
    frames: list[Frame] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if _START.search(line):
            if frames:  # the one before was cut off at its end
                yield _made(frames, "", "")
            frames, at = [], at + 1
            # IPython: the exception's name stands before the word, its frames follow
            continue
        frame, following = _frame(lines, at)
        if frame is not None:
            frames.append(frame)
            at = following
            continue
        exception = _exception(lines, at, bool(frames))
        if exception is not None:
            name, text, at = exception
            inner, at = _compiled(lines, at)
            yield _made([*frames, *inner], name, text)
            frames = []
            continue
        at += 1
    if frames:
        yield _made(frames, "", "")


def _compiled(lines: list[str], at: int) -> tuple[list[Frame], int]:
    """Return the frames of code that was being compiled, told behind an exception, and the line
    after them."""
    start = next((i for i in range(at, min(at + _BEHIND, len(lines))) if lines[i].strip()), at)
    if start >= len(lines) or lines[start].strip() != "from user code:":
        return [], at
    frames: list[Frame] = []
    at = start + 1
    while at < len(lines):
        frame, following = _frame(lines, at)
        if frame is None:
            break
        frames.append(frame)
        at = following
    return frames, at


def _made(frames: list[Frame], exception: str, text: str) -> Traceback:
    return Traceback(tuple(frames), exception, text, read_message(text))


def _frame(lines: list[str], at: int) -> tuple[Frame | None, int]:
    """Return the frame that begins at a line, and the line after it."""
    line = lines[at]
    if match := _CPYTHON.match(line):
        text, following = "", at + 1
        if following < len(lines) and _is_code(lines, following):
            text, following = lines[following].strip(), following + 1
        file, number = match["file"], int(match["line"])
        name = (match["name"] or "").split("(")[0]
        counted = re.match(r"<ipython-input-(\d+)-", file)
        placed = re.fullmatch(r"(.+\.ipynb):cell (\d+)", file)  # as `samedevice run` tells it
        cell = int(counted[1]) if counted else int(placed[2]) if placed else None
        return Frame(placed[1] if placed else file, number, name, text, cell), following
    match = _IPYTHON_FILE.match(line) or _IPYTHON_CELL.match(line)
    if match is None:
        return None, at
    groups = match.groupdict()
    cell_text = groups.get("cell") or groups.get("cell2") or groups.get("cell3")
    number = int(groups.get("line") or groups.get("line2") or 0)
    text, following = "", at + 1
    while following < len(lines):  # its context: numbered lines, one with an arrow
        if arrow := _ARROW.match(lines[following]):
            number, text = int(arrow["line"]), arrow["text"].strip()
        elif lines[following].strip() and not _NUMBERED.match(lines[following]):
            break
        elif not lines[following].strip():
            following += 1
            break
        following += 1
    if not number and not text:
        return None, at
    name = (groups.get("name") or "").split("(")[0]
    file = groups.get("file") or ""
    return Frame(file, number, name, text, int(cell_text) if cell_text else None), following


def _is_code(lines: list[str], at: int) -> bool:
    """Tell whether a line can be the source line under a frame of CPython's."""
    line = lines[at]
    if not line.strip() or _CPYTHON.match(line) or _START.search(line):
        return False
    indent = len(line) - len(line.lstrip())
    above = len(lines[at - 1]) - len(lines[at - 1].lstrip())
    if indent > above:
        return True
    # A paste that lost its indentation: anything but the exception's own line.
    return indent == above and not _is_exception(line)


def _is_exception(line: str) -> bool:
    match = _EXCEPTION.match(line.strip())
    return match is not None and (bool(_KNOWN.search(match["type"])) or "." in match["type"])


def _exception(lines: list[str], at: int, after_frames: bool) -> tuple[str, str, int] | None:
    """Return type and message of the exception at a line, and the line after it.

    The message may go on over lines, up to an empty one or the next traceback. Without frames
    before it, only a message that is known counts: logs are full of words with colons.
    """
    line = lines[at].strip()
    match = _EXCEPTION.match(line)
    if match is None or not (_KNOWN.search(match["type"]) or (after_frames and match["text"])):
        if not after_frames and recognized(line):
            return "", line, at + 1
        return None
    words = [match["text"] or ""]
    following = at + 1
    while following < len(lines) and lines[following].strip():
        more = lines[following]
        if _START.search(more) or _CPYTHON.match(more) or _is_exception(more) or _RULE.match(more):
            break
        words.append(more.strip())
        following += 1
    text = "\n".join(words).strip()
    if not after_frames and recognized(text) is None:
        return None
    return match["type"], text, following


def statement(source: str, line: int, text: str) -> tuple[int, int] | None:
    """Return first and last line of the statement in `source` that a frame speaks of.

    `line` is where the frame saw it and `text` what it saw. A file that has changed since is
    searched for the nearest line with the same text. None when it cannot be found.
    """
    lines = source.split("\n")
    wanted = "".join(text.split())
    at = line
    if wanted and not (0 < line <= len(lines) and "".join(lines[line - 1].split()) == wanted):
        same = [number for number, other in enumerate(lines, 1) if "".join(other.split()) == wanted]
        if not same:
            return None
        at = min(same, key=lambda number: abs(number - line))
    if not 0 < at <= len(lines):
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return at, at
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            if isinstance(body, list) and body:
                last = max(node.lineno, int(body[0].lineno) - 1)
            if node.lineno <= at <= last and (best is None or node.lineno >= best[0]):
                best = (node.lineno, last)
    return best or (at, at)
