"""The contradictions in fixtures that are known: `known.txt`, which only ever gets shorter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .compare import CONTRADICT, Compared

FILE = Path(__file__).with_name("known.txt")
_HEAD = """\
# Contradictions between what is inferred and what is observed in fixtures that are not mended yet:
# program, file, a tensor or a module, the expression, what is inferred. Written by
# `python -m tests.conformance.oracle --known`; a line that does not happen any more fails its test.
"""


def lines(result: Compared) -> set[str]:
    """Return a program's contradictions as they are listed."""
    return {
        f"{one.program}: {one.path}: {one.what}: {one.code}: {'/'.join(one.inferred)}"
        for one in result.different
        if one.verdict == CONTRADICT
    }


def read() -> dict[str, set[str]]:
    """Return the known contradictions by program."""
    found: dict[str, set[str]] = {}
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            found.setdefault(line.partition(": ")[0], set()).add(line)
    return found


def write(results: Iterable[Compared]) -> None:
    """List what contradicts in these programs, beside what is listed of others."""
    known = read()
    for result in results:
        known[result.program] = lines(result)
    listed = sorted(line for found in known.values() for line in found)
    FILE.write_text(_HEAD + "".join(f"{line}\n" for line in listed), "utf-8")
