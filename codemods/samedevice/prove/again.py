"""A second, recorded run of a program that a clash ended: the first one was not, to be quick."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from samedevice.prove import workspace
from samedevice.prove.run import Program, ProgramError, RunResult, Settings, as_if_in, run_program

#: Seconds that the first run may have taken; recorded, it takes several times as long.
LONGEST = 60.0
# What a second run may take: so many times the first one, and so many seconds besides.
_TIMES, _MORE = 10.0, 30.0

# Clashes that are not about where a tensor is: there is no history to tell.
_WITHOUT_TENSORS = frozenset({"load", "fork", "missing", "ordinal", "memory"})

RECORDED = "recorded in a second run, in a copy of this folder"


class Input:
    """What a program reads from stdin, to be read again: a file is, and nothing else can be."""

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._start: int | None = None
        if file is not None:
            with contextlib.suppress(OSError):  # a terminal, a pipe, a socket
                self._start = os.lseek(file, 0, os.SEEK_CUR)

    @classmethod
    def of_this_process(cls) -> Input:
        """Return this process's own."""
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or none
            return cls(sys.stdin.fileno())
        return cls(None)

    @contextlib.contextmanager
    def again(self) -> Iterator[int | None]:
        """Yield the file, at where it was first; None where nothing can be read again."""
        if self._file is None or self._start is None:
            yield None
            return
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        os.lseek(self._file, self._start, os.SEEK_SET)
        try:
            yield self._file
        finally:
            os.lseek(self._file, end, os.SEEK_SET)


def explained(
    result: RunResult,
    program: Program,
    folder: Path,
    settings: Settings,
    given: Input | None = None,
    begins: Callable[[], None] = lambda: None,
) -> RunResult:
    """Return a clash with where its operands got their places, from a second, recorded run.

    That takes place in a copy of `folder` and has to end by the same clash; else the result stays
    what it was. `again` says what came of it. `begins` is called before it.
    """
    if result.clash is None or result.clash.kind in _WITHOUT_TENSORS:
        return result
    if result.seconds > LONGEST:
        return _unknown(result, f"the run took {result.seconds:.0f} s")
    begins()
    most = _TIMES * result.seconds + _MORE
    limits = replace(settings.limits, seconds=min(settings.limits.seconds or most, most))
    with tempfile.TemporaryDirectory(prefix="samedevice-again-") as scratch:
        copy = Path(scratch, folder.name or "copy")
        try:
            workspace.copy_folder(folder, copy)
            with (given or Input(None)).again() as stdin:
                watched = run_program(
                    program,
                    cwd=copy,
                    settings=replace(settings, record=True, limits=limits),
                    stdin=stdin,
                )
        except ProgramError as error:
            return _unknown(result, f"the folder could not be copied ({error})")
        watched = as_if_in(watched, copy, folder)
    clash = watched.clash
    if clash is None or (clash.message, clash.line) != (result.clash.message, result.clash.line):
        end = watched.message or "it ran to its end"
        return _unknown(result, f"a second run ended otherwise ({end})")
    return replace(result, clash=clash, record=watched.record, again=RECORDED)


def _unknown(result: RunResult, why: str) -> RunResult:
    said = f"where its operands got their places was not recorded: {why}; --record does it at once"
    return replace(result, again=said)
