"""Synthetic input files for programs whose own data are not in their repository.

Each maker has a name, which the catalogue uses; what it writes is the same on every run.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

from .catalogue import Program


def supply(program: Program, folder: Path) -> None:
    """Write the program's ``inputs`` below ``folder``.

    Raises ``KeyError`` for a maker that does not exist.
    """
    for name, maker in program.inputs.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        kind, _, size = maker.partition(" ")
        MAKERS[kind](target, int(size or 0))


def words(target: Path, count: int) -> None:
    """``count`` lines of plain words."""
    source = random.Random(0)
    vocabulary = [
        "".join(source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(source.randint(2, 8)))
        for _ in range(60)
    ]
    lines = [" ".join(source.choices(vocabulary, k=12)) for _ in range(count)]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def names(target: Path, count: int) -> None:
    """``count`` lines of one capitalised name each."""
    source = random.Random(0)
    lines = [
        "".join(source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(source.randint(3, 9)))
        for _ in range(count)
    ]
    target.write_text("\n".join(line.capitalize() for line in lines) + "\n", encoding="utf-8")


def citations(target: Path, count: int) -> None:
    """A folder with ``count`` papers in the form of the Cora data set."""
    source = random.Random(0)
    classes = ["Theory", "Neural_Networks", "Rule_Learning", "Case_Based", "Genetic_Algorithms"]
    target.mkdir(parents=True, exist_ok=True)
    papers = []
    for paper in range(count):
        features = " ".join(str(int(source.random() < 0.1)) for _ in range(24))
        papers.append("\t".join([str(paper), *features.split(), classes[paper % len(classes)]]))
    edges = [f"{source.randrange(count)}\t{source.randrange(count)}" for _ in range(3 * count)]
    (target / "cora.content").write_text("\n".join(papers) + "\n", encoding="utf-8")
    (target / "cora.cites").write_text("\n".join(edges) + "\n", encoding="utf-8")


def images(target: Path, count: int) -> None:
    """A folder with ``count`` images of 96 x 48 pixels."""
    from PIL import Image

    source = random.Random(0)
    target.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        image = Image.frombytes("RGB", (96, 48), source.randbytes(96 * 48 * 3))
        image.save(target / f"{number:03}.jpg")


def series(target: Path, count: int) -> None:
    """A table of ``count`` months and a number that rises and swings with the year."""
    lines = [
        f"{1950 + month // 12}-{month % 12 + 1:02},{100 + month + 10 * (month % 12)}"
        for month in range(count)
    ]
    target.write_text("\n".join(["month,value", *lines]) + "\n", encoding="utf-8")


def transformers(target: Path, count: int) -> None:
    """``count`` hours of seven columns, in the form of the ETT data sets."""
    source = random.Random(0)
    lines = ["date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT"]
    for hour in range(count):
        day, month = hour // 24 % 28 + 1, hour // 672 % 12 + 1
        values = (
            f"{column + math.sin((hour + 3 * column) / 24) + source.random():.3f}"
            for column in range(7)
        )
        date = f"{2016 + hour // 8064}-{month:02}-{day:02} {hour % 24:02}:00:00"
        lines.append(",".join([date, *values]))
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def clicks(target: Path, count: int) -> None:
    """What ``count`` users chose, one number of a user and one of an item a line."""
    source = random.Random(0)
    lines = [f"{user} {source.randint(1, 30)}" for user in range(1, count + 1) for _ in range(12)]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def folder(target: Path, count: int) -> None:
    """An empty folder, which git does not keep; the program writes into it."""
    target.mkdir(parents=True, exist_ok=True)


MAKERS: dict[str, Callable[[Path, int], None]] = {
    "words": words,
    "names": names,
    "citations": citations,
    "images": images,
    "series": series,
    "transformers": transformers,
    "clicks": clicks,
    "folder": folder,
}
