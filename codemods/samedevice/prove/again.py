"""A second, watched run of a program that a clash ended: the first one was not, to be quick."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from samedevice.prove import workspace
from samedevice.prove.run import Program, ProgramError, RunResult, Settings, as_if_in, run_program

#: Seconds that the first run may have taken; watched, it takes several times as long.
LONGEST = 60.0


def explained(
    result: RunResult, program: Program, folder: Path, settings: Settings
) -> RunResult | None:
    """Return `result` with where its operands got their places; None where that is not found out.

    The program runs once more, in a copy of `folder`, and has to end by the same clash.
    """
    if result.clash is None or result.seconds > LONGEST:
        return None
    with tempfile.TemporaryDirectory(prefix="samedevice-again-") as scratch:
        copy = Path(scratch, folder.name or "copy")
        try:
            workspace.copy_folder(folder, copy)
            watched = run_program(program, cwd=copy, settings=replace(settings, record=True))
        except ProgramError:
            return None
        watched = as_if_in(watched, copy, folder)
    clash = watched.clash
    if clash is None or (clash.message, clash.line) != (result.clash.message, result.clash.line):
        return None
    return replace(result, clash=clash, record=watched.record)
