"""What an exception says: the user's frames, and the clash in it if places ended the program."""

from __future__ import annotations

import linecache
import os
from types import TracebackType

from samedevice.prove import tracebacks as pasted
from samedevice.prove.clash import Clash, Frame, Message, read_message
from samedevice.prove.frames import is_users, source_line, tracebacks
from samedevice.prove.lives import Lives


def frames_of(error: BaseException) -> tuple[Frame, ...]:
    """Return the user's frames of an exception's traceback, the innermost last."""
    return tuple(_frame(entry) for entry in _users(error))


def text_of(error: BaseException) -> str:
    """Return an exception's message; "" where it cannot tell it."""
    try:
        return str(error)
    except Exception:  # an exception of the program's with a broken __str__
        return ""


def is_about_places(error: BaseException) -> bool:
    """Tell whether an exception, or one that it was raised from, speaks of devices."""
    return _told(error) is not None


def find_clash(error: BaseException, lives: Lives) -> Clash | None:
    """Return the clash that ended a program, or None when the exception is about something else.

    `lives` tell how tensors got their places. The exceptions that this one was raised from are
    searched as well. Needs torch.
    """
    told = _told(error)
    if told is None:
        return None
    cause, message = told
    text = text_of(cause)
    if "Traceback (most recent call last)" in text:  # a DataLoader's worker, which is gone
        original = pasted.read(text)
        if original is not None and original.frames:
            return _of_a_worker(cause, message, original)
    from samedevice.prove import operands

    users = _users(cause)
    if not users:
        return Clash(message.kind, text, type(cause).__name__, "", 0, "")
    at = _frame(users[-1])
    where = operands.position(users[-1])
    clash = Clash(
        message.kind,
        text,
        type(cause).__name__,
        at.file,
        at.line,
        at.text,
        at.function,
        operands.parties(users[-1], lives),
        tuple(_frame(entry) for entry in users),
        sides=operands.sides(users[-1], lives),
    )
    if where is None:
        return clash
    column, end_column = _characters(at.file, where)
    return Clash(
        **{
            **vars(clash),
            "line": where[0],
            "text": source_line(at.file, where[0]),
            "end_line": where[1],
            "column": column,
            "end_column": end_column,
        }
    )


def without_ours(error: BaseException) -> TracebackType | None:
    """Cut samedevice's own frames out of a traceback.

    Where torch calls samedevice, which calls torch again, the traceback ends: nothing below is the
    program's.
    """
    entries = list(tracebacks(error.__traceback__))
    users = [is_users(entry.tb_frame.f_code.co_filename) for entry in entries]
    last = max((at for at, user in enumerate(users) if user), default=-1)
    kept = [entry for entry in entries[: last + 1] if not _is_ours(entry)]
    for entry in entries[last + 1 :]:
        if _is_ours(entry):
            break
        kept.append(entry)
    for entry, follower in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = follower
    error.__traceback__ = kept[0] if kept else None
    return error.__traceback__


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(os.path.dirname(__file__))


def _users(error: BaseException) -> list[TracebackType]:
    entries = tracebacks(error.__traceback__)
    return [entry for entry in entries if is_users(entry.tb_frame.f_code.co_filename)]


def _frame(entry: TracebackType) -> Frame:
    code = entry.tb_frame.f_code
    text = source_line(code.co_filename, entry.tb_lineno)
    return Frame(code.co_filename, entry.tb_lineno, code.co_name, text)


def _told(error: BaseException) -> tuple[BaseException, Message] | None:
    """Return the exception that speaks of devices: this one, or one that it was raised from."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        if message := read_message(text_of(one)):
            return one, message
        one = one.__cause__ or one.__context__
    return None


def _of_a_worker(error: BaseException, message: Message, original: pasted.Traceback) -> Clash:
    frames = tuple(frame for frame in original.frames if is_users(frame.file)) or original.frames
    at = frames[-1]
    return Clash(
        message.kind,
        original.text or text_of(error),
        type(error).__name__,
        at.file,
        at.line,
        at.text,
        at.function,
        frames=frames,
    )


def _characters(file: str, where: tuple[int, int, int, int]) -> tuple[int, int]:
    """Turn columns in UTF-8 bytes into columns in characters."""
    line, end_line, column, end_column = where
    first, last = (linecache.getline(file, number).encode() for number in (line, end_line))
    return (
        len(first[:column].decode("utf-8", "replace")),
        len(last[:end_column].decode("utf-8", "replace")),
    )
