"""What is read of an editor, or of what says that it is one: messages of a bounded size."""

from __future__ import annotations

import asyncio
import io
from typing import BinaryIO

from ..reading.config import ConfigError

LARGEST = 256 << 20  # bytes; a message holds a whole file, and notebooks have pictures
_LINE = 4096  # bytes of a line of a message's head


class TooLarge(ConfigError, ValueError):
    """A message that is larger than any file that would be looked at, or a head without an end."""


def _check_size(size: int) -> None:
    if size > LARGEST:
        said = str(size) if size < 1 << 64 else "without end"
        raise TooLarge(f"the editor announces a message of {said} bytes; {LARGEST} is the most")


def _check_line(line: bytes) -> bytes:
    if len(line) > _LINE:
        raise TooLarge(f"the head of a message has a line of more than {_LINE} bytes")
    return line


class Bounded(io.RawIOBase):
    """Standard input, which raises `TooLarge` where pygls would ask for all memory."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return one line of a message's head."""
        return _check_line(self._stream.readline(_LINE + 1))

    def read(self, size: int = -1, /) -> bytes:
        """Return the body of a message."""
        _check_size(size)
        return self._stream.read(size)


class BoundedReader:
    """The same of a socket."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def readline(self) -> bytes:
        """Return one line of a message's head."""
        return _check_line(await self._reader.readline())

    async def readexactly(self, size: int) -> bytes:
        """Return the body of a message."""
        _check_size(size)
        return await self._reader.readexactly(size)
