"""What a proof has to show, as rows of its table: from runs to verdicts. Nothing runs here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from samedevice.prove import contents
from samedevice.prove.alike import HALF_TOLERANCE, TOLERANCE, alike, differing_number
from samedevice.prove.compare import Ignored
from samedevice.prove.display import describe_losses, located
from samedevice.prove.reach import Reach
from samedevice.prove.record import Record
from samedevice.prove.run import RunResult

Verdict = Literal["passed", "failed", "inconclusive", "skipped", "noted"]

CAUGHT = "clashes that the program caught"

_SHOWN = 5  # names in one row
_FIRST_LOSSES = 10  # that are compared where precision is lower on the accelerator
# Operations that are work: products, convolutions, recurrent cells, attention.
_WORK = frozenset(
    {
        "mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "addbmm", "dot", "linear",
        "convolution", "convolution_backward", "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward",
        "_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """One thing that was to be shown. "noted" and "skipped" ones decide nothing."""

    name: str
    verdict: Verdict
    detail: str = ""


def ran(name: str, run: RunResult, like: RunResult | None = None) -> Check:
    """Show that a run came to its end, or to the end that `like` came to."""
    same_end = like is not None and run.status == "exited" == like.status
    if not run.passed and not (same_end and like and run.exit_code == like.exit_code):
        return Check(name, "failed", f"{run.status}: {run.message}")
    known = like.uncaught if like is not None else run.uncaught
    news = [error for error in run.uncaught if error not in known]
    if news:
        return Check(name, "failed", f"an exception ended a thread or a callback: {news[0]}")
    return Check(name, "passed", f"{run.seconds:.1f} s")


def reached(reach: Reach, strays: Sequence[str]) -> list[Check]:
    """Show that the change is among what ran, and nothing but the copy."""
    name = "changed code ran"
    if strays:
        told = f"{strays[0]} was run, not its copy: load it by a path in the project"
        return [Check(name, "inconclusive", told)]
    missed = ", ".join(reach.missed[:_SHOWN])
    if len(reach.missed) > _SHOWN:
        missed += f" and {len(reach.missed) - _SHOWN:,} more"
    if not reach.files:
        return [Check(name, "inconclusive", "no file differs")]
    if reach.nothing:
        told = f"{reach}: {missed} did not run; name a program that uses what was changed"
        return [Check(name, "inconclusive", told)]
    found = [Check(name, "passed", str(reach))]
    if missed:
        found.append(Check("changed code that did not run", "noted", missed))
    return found


def something_to_see(run: RunResult, written: Collection[str]) -> list[Check]:
    """Say so where nothing shows what the program computed."""
    record = run.record
    seen = run.stdout.size or written or not run.passed
    if seen or record is None or record.losses.count or record.optimizers:
        return []
    told = "it prints nothing, trains nothing and writes no file: let it print what it computes"
    return [Check("something to compare", "inconclusive", told)]


def on_device(run: RunResult, reference: RunResult) -> list[Check]:
    """Show that an accelerated run did its work there, all that `reference` did on the CPU."""
    device, record = run.device, run.record
    if record is None or device == "cpu":
        return []
    found = [_operations(device, record)]
    if record.refused and run.passed:
        one = record.refused[0]
        where = Path(located(one.file, one.line)).name if one.file else "somewhere"
        told = f"{len(record.refused)}, the first at {where}: {one.message}"
        found.append(Check(CAUGHT, "failed", told))
    found += _parameters(device, record, reference.record)
    if record.losses.count:
        verdict: Verdict = "failed" if record.losses.infinite else "passed"
        found.append(Check("losses finite", verdict, describe_losses(record)))
    return found


def _operations(device: str, record: Record) -> Check:
    everywhere = sum(sum(names.values()) for names in record.operations.values())
    there = record.count(device)
    work = {
        place: sum(count for name, count in names.items() if name in _WORK)
        for place, names in record.operations.items()
    }
    work_there = sum(count for place, count in work.items() if place.split(":")[0] == device)
    work_here = sum(work.values()) - work_there
    told = f"{there:,} of {everywhere:,}"
    if work_here > work_there:
        told += f", but {work_here:,} of {sum(work.values()):,} products and convolutions were not"
        return Check(f"operations on {device}", "failed", told)
    return Check(f"operations on {device}", "passed" if there else "failed", told)


def _parameters(device: str, record: Record, reference: Record | None) -> Iterable[Check]:
    others = reference.optimizers if reference is not None else []
    for at, optimizer in enumerate(record.optimizers):
        elsewhere = sum(
            count for place, count in optimizer.devices.items() if place.split(":")[0] != device
        )
        places = ", ".join(f"{count} on {place}" for place, count in optimizer.devices.items())
        told = f"{places or 'none had a gradient'}; {optimizer.steps:,} steps"
        wanted = sum(others[at].devices.values()) if at < len(others) else 0
        missing = wanted - sum(optimizer.devices.values())
        if missing > 0:
            told += f"; {missing} that have a gradient on the CPU have none"
        verdict: Verdict = "failed" if elsewhere or missing > 0 else "passed"
        yield Check(f"parameters of {optimizer.name} on {device}", verdict, told)


def files(
    name: str,
    one: Mapping[str, Path],
    two: Mapping[str, Path],
    *,
    ignored: Collection[Ignored] = (),
    unstable: Collection[str] = (),
    on: str = "",
    tolerance: float = TOLERANCE,
) -> list[Check]:
    """Compare what two runs wrote. `unstable` files are never the same twice: they are noted."""
    if not one and not two:
        return []
    differences = file_differences(one, two, ignored=ignored, on=on, tolerance=tolerance)
    telling = [path for path in differences if path not in unstable]
    if telling:
        told = f"{telling[0]}: {differences[telling[0]]}"
        if len(telling) > 1:
            told += f" ({len(telling)} files differ)"
        return [Check(name, "failed", told)]
    if differences:
        told = ", ".join(list(differences)[:_SHOWN])
        return [Check(name, "noted", f"two runs of BEFORE differ as well in {told}")]
    return [Check(name, "passed", f"{len(one)} file{'s' if len(one) != 1 else ''}")]


def file_differences(
    one: Mapping[str, Path],
    two: Mapping[str, Path],
    *,
    ignored: Collection[Ignored] = (),
    on: str = "",
    tolerance: float = TOLERANCE,
) -> dict[str, str]:
    """Return what differs in the files that two runs wrote, by their paths."""
    sides = (f"on {on}", "on cpu") if on else ("after", "before")
    found = {}
    for path in sorted(one.keys() | two.keys()):
        if path not in one or path not in two:
            found[path] = f"written {sides[path not in two]} only"
        else:
            difference = contents.differing(
                one[path], two[path], ignored, on=on, tolerance=tolerance
            )
            if difference:
                found[path] = difference
    return found


# The CPU against the accelerator


def tolerance_of(run: RunResult) -> float:
    """Return how far numbers of this run may be from the CPU's, relatively."""
    lower = run.record is not None and run.device in run.record.autocast
    return HALF_TOLERANCE if lower else TOLERANCE


def same_as_cpu(cpu: RunResult, run: RunResult, ignored: Collection[Ignored]) -> list[Check]:
    """Compare what a run on an accelerator printed and learned with what it did on the CPU."""
    on, tolerance = run.device, tolerance_of(run)
    name = f"{on} says what cpu says"
    if cpu.exit_code != run.exit_code:
        told = f"exit code {cpu.exit_code} on cpu, {run.exit_code} on {on}"
        return [Check(name, "failed", told)]
    result = alike(cpu.stdout.text, run.stdout.text, ignored, device_type=on, tolerance=tolerance)
    told = result.difference or "the same"
    if result.allowed and not result.difference:
        told = f"the same but for {result.allowed} lines that name devices"
    verdict: Verdict = "failed" if result.difference else "passed"
    if verdict == "failed" and tolerance == HALF_TOLERANCE:
        verdict = "noted"  # digits of a lower precision are other digits
    found = [Check(name, verdict, told)]
    if cpu.record is not None and run.record is not None:
        found += _numbers(on, cpu.record, run.record, tolerance)
    return found


def _numbers(on: str, cpu: Record, other: Record, tolerance: float) -> Iterable[Check]:
    most = _FIRST_LOSSES if tolerance == HALF_TOLERANCE else None
    losses = differing_number(cpu.losses.values[:most], other.losses.values[:most], tolerance)
    name = f"{on} learns what cpu learns"
    if losses:
        told = f"loss {losses[0]}: {losses[1]!r} on cpu, {losses[2]!r} on {on}"
        yield Check(name, "failed", told)
    elif cpu.losses.count != other.losses.count:
        told = f"{cpu.losses.count} losses on cpu, {other.losses.count} on {on}"
        yield Check(name, "failed", told)
    elif told := _steps(on, cpu, other, tolerance):
        yield Check(name, "failed", told)
    elif cpu.losses.count or cpu.optimizers:
        yield Check(name, "passed", f"within {tolerance:g}")
    more = sorted(set(other.floats) - set(cpu.floats))
    if more and on not in other.autocast:
        told = f"{', '.join(more)} on {on} only"
        yield Check("same floating types", "failed", told)


def _steps(on: str, cpu: Record, other: Record, tolerance: float) -> str:
    if len(cpu.optimizers) != len(other.optimizers):
        return f"{len(cpu.optimizers)} optimizers step on cpu, {len(other.optimizers)} on {on}"
    if tolerance == HALF_TOLERANCE:
        return ""  # steps are skipped where the scale was too large
    for one, two in zip(cpu.optimizers, other.optimizers, strict=True):
        if one.steps != two.steps:
            return f"{one.name}: {one.steps} steps on cpu, {two.steps} on {on}"
        sums = differing_number(one.sums, two.sums, tolerance * 10)  # sums of many
        if sums:
            return (
                f"{one.name}: the parameters sum up to {sums[1]!r} on cpu, {sums[2]!r} on {on} "
                f"after step {sums[0]}"
            )
    return ""
