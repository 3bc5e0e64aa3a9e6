"""Show how a run went, on a terminal or in a log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from samedevice.prove import notebook
from samedevice.prove.again import RECORDED
from samedevice.prove.clash import Clash, Kind, Party
from samedevice.prove.record import Record, Transfer
from samedevice.prove.run import RunResult
from samedevice.reading.notebook import Notebook

if TYPE_CHECKING:
    from samedevice.prove.prove import Proof

_WIDTH_OF_LOGS = 120
_MEANINGS: dict[Kind, str] = {
    "mismatch": "two operands of one operation are on two devices",
    "numpy": "NumPy reads the CPU's memory only",
    "lengths": "this argument must be on the CPU",
    "indices": "a tensor on the CPU is indexed with one on the device",
    "generator": "a generator draws for tensors on its own device only",
    "storage": "a tensor cannot take the storage of one on another device",
    "replicas": "DataParallel's module must be on its first device",
    "load": "the checkpoint was saved on a device that this machine does not have: "
    "torch.load needs map_location",
    "fork": "a forked process cannot use the accelerator of its parent",
    "pin": "only a tensor on the CPU can be pinned",
    "missing": "the program asks for an accelerator that this machine does not have",
    "ordinal": "the program asks for more accelerators than this machine has",
    "memory": "the accelerator's memory is full",
}
_ARROWS = {"value": "value read", "size": "size read", "data": "from Python", "index": "as index"}


def console(stderr: bool = False) -> Console:
    """Return a console: as wide as the terminal, and of a fixed width in a log."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal:
        found = Console(stderr=stderr, highlight=False, width=_WIDTH_OF_LOGS)
    return found


def as_text(what: RenderableType) -> str:
    """Return what a console would print, without colours."""
    plain = Console(highlight=False, width=_WIDTH_OF_LOGS, no_color=True, force_terminal=False)
    with plain.capture() as capture:
        plain.print(what)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def show_run(result: RunResult, to: Console, transfers: int = 10) -> None:
    """Print how a run went: what stopped it, and what it did, with at most `transfers` lines."""
    on = result.on if result.on in ("cpu", result.device) else f"{result.on} {result.device}"
    head = [result.program, on, *([f"torch {result.torch}"] if result.torch else [])]
    to.rule(Text(" · ".join([*head, _seconds(result.seconds)])), style="dim")
    if result.clash is not None:
        to.print(render_clash(result.clash))
    elif result.message:
        to.print(Text(f"{result.status}: {result.message}", "bold red"))
        if result.frames:
            last = result.frames[-1]
            for part in _statement(last.file, last.line, last.function, last.text):
                to.print(part)
    if result.left_behind:
        to.print(
            f"{result.left_behind} process(es) that it had left behind were ended", style="red"
        )
    if result.again not in ("", RECORDED):
        to.print(Text(f"({result.again})", "dim"))
    if result.record is not None:
        to.print(render_record(result.record, result.on == "virtual", transfers))
    if result.passed:
        to.print("passed", style="bold green")


def render_clash(clash: Clash) -> RenderableType:
    """Return torch's message, the user's line, and where each operand got its place."""
    parts: list[RenderableType] = [
        Text.assemble(("clash: ", "bold red"), (_MEANINGS[clash.kind], "bold")),
        Padding(Text(f"{clash.exception}: {clash.message}"), (0, 2)),
    ]
    if clash.file:
        parts += _statement(clash.file, clash.line, clash.function, clash.text)
    for party in clash.operands:
        parts.append(Padding(_party(party), (0, 2)))
    return Group(*parts)


def _statement(file: str, line: int, function: str, text: str) -> Iterator[RenderableType]:
    """Yield where a statement is, and its code."""
    inside = f" in {function}" if function not in ("", "<module>") else ""
    yield Text(f"{located(file, line)}{inside}", "bold")
    cell = _cell(file, line)
    yield Padding(_code(cell[1] if cell else line, text), (0, 2))


def with_cells(data: Any) -> Any:
    """Return data for JSON in which each line of a notebook has its cell and its line in it, too.

    They are `cell`, counted from 1 among the cells of all kinds, and `line_in_cell`.
    """
    if isinstance(data, (list, tuple)):
        return [with_cells(one) for one in data]
    if not isinstance(data, dict):
        return data
    file, line = data.get("file"), data.get("line")
    cell = _cell(file, line) if isinstance(file, str) and isinstance(line, int) else None
    more = {"cell": cell[0], "line_in_cell": cell[1]} if cell else {}
    return {key: with_cells(value) for key, value in data.items()} | more


def located(file: str, line: int) -> str:
    """Return where a line is as people count it: in a notebook by its cell and the line in it."""
    cell = _cell(file, line)
    return (
        f"{shorten(file)}:{line}" if cell is None else f"{shorten(file)}:cell {cell[0]}:{cell[1]}"
    )


def _cell(file: str, line: int) -> tuple[int, int] | None:
    found = _read(file) if file.endswith(".ipynb") else None
    return notebook.cell_of(found, line) if found is not None else None


@lru_cache(maxsize=4)
def _read(file: str) -> Notebook | None:
    """Return a notebook, None where the file is none (any more)."""
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return Notebook(stream.read())
    except (OSError, ValueError):
        return None


def _party(party: Party) -> RenderableType:
    head = Text.assemble(
        (party.expression or "an operand without a name", "bold"),
        " is on ",
        (party.device, "bold cyan"),
    )
    if party.what:
        head.append(f"   {party.what}", "dim")
    if not party.steps:  # nothing was watched: `samedevice.live`
        return head
    table = Table.grid(padding=(0, 2))
    for step in party.steps:
        where = located(step.file, step.line) if step.file else "(not in your code)"
        verb = f"moved to {step.device}" if step.how == "moved" else f"{step.how} on {step.device}"
        table.add_row(Text(verb, "cyan"), Text(where), Text(step.text, "dim"))
    return Group(head, Padding(table, (0, 4)))


def _code(line: int, text: str) -> RenderableType:
    return Syntax(
        text,
        "python",
        line_numbers=True,
        start_line=line,
        theme="ansi_dark",
        background_color="default",
        word_wrap=True,
    )


def render_record(record: Record, virtual: bool, transfers: int = 10) -> RenderableType:
    """Return what a run did: operations, optimizers, losses, and the longest transfers."""
    lines = Table.grid(padding=(0, 2))
    operations = {device: sum(names.values()) for device, names in record.operations.items()}
    if operations:
        counts = [f"{device} {count:,}" for device, count in sorted(operations.items())]
        lines.add_row("operations", " · ".join(counts))
    elif virtual:
        more = "(operations and transfers: --record)"
        lines.add_row("tensors", f"{record.made:,} made on the device {more}")
    for optimizer in record.optimizers:
        places = ", ".join(f"{count} on {device}" for device, count in optimizer.devices.items())
        steps = f"{optimizer.steps:,} step{'s' if optimizer.steps != 1 else ''}"
        lines.add_row("optimizer", f"{optimizer.name}: {steps}, parameters: {places or 'none'}")
    if record.losses.count:
        lines.add_row("losses", describe_losses(record))
    parts: list[RenderableType] = [lines]
    if record.transfers:
        parts.append(render_transfers(record.transfers, virtual, transfers))
    return Group(*parts)


def describe_losses(record: Record) -> str:
    """Return one line about the losses of a run."""
    losses = record.losses
    if not losses.values:  # of a real device, which would have been waited for
        return f"{losses.count:,}"
    finite = [value for value in losses.values if value is not None]
    way = f" {finite[0]:.6g} → {finite[-1]:.6g}," if finite else ""
    bad = f"{losses.infinite} NOT FINITE" if losses.infinite else "all finite"
    return f"{losses.count:,}:{way} {bad}"


def render_transfers(transfers: list[Transfer], virtual: bool, most: int = 10) -> RenderableType:
    """Return a table of the transfers by line, with what would make them cheaper."""
    ranked = sorted(transfers, key=lambda one: -one.cost)
    measured = any(one.seconds is not None for one in ranked)
    cost = "time" if measured and not virtual else "estimate"
    table = Table(
        title="Transfers between the CPU and the device, the longest first",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for name in (cost, "count", "bytes", "waits"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("way", no_wrap=True)
    table.add_column("line", overflow="fold")
    for one in ranked[:most]:
        how = f" ({_ARROWS[one.how]})" if one.how in _ARROWS else ""
        where = located(one.file, one.line) if one.file else "(not in your code)"
        line = Text.assemble((where, "bold"), "  ", (one.text, "dim"))
        if one.advice:
            line.append(f"\n↳ {one.advice}", "yellow")
        table.add_row(
            _seconds(one.cost),
            f"{one.count:,}",
            _bytes(one.nbytes),
            f"{one.waits:,}",
            f"{one.source} → {one.target}{how}",
            line,
        )
    total = (
        f"in all {sum(one.count for one in ranked):,} transfers from "
        f"{len(ranked)} line{'s' if len(ranked) != 1 else ''}, "
        f"{_bytes(sum(one.nbytes for one in ranked))}, {_seconds(sum(one.cost for one in ranked))}"
    )
    if cost == "estimate":
        total += " (estimated for a PCIe 3.0 x16 link: 10 µs each and 12 GB/s)"
    return Group(*[table] * (most > 0), Text(total, "dim"))


def render_proof(proof: Proof) -> RenderableType:
    """Return the one table that a proof comes to."""
    colour = {"proved": "green", "not proved": "red", "inconclusive": "yellow"}[proof.verdict]
    verdict = Text(proof.verdict, f"bold {colour}")
    table = Table(
        title=Text.assemble(verdict, f"  {proof.program}   {proof.before} → {proof.after}"),
        title_justify="left",
        box=None,
        show_header=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    styles = {
        "passed": "green",
        "failed": "bold red",
        "inconclusive": "bold yellow",
        "skipped": "dim",
        "noted": "yellow",
    }
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in proof.checks:
        table.add_row(Text(check.verdict, styles[check.verdict]), check.name, Text(check.detail))
    return table


def shorten(path: str) -> str:
    """Return a path as seen from here, if it is under here."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def _seconds(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.3g} {unit}" if unit != "B" else f"{count} B"
        size /= 1000
    raise AssertionError
