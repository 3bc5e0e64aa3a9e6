"""Whether two files that runs wrote hold the same.

Read as what they are: text by lines, archives (checkpoints, `.npz`) by their members, pickles by
their structure. No code in them is run. For a file of a run on an accelerator, what `prove.alike`
lets differ in an output may differ, and the devices that a checkpoint remembers.
"""

from __future__ import annotations

import array
import itertools
import math
import zipfile
from collections.abc import Collection
from pathlib import Path

from samedevice.prove import pickles
from samedevice.prove.alike import alike, near
from samedevice.prove.compare import Ignored, normalise, quote

_MOST = 256 << 20  # bytes of a file that are read; a larger one is compared byte by byte
# How a checkpoint says which numbers a member has. Only these are compared with a tolerance.
_FLOATS = {"torch.FloatStorage": "f", "torch.DoubleStorage": "d"}
_DERIVED = frozenset({"serialization_id"})  # of a checkpoint: a digest of all else in it


def differing(
    one: Path,
    two: Path,
    ignored: Collection[Ignored] = (),
    *,
    on: str = "",
    tolerance: float = 0.0,
) -> str:
    """Return what differs between two files, or "" when they hold the same.

    With `on`, the second one is a run's on that type of accelerator, and `tolerance` is for its
    numbers.
    """
    if _same_bytes(one, two):
        return ""
    if max(one.stat().st_size, two.stat().st_size) > _MOST:
        return "different content"
    left, right = one.read_bytes(), two.read_bytes()
    if zipfile.is_zipfile(one) and zipfile.is_zipfile(two):
        return _archives(one, two, on, tolerance)
    text, other = _text(left), _text(right)
    if text is not None and other is not None:
        if on:
            return alike(text, other, ignored, device_type=on, tolerance=tolerance).difference
        return _lines(normalise(text, ignored), normalise(other, ignored))
    if on and pickles.same(left, right, tolerance):
        return ""
    return "different content"


def _same_bytes(one: Path, two: Path) -> bool:
    if one.stat().st_size != two.stat().st_size:
        return False
    with one.open("rb") as left, two.open("rb") as right:
        while block := left.read(1 << 20):
            if block != right.read(1 << 20):
                return False
    return True


def _text(content: bytes) -> str | None:
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _lines(one: str, two: str) -> str:
    pairs = itertools.zip_longest(one.splitlines(), two.splitlines())
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"line {number}: {quote(left)} before, {quote(right)} after"
    return ""


def _archives(one: Path, two: Path, on: str, tolerance: float) -> str:
    """Compare archives by their members; when they were packed is no difference."""
    try:
        with zipfile.ZipFile(one) as left, zipfile.ZipFile(two) as right:
            sides = [
                {name.partition("/")[2] or name: name for name in archive.namelist()}
                for archive in (left, right)
            ]
            if sides[0].keys() != sides[1].keys():
                names = sorted(sides[0].keys() ^ sides[1].keys())
                return f"{names[0]} is in one only"
            kinds: dict[str, str] = {}
            for name in sorted(sides[0], key=lambda name: (not name.endswith(".pkl"), name)):
                if name.rpartition("/")[2] in _DERIVED:
                    continue
                members = left.read(sides[0][name]), right.read(sides[1][name])
                if name.endswith(".pkl"):
                    kinds |= pickles.storages(members[0])
                if members[0] == members[1] or (on and pickles.same(*members, tolerance)):
                    continue
                kind = _FLOATS.get(kinds.get(name.rpartition("/")[2], ""), "") if on else ""
                if not kind or not _near(*members, kind, tolerance):
                    return f"{name} is different"
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return "different content"
    return ""


def _near(one: bytes, two: bytes, kind: str, tolerance: float) -> bool:
    numbers = array.array(kind), array.array(kind)
    if len(one) != len(two) or len(one) % numbers[0].itemsize:
        return False
    numbers[0].frombytes(one)
    numbers[1].frombytes(two)
    return all(
        left == right or near(left, right, tolerance) or (math.isnan(left) and math.isnan(right))
        for left, right in zip(*numbers, strict=True)
    )
