"""Whether a run on an accelerator said the same as one on the CPU.

What may differ, and nothing else:

- names of devices: `cpu`, `cuda:0`, `device(type='cuda', index=0)`, `torch.cuda.FloatTensor`, and
  `, device='cuda:0'` in the repr of a tensor
- lines that name a device, an accelerator or its memory: they may be there on one side only, unless
  they have a decimal fraction (memory and versions aside); on both they may differ in amounts of
  memory, in truth values, and in a count that is zero on the CPU
- numbers that are not whole, by one in a million (another order of summation), or by one in the
  last of equally many printed digits
- what the user ignores (`prove.compare`)
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import zip_longest

from samedevice.prove.compare import Ignored, normalise, quote

TOLERANCE = 1e-6  # relative
HALF_TOLERANCE = 0.05  # where the program asks for half precision on the accelerator only

_DEVICE = "<device>"
_REPR = re.compile(r",\s*device='[\w:]+'")
_BROKEN_REPR = re.compile(r",\n\s+(?=(?:grad_fn|requires_grad|dtype|size|layout|nnz)=)")
_SPELLINGS = re.compile(
    r"""
    device\(type='\w+'(?:,\s*index=\d+)?\)
    | \b(?:cpu|cuda|gpus?|mps|xpu|hpu|npu|xla)(?::\d+(?![.\d]))?(?![a-z])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LEGACY = re.compile(r"\btorch\.(?:cuda|xpu|mps)\.(?=\w+Tensor\b)")
_SPEAKS = re.compile(r"<device>|\b(?:device|accelerator|nvidia|cudnn|vram)s?\b", re.IGNORECASE)
_MEMORY = re.compile(r"memory|allocated|reserved|\b[kmgt]i?b\b", re.IGNORECASE)
_VERSION = re.compile(r"version|capability|driver", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FRACTION = re.compile(r"(?<![\w.])[-+]?\d*\.\d")
_TRUTH = re.compile(r"\b(?:True|False|true|false|yes|no)\b")


@dataclass(frozen=True)
class Alike:
    """`difference` is what differs first, "" for nothing; `allowed` lines differ and may."""

    difference: str = ""
    allowed: int = 0


def alike(
    cpu: str,
    accelerated: str,
    ignored: Collection[Ignored] = (),
    *,
    device_type: str = "cuda",
    tolerance: float = TOLERANCE,
) -> Alike:
    """Compare two texts, the CPU's and the accelerator's."""
    if cpu == accelerated:
        return Alike()
    sides = [_lines(text, ignored, device_type) for text in (cpu, accelerated)]
    plain = [[line for line in side if not _SPEAKS.search(line)] for side in sides]
    for one, two in zip_longest(*plain):
        if one is None or two is None or not _same(one, two, tolerance):
            return Alike(f"{quote(one)} on cpu, {quote(two)} on {device_type}")
    speaking = [[line for line in side if _SPEAKS.search(line)] for side in sides]
    return _speaking(speaking[0], speaking[1], tolerance, device_type)


def _speaking(cpu: list[str], other: list[str], tolerance: float, device_type: str) -> Alike:
    """Compare the lines that name devices: those of one form with each other, in order."""
    forms: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, lines in enumerate((cpu, other)):
        for line in lines:
            forms[_form(line)][side].append(line)
    allowed = 0
    for ours, theirs in forms.values():
        for one, two in zip_longest(ours, theirs):
            if one is None or two is None:
                # printed more often on one side, or with a value that the other side has not
                if (ours and theirs) or _has_value(one or two or ""):
                    return Alike(f"{quote(one)} on cpu, {quote(two)} on {device_type}")
                allowed += 1
            elif _MEMORY.search(one) or one == two:
                allowed += one != two
            elif _same(_TRUTH.sub("?", one), _TRUTH.sub("?", two), tolerance, counts=True):
                allowed += 1
            else:
                return Alike(f"{quote(one)} on cpu, {quote(two)} on {device_type}")
    return Alike("", allowed)


def _lines(text: str, ignored: Collection[Ignored], device_type: str) -> list[str]:
    text = _BROKEN_REPR.sub(", ", _REPR.sub("", normalise(text, ignored)))
    text = _SPELLINGS.sub(_DEVICE, _LEGACY.sub("torch.", text))
    if device_type not in ("cpu", "cuda"):
        text = re.sub(rf"\b{re.escape(device_type)}(?::\d+(?![.\d]))?(?![a-z])", _DEVICE, text)
    return [line.rstrip() for line in text.splitlines()]


def _has_value(line: str) -> bool:
    about = _MEMORY.search(line) or _VERSION.search(line)
    return not about and _FRACTION.search(line) is not None


def _form(line: str) -> str:
    return _TRUTH.sub("?", _NUMBER.sub("#", line))


def _same(one: str, two: str, tolerance: float, counts: bool = False) -> bool:
    if one == two:
        return True
    if _NUMBER.split(one) != _NUMBER.split(two):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    return all(
        near_text(left, right, tolerance) or (counts and left == "0" and right.isdigit())
        for left, right in pairs
    )


def near_text(one: str, two: str, tolerance: float) -> bool:
    """Tell whether two printed numbers are one number that was computed twice."""
    if one == two:
        return True
    if one.lstrip("+-").isdigit() or two.lstrip("+-").isdigit():
        return False  # whole numbers count something
    left, right = float(one), float(two)
    digits = [_unit(text) for text in (one, two)]
    if digits[0] == digits[1] and abs(left - right) <= digits[0] * 1.5 and digits[0] < 0.1:
        return True
    return near(left, right, tolerance)


def _unit(text: str) -> float:
    """Return what one in the last printed digit is worth."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def near(one: float | None, two: float | None, tolerance: float) -> bool:
    """Tell whether two numbers are the same within the tolerance; None is one that is not finite.

    `tolerance` is relative, and absolute for numbers below one.
    """
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance)


def differing_number(
    cpu: Iterable[float | None], other: Iterable[float | None], tolerance: float
) -> tuple[int, float | str | None, float | str | None] | None:
    """Return the first pair that is not near, with its place from 1; None when all are."""
    missing = "none"
    for at, (one, two) in enumerate(zip_longest(cpu, other, fillvalue=missing), 1):
        if isinstance(one, str) or isinstance(two, str) or not near(one, two, tolerance):
            return at, one, two
    return None
