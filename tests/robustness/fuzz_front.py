"""Coverage-guided fuzzing of all that reads bytes: `fuzz_front.py [-max_total_time=SECONDS]`.

Needs atheris. The first byte of an input says what reads the rest: a Python file, a notebook, a
pyproject.toml, or requirements. What they refuse, they have to refuse with their own errors, and
what they take has to come back byte for byte.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["samedevice"]):
    from samedevice.reading import config, notebook, requirements, source, suppress  # noqa: F401

FOLDER = Path(tempfile.mkdtemp())


def python(data: bytes) -> None:
    """Read a Python file, and write it back as it is and changed."""
    try:
        read = source.from_bytes(data, "a.py")
    except source.SourceError:
        return
    assert read.encode(read.text) == data
    read.encode(read.text + "\nx = 1\n")
    _parse(read)


def ipynb(data: bytes) -> None:
    """Read a notebook, and write it back."""
    try:
        read = source.from_bytes(data, "a.ipynb")
    except source.SourceError:
        return
    assert read.encode(read.text) == data
    _parse(read)


def _parse(read: source.Source) -> None:
    try:
        tree = read.tree
    except source.SourceError:
        return
    for node in tree.body[:5]:
        read.span(node)


def cell(data: bytes) -> None:
    """Read a notebook of one cell, whose text is fuzzed and not its JSON."""
    import json

    text = data.decode("utf-8", "replace")
    made = {"cells": [{"cell_type": "code", "source": text}], "metadata": {}, "nbformat": 4}
    ipynb(json.dumps(made).encode())


def settings(data: bytes) -> None:
    """Read a pyproject.toml."""
    (FOLDER / "pyproject.toml").write_bytes(data)
    try:
        config.load([str(FOLDER)])
    except config.ConfigError:
        return


def floor(data: bytes) -> None:
    """Read a requirement."""
    requirements.floor_of(data.decode("utf-8", "replace"))


READERS = (python, ipynb, cell, settings, floor)


def one(data: bytes) -> None:
    """Give one input to one reader."""
    if data:
        READERS[data[0] % len(READERS)](data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
