"""Whether two runs of a program said the same."""

from __future__ import annotations

import math
import re

from .stage import Run

_TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\w+|[^\w\s]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_DURATION = re.compile(
    r"[-+]?\d+(?:\.\d+)?(?=\s*(?:ms|s|sec|secs|seconds?|m|min|mins|minutes?|it/s|ms/batch)\b)"
    r"|\d+:\d\d(?::\d\d)?(?:\.\d+)?"
    r"|(?<=time: )\d+(?:\.\d+)?|(?<=time )\d+(?:\.\d+)?"
)
_DEVICE = re.compile(r",? ?device='?\w+(?::\d+)?'?|\b(?:cpu|cuda|gpu)\b(?::\d+)?", re.IGNORECASE)


def tokens(text: str) -> list[list[str]]:
    """Every line's words and numbers, with durations and addresses masked.

    Progress bars that rewrite their line count by what they leave on it.
    """
    lines = [line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")]
    masked = (_DURATION.sub("#", _ADDRESS.sub("#", line)) for line in lines)
    return [_TOKEN.findall(line) for line in masked]


def noise(first: str, second: str) -> set[tuple[int, int]] | None:
    """Places (line, token) at which two runs of the *same* program differ; None: in their shape."""
    places = set()
    a, b = tokens(first), tokens(second)
    if [len(line) for line in a] != [len(line) for line in b]:
        return None
    for number, (left, right) in enumerate(zip(a, b, strict=True)):
        for place, (x, y) in enumerate(zip(left, right, strict=True)):
            if x != y:
                places.add((number, place))
    return places


def difference(
    before: Run, again: Run, after: Run, *, tolerance: float = 0.0, devices: bool = False
) -> str:
    """The first difference between ``before`` and ``after``, or an empty text.

    ``again`` is a second run of the program before: what differs there is no evidence.
    ``tolerance`` is relative and holds for numbers. ``devices=True`` passes over the device in a
    printed tensor or sentence.
    """
    texts = [run.stdout for run in (before, again, after)]
    if devices:
        texts = [_DEVICE.sub("", text) for text in texts]
    ignored = noise(texts[0], texts[1])
    if ignored is None:
        return "the program itself never prints the same twice"
    a, b = tokens(texts[0]), tokens(texts[2])
    for number, (left, right) in enumerate(zip(a, b, strict=False)):
        same = len(left) == len(right) and all(
            (number, place) in ignored or _equal(x, y, tolerance)
            for place, (x, y) in enumerate(zip(left, right, strict=True))
        )
        if not same:
            return f"line {number + 1}: {' '.join(left)!r} became {' '.join(right)!r}"[:300]
    if len(a) != len(b):
        return f"{len(a)} lines of output became {len(b)}"
    return loss_difference(before, again, after, tolerance)


def loss_difference(before: Run, again: Run, after: Run, tolerance: float = 0.0) -> str:
    """The first difference between the losses of ``before`` and ``after``, or an empty text."""
    if before.losses != again.losses:
        return "the program itself never computes the same twice"
    if len(before.losses) != len(after.losses):
        return f"{len(before.losses)} backward passes became {len(after.losses)}"
    for number, (left, right) in enumerate(zip(before.losses, after.losses, strict=True)):
        if not _equal(left, right, tolerance):
            return f"backward pass {number + 1}: loss {left} became {right}"
    return ""


def _equal(left: str, right: str, tolerance: float) -> bool:
    if left == right:
        return True
    try:
        return tolerance > 0 and math.isclose(
            float(left), float(right), rel_tol=tolerance, abs_tol=tolerance
        )
    except ValueError:
        return False
