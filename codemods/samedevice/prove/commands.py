"""`samedevice run` and `samedevice prove`: functions of plain values that return exit codes.

The command line mounts them. Nothing but the standard library is imported until one of them runs.

Exit codes of `run`: the program's own; 1 for an uncaught exception (a clash is one), 2 when the
program cannot be started, 124 at the time limit, 125 at the output limit, 130 after Ctrl-C, 137 at
the memory limit, and 128 plus the signal's number when a signal ended it. Of `prove`: 0 proved, 1
not proved, 2 nothing could be run, 3 inconclusive: nothing failed, but what ran does not show it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from samedevice.prove.prove import Proof
    from samedevice.prove.run import Settings


def run(
    program: Sequence[str],
    *,
    on: str = "virtual",
    device_name: str = "cuda",
    devices: int = 1,
    time_limit: float | None = None,
    memory_limit: str | None = None,
    output_limit: str | None = "64M",
    seed: int | None = None,
    python: str | None = None,
    report: Path | None = None,
    record: bool | None = None,
    transfers: int = 10,
) -> int:
    """Run a program; print what it prints, then what stopped it and what it did (to stderr).

    `program` is what would follow `python`: ["main.py", "--epochs", "1"] or ["-m", "package"].
    `time_limit` is in seconds; memory and output limits are sizes such as "4G" or "500M". `report`
    is a file for the JSON report, "-" for stdout. `record` watches the program from the start; with
    None only a second run of a program that a clash ended is watched, with False none.
    """
    from samedevice.prove import virtual
    from samedevice.prove.again import Input, explained
    from samedevice.prove.display import console, show_run, with_cells
    from samedevice.prove.run import Program, ProgramError, run_program

    try:
        _check_folders(report=report)
        settings = _settings(
            on,
            device_name,
            devices,
            time_limit,
            memory_limit,
            output_limit,
            seed,
            python,
            record=record is True,
        )
        compiled = os.environ.get(virtual.COMPILED, virtual.WHERE_POSSIBLE)
        settings = replace(settings, steps=record is None, env={virtual.COMPILED: compiled})
        parsed = Program.parse(program)
        parsed.kind(Path.cwd())
        _warn(f"{parsed} runs with your rights, in no sandbox")
        _tell_run_order(program[0])
        given = Input.of_this_process()
        result = run_program(parsed, settings=settings, interactive=True)
        sys.stdout.flush()
        if record is None and result.status == "clash":
            again = f"{parsed} runs once more, recorded, in a copy of this folder"
            result = explained(result, parsed, Path.cwd(), settings, given, lambda: _note(again))
        show_run(result, console(stderr=True), transfers)
        _write(report, with_cells(result.to_json()))
    except ProgramError as error:
        return _refuse(error)
    return result.exit_code


def _tell_run_order(program: str) -> None:
    """Say so where a notebook's cells were run in another order than they stand in."""
    from samedevice.reading.notebook import Notebook, NotebookError

    if not program.endswith(".ipynb"):
        return
    with contextlib.suppress(OSError, UnicodeError, NotebookError):  # told when it is run
        order = Notebook(Path(program).read_text(encoding="utf-8-sig")).run_order
        if order is not None:
            _note(f"{program}: {order}")


def _warn(what: str) -> None:
    """Tell what is going to be executed, before it is."""
    _note(f"{what}: it can write wherever you can")


def _note(what: str) -> None:
    print(f"note: {what}", file=sys.stderr, flush=True)


def prove(
    before: str,
    after: str,
    entry: str | None = None,
    *,
    on: str = "virtual",
    device_name: str = "cuda",
    devices: int = 1,
    time_limit: float | None = 600.0,
    memory_limit: str | None = None,
    output_limit: str | None = "64M",
    seed: int | None = None,
    python: str | None = None,
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    data: Sequence[str] = (),
    report: Path | None = None,
    html: Path | None = None,
    beside: Callable[[Path, Path, Path], Mapping[str, str]] = lambda before, after, page: {},
) -> int:
    """Run BEFORE and AFTER in copies, compare, and print one table.

    `entry` is the program, as a command line in one string. `ignore` names what outputs may differ
    in (`prove.compare`). `report` is a file for JSON, "-" for stdout; `html` one for the page.
    `beside` may write a map of the change from one folder to another next to that page; it returns
    the link to each file, by its path, and to the map under "".
    """
    from samedevice.prove.compare import IGNORABLE, Ignored
    from samedevice.prove.display import console, with_cells
    from samedevice.prove.prove import prove as prove_change
    from samedevice.prove.run import ProgramError

    to = console(stderr=report is not None and str(report) == "-")
    try:
        _check_folders(report=report, html=html)
        unknown = set(ignore) - set(IGNORABLE)
        if unknown:
            raise ProgramError(f"--ignore {min(unknown)}: expected {', '.join(IGNORABLE)}")
        settings = _settings(
            on, device_name, devices, time_limit, memory_limit, output_limit, seed, python
        )
        links: dict[str, str] = {}

        def look(old: Path, new: Path) -> None:
            if html is not None and str(html) != "-":
                links.update(beside(old, new, html))

        with console(stderr=True).status("") as status:
            proof = prove_change(
                before,
                after,
                entry,
                settings=settings,
                ignored=cast("Sequence[Ignored]", ignore),
                exclude=exclude,
                data=data,
                progress=lambda what: status.update(f"{what} ..."),
                look=look,
                ready=lambda: _warn(
                    "the program runs in copies, but with your rights and in no sandbox"
                ),
            )
        show_proof(proof, to)
        _write(report, with_cells(proof.to_json()))
        if html is not None:
            from samedevice.prove.page import render

            _write_text(html, render(proof, links))
    except ProgramError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return {"proved": 0, "not proved": 1, "inconclusive": 3}[proof.verdict]


def show_proof(proof: Proof, to: Any) -> None:
    """Print the table of a proof on a rich console, and the clash that made it fail, if one did."""
    from samedevice.prove.display import render_clash, render_proof

    to.print(render_proof(proof))
    for check in proof.checks:
        if check.verdict == "failed":
            for name, result in proof.runs.items():
                if result.clash is not None and check.detail.endswith(result.message):
                    to.print(f"\n{name}:")
                    to.print(render_clash(result.clash))
                    return


def _settings(
    on: str,
    device_type: str,
    devices: int,
    time_limit: float | None,
    memory_limit: str | None,
    output_limit: str | None,
    seed: int | None,
    python: str | None,
    record: bool = True,
) -> Settings:
    from samedevice.prove.process import Limits
    from samedevice.prove.run import ProgramError, Settings

    if on not in ("virtual", "cpu", "cuda", "auto"):
        raise ProgramError(f"--on {on}: expected virtual, cpu, cuda or auto")
    if devices < 1:
        raise ProgramError(f"--devices {devices}: expected 1 or more")
    if time_limit is not None and time_limit <= 0:
        raise ProgramError(f"--time-limit {time_limit:g}: expected more than 0 seconds")
    if seed is not None and not 0 <= seed < 2**32:
        raise ProgramError(f"--seed {seed}: expected 0 to 4294967295")
    if python and os.path.dirname(python):  # seen from here, while programs run in copies
        python = os.path.abspath(python)
    memory = _size("--memory-limit", memory_limit) if memory_limit else _most_memory(on)
    limits = Limits(
        time_limit, memory, _size("--output-limit", output_limit) if output_limit else None
    )
    return Settings(
        cast(Any, on),
        device_type,
        devices,
        limits,
        seed,
        record=record,
        python=python or sys.executable,
    )


def _size(option: str, text: str) -> int:
    """Read a size: "4G", "500M", "64k" or a number of bytes."""
    from samedevice.prove.run import ProgramError

    units = {"k": 10, "m": 20, "g": 30, "t": 40}
    word = text.strip().lower().removesuffix("b").removesuffix("i")
    try:
        if word[-1:] in units:
            size = int(float(word[:-1]) * (1 << units[word[-1]]))
        else:
            size = int(word)
    except (ValueError, OverflowError):
        raise ProgramError(f"{option} {text}: expected a size such as 4G or 500M") from None
    if size <= 0:
        raise ProgramError(f"{option} {text}: expected more than nothing")
    return size


def _most_memory(on: str) -> int | None:
    """Return nine tenths of the machine's memory: more would bring down the machine.

    None with a real accelerator, whose driver maps memory of the device into the process.
    """
    if on in ("cuda", "auto") or not hasattr(os, "sysconf"):
        return None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10
    except (ValueError, OSError):
        return None


def _check_folders(**pages: Path | None) -> None:
    """Raise ProgramError for files that could not be written after the runs."""
    from samedevice.prove.run import ProgramError

    for option, path in pages.items():
        if path is not None and not path.parent.is_dir():
            raise ProgramError(f"--{option} {path}: there is no folder {path.parent}")


def _write(path: Path | None, data: dict[str, Any]) -> None:
    if path is not None:
        _write_text(path, json.dumps(data, indent=1) + "\n")


def _write_text(path: Path, text: str) -> None:
    from samedevice.prove.run import ProgramError

    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ProgramError(f"{path}: cannot be written: {error.strerror}") from None


def _refuse(error: Exception) -> int:
    print(f"error: {error}", file=sys.stderr)
    return 2
