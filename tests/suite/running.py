"""How the programs run before and after a repair."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cases.running import Ran, Runner

from .catalogue import Files, Program, Repaired, runnable

ENTRY = "main.py"
HOW = {  # whether it ends well on the CPU, and on a device
    "host": (True, True),
    "clash": (True, False),
    "cuda": (False, True),
    "both": (False, False),
    "other": (True, True),
}


@dataclass(frozen=True)
class Runs:
    """A program on the CPU and on the virtual accelerator."""

    cpu: Ran
    device: Ran


def run(files: Files, runner: Runner) -> Runs:
    """Run a program on both."""
    files = runnable(files)
    return Runs(runner.run(files, ENTRY, "cpu"), runner.run(files, ENTRY, "virtual"))


def is_as_told(program: Program, before: Runs) -> list[str]:
    """Return what the table says wrongly of how a program runs before any repair."""
    if program.kind == "right":
        return works(program, None, before)
    wanted = HOW[program.before]
    seen = (before.cpu.code == 0, before.device.code == 0)
    if wanted != seen:
        return [f"{program.before}: {_last(before.cpu)} on the CPU, {_last(before.device)} there"]
    if program.before == "host" and before.device.computed_there:
        return ["computes on the device"]
    return []


def works(program: Program, before: Runs | None, after: Runs) -> list[str]:
    """Return what keeps a program from running as it should on both."""
    found = []
    if after.cpu.code:
        found.append(f"fails on the CPU: {after.cpu.last_line[:150]}")
    elif before is not None and before.cpu.code == 0 and before.cpu.stdout != after.cpu.stdout:
        found.append("prints something else on the CPU")
    if after.device.code:
        found.append(f"fails on the device: {after.device.last_line[:150]}")
        return found if program.device != "less" else found[:-1]
    if program.device == "computes" and not after.device.computed_there:
        found.append("computes on the host")
    if program.output == "same" and not after.cpu.code and after.cpu.stdout != after.device.stdout:
        found.append("prints something else on the device")
    return found


def objections(program: Program, repaired: Repaired, before: Runs, after: Runs) -> list[str]:
    """Return what of a repair is neither right nor told.

    What ran on the CPU has to run there, whatever is told.
    """
    if program.kind == "right":
        return works(program, None, after)
    if before.cpu.code == 0 and (after.cpu.code or before.cpu.stdout != after.cpu.stdout):
        return ["is broken on the CPU"]
    if before.device.code == 0 and after.device.code:
        return [f"is broken on the device: {after.device.last_line[:150]}"]
    found = works(program, before, after)
    return [] if found and repaired.told else [f"silent: {text}" for text in found]


def _last(ran: Ran) -> str:
    return "runs" if ran.code == 0 else ran.last_line[:150]
