"""`samedevice run` and `samedevice prove`, the two commands that execute programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from .errors import exit_codes
from .help import Command
from .options import (
    DeviceName,
    Devices,
    JsonReport,
    MemoryLimit,
    On,
    OutputLimit,
    Python,
    Seed,
    TimeLimit,
)  # fmt: skip
from .root import app


@app.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
    short_help="Run a program on a virtual accelerator or a real one.",
)
@exit_codes
def run(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="What would follow `python`: main.py --epochs 1"),
    ],
    on: On = "virtual",
    device_name: DeviceName = "cuda",
    devices: Devices = 1,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    output_limit: OutputLimit = "64M",
    seed: Seed = None,
    python: Python = None,
    report: JsonReport = None,
    record: Annotated[
        bool | None,
        typer.Option(
            help="Record operations and transfers from the start, or never; without either, a "
            "second run of a program that a clash ended is recorded.",
            show_default=False,
        ),
    ] = None,
    transfers: Annotated[
        int, typer.Option(metavar="N", help="How many transfers to list, the largest first.")
    ] = 10,
) -> int:
    """Execute PROGRAM, show what it prints, and explain what stopped it and where tensors were."""
    from ..prove import commands

    return commands.run(
        program,
        on=on,
        device_name=device_name,
        devices=devices,
        time_limit=time_limit,
        memory_limit=memory_limit,
        output_limit=output_limit,
        seed=seed,
        python=python,
        report=report,
        record=record,
        transfers=transfers,
    )


@app.command(cls=Command, short_help="Run a program before and after a change, and compare.")
@exit_codes
def prove(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The file or folder as it was.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The file or folder as it is now.")],
    entry: Annotated[
        str | None,
        typer.Option(
            metavar="PROGRAM",
            help='What would follow `python` in the folders: "main.py --epochs 1". Two single '
            "files are programs themselves.",
            show_default=False,
        ),
    ] = None,
    on: On = "virtual",
    device_name: DeviceName = "cuda",
    devices: Devices = 1,
    time_limit: TimeLimit = 600.0,
    memory_limit: MemoryLimit = None,
    output_limit: OutputLimit = "64M",
    seed: Seed = None,
    python: Python = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="timings|paths|addresses|device", help="What may differ between the outputs."
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave these files out of the copies."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Give the copies these files, too."),
    ] = None,
    report: JsonReport = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof as a page.")
    ] = None,
) -> int:
    """Execute the program in copies of BEFORE and AFTER, on the CPU and on an accelerator.

    Proved: what was changed ran, outputs on the CPU are the same, and on the accelerator it runs
    to the end, there, and computes what it computes on the CPU. Exit code: 0 proved, 1 not proved,
    2 nothing could be run, 3 inconclusive.
    """
    from ..prove import commands

    return commands.prove(
        before,
        after,
        entry,
        on=on,
        device_name=device_name,
        devices=devices,
        time_limit=time_limit,
        memory_limit=memory_limit,
        output_limit=output_limit,
        seed=seed,
        python=python,
        ignore=ignore or (),
        exclude=exclude or (),
        data=data or (),
        report=report,
        html=html,
        beside=lambda old, new, page: _map_beside(old, new, before, page),
    )


def _map_beside(old: Path, new: Path, before: str, page: Path) -> dict[str, str]:
    """Write the map of a change next to the page of its proof; what cannot be read has none."""
    from ..map import commands
    from ..reading.config import ConfigError
    from ..reading.source import SourceError

    try:
        named = before if os.path.exists(before) else "."  # a revision of the project here
        return commands.beside(old, new, os.path.basename(os.path.abspath(named)), page)
    except (ConfigError, SourceError, OSError):
        return {}
