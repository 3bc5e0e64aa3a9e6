"""What the words in code are about: names tell people what a value is for, before any analysis."""

from __future__ import annotations

import ast
import re

#: A part of a name, or of a text, that is about where code computes.
_DEVICES = re.compile(r"cuda|gpu|device", re.IGNORECASE)


def speaks_of_devices(code: str | ast.AST) -> bool:
    """Tell whether code, or a text, speaks of devices: `use_cuda`, `gpu_id`, `my_device`."""
    text = code if isinstance(code, str) else ast.unparse(code)
    return _DEVICES.search(text) is not None
