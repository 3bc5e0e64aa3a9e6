"""Small programs, each with one way of Python in which a place travels.

Every program is two: one in which a value is left on the host and meets a model on the device, and
its twin, in which it is there. They are told apart by few words in the text of an area:

- `, AT)` is nothing in the first, and `, device=device)` in the twin; `.AT` is `.to(device)` there
- `.HOST` is nothing in the first, and `.cpu()` in the twin
- a line that ends with `# clash` is in the first only, one with `# twin` in the twin only

So whatever `check` finds in the first and not in the twin is about that value. An area is a module
here with `PROGRAMS`, texts by their names; a key "3.12: name" needs that Python.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

HEAD = """\
import sys
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
a = b = len(sys.argv) > 0
"""
#: What the two programs of a pair are called.
CLASH, TWIN = "clash", "twin"

_NEEDS = re.compile(r"(\d+)\.(\d+): ")


@dataclass(frozen=True)
class Pair:
    """One way in which a place travels. `name` is "<area>/<name>"."""

    name: str
    text: str
    needs: tuple[int, int] = (3, 10)

    @property
    def runs_here(self) -> bool:
        """Tell whether this Python knows the syntax."""
        return sys.version_info >= self.needs

    def program(self, which: str) -> str:
        """Return the text of the program that clashes, or of its twin."""
        twin = which == TWIN
        text = re.sub(r",\s*AT\b", ", device=device" if twin else "", self.text)
        text = re.sub(r"\.AT\b", ".to(device)" if twin else "", text)
        text = re.sub(r"\.HOST\b", ".cpu()" if twin else "", text)
        other = f"# {CLASH if twin else TWIN}"
        lines = [line for line in text.split("\n") if not line.endswith(other)]
        return "\n".join(line.removesuffix(f"# {which}").rstrip() for line in lines)


@cache
def pairs() -> tuple[Pair, ...]:
    """Return all pairs, area by area."""
    found = []
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        if path.stem.startswith("test_") or path.stem == "execute":
            continue
        area = importlib.import_module(f"{__name__}.{path.stem}")
        for name, text in area.PROGRAMS.items():
            needs = _NEEDS.match(name)
            version = (int(needs[1]), int(needs[2])) if needs else (3, 10)
            found.append(Pair(f"{path.stem}/{name}", HEAD + dedent(text), version))
    return tuple(found)
