"""Whether two runs did the same: their output, their losses, the files that they wrote.

Exactly the same, unless the user names what may differ (for the CPU against an accelerator, see
`prove.alike` and what it lets differ by itself):

- `timings`: numbers with a unit of time ("12.3s", "5 ms", "1.2 it/s"), clock times and dates
- `paths`: absolute paths
- `addresses`: "0x7f..." as in the repr of an object
- `device`: what the program does on an accelerator, against what it does on the CPU
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import zip_longest
from typing import Literal, get_args

from samedevice.prove.process import Captured
from samedevice.prove.record import Record

Ignored = Literal["timings", "paths", "addresses", "device"]
IGNORABLE: tuple[Ignored, ...] = get_args(Ignored)

_UNIT = r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|m|h|hours?|it/s|s/it|samples/s)"
_PATTERNS: dict[Ignored, re.Pattern[str]] = {
    "timings": re.compile(
        rf"""
        \b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
        | \b\d+:\d\d(?::\d\d)?(?:\.\d+)?\b
        | (?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?\s?{_UNIT}(?![\w/])
        """,
        re.VERBOSE,
    ),
    "paths": re.compile(r"(?<![\w.])(?:/[\w.+-]+){2,}/?|\b[A-Za-z]:(?:\\[\w.+ -]+)+"),
    "addresses": re.compile(r"\b0x[0-9a-fA-F]{6,}\b"),
}


def normalise(text: str, ignored: Collection[Ignored]) -> str:
    """Return `text` with what is ignored replaced by its name: "took 3.2s" -> "took <timings>"."""
    for what, pattern in _PATTERNS.items():
        if what in ignored:
            text = pattern.sub(f"<{what}>", text)
    return text


def differing_line(one: Captured, two: Captured, ignored: Collection[Ignored] = ()) -> str:
    """Return what differs first between two outputs, or "" when they are the same."""
    if one.digest == two.digest:
        return ""
    texts = [normalise(output.text, ignored) for output in (one, two)]
    if ignored and one.complete and two.complete and texts[0] == texts[1]:
        return ""
    lines = zip_longest(*(text.splitlines() for text in texts), fillvalue=None)
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            return f"line {number}: {quote(left)} before, {quote(right)} after"
    return "they differ in the part of a long output that was not kept"


def differing_loss(one: Record, two: Record) -> str:
    """Return which loss differs first between two runs, or "" when all are bit for bit the same."""
    pairs = zip_longest(one.losses.values, two.losses.values, fillvalue="none")
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"loss {number}: {left!r} before, {right!r} after"
    if one.losses.count != two.losses.count:
        return f"{one.losses.count} losses before, {two.losses.count} after"
    return ""


def differing_step(one: Record, two: Record) -> str:
    """Return which optimizer's step differs first, in the parameters that it left behind, or ""."""
    if len(one.optimizers) != len(two.optimizers):
        return f"{len(one.optimizers)} optimizers stepped before, {len(two.optimizers)} after"
    for left, right in zip(one.optimizers, two.optimizers, strict=True):
        if left.steps != right.steps:
            return f"{left.name}: {left.steps} steps before, {right.steps} after"
        for number, sums in enumerate(zip(left.sums, right.sums, strict=False), 1):
            if sums[0] != sums[1]:
                return (
                    f"{left.name}: the parameters sum up to {sums[0]!r} before, {sums[1]!r} after "
                    f"step {number}"
                )
    return ""


def quote(line: str | None) -> str:
    """Return a line in quotes for a message, shortened; None is "nothing"."""
    if line is None:
        return "nothing"
    return repr(line if len(line) <= 120 else line[:117] + "...")
