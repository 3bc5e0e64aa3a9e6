"""Names of devices that are spelled in pieces: `"cu" + "da"`, `f"{kind}:{index}"`, `":".join(...)`.

Only what names an accelerator becomes known: other texts are as unknown as their pieces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from samedevice.inference.nodes import Location
from samedevice.inference.values import Arg, Const, Seq, Value

#: A device's name, perhaps before its number is put in.
_NAMED = re.compile(r"(cuda|xpu|mps|npu|hpu|mlu|musa)(:\d*)?")
#: Methods of a text that need nothing but the text.
_PLAIN = frozenset(("lower", "casefold", "strip", "lstrip", "rstrip"))


def spelled(pieces: Sequence[Value], spot: Location, between: str = "") -> Const | None:
    """Return the device's name that constants spell one after the other, if they do."""
    texts = [_text(piece) for piece in pieces]
    return None if None in texts else _named(between.join(map(str, texts)), spot)


def by_method(text: str, name: str, args: Sequence[Arg], spot: Location) -> Const | None:
    """Return the device's name that a method of a constant text gives, if it does."""
    values = [value for value, _ in args]
    texts = [_text(value) for value in values]
    if name == "join" and len(values) == 1 and isinstance(values[0], Seq):
        members = values[0].items
        return spelled(members, spot, text) if members else None
    if None in texts:
        return None
    if name in _PLAIN and not values:
        return _named(getattr(text, name)(), spot)
    if name == "replace" and len(values) == 2:
        return _named(text.replace(str(texts[0]), str(texts[1])), spot)
    if name == "format" and text.count("{}") == text.count("{") == len(values):
        return _named(text.format(*texts), spot)
    return None


def _text(value: Value) -> str | None:
    """Return what a constant puts into a text; what users choose is none."""
    if type(value) is Const and type(value.value) in (str, int):
        return str(value.value)
    return None


def _named(text: str, spot: Location) -> Const | None:
    return Const(text, spot) if _NAMED.fullmatch(text) else None
