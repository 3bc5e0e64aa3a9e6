"""Compare glances with whole checks: `python tests/benchmarks/bench_glance.py FOLDER...`.

Each folder is a project of several files. Ten edits at random go into one of its files after the
other, and each text that parses is judged at a glance and as a whole, as the server does. Told
are: how many edits there were, for how many a glance was worth it, how often what it said of the
edited file (rules, places, messages) is what the whole says, and the processor's time of both.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from samedevice.server.analysis import Analysis, Folder, Settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from server.mutations import mutated  # noqa: E402

SETTINGS = Settings()
EACH = 10


def told(analysis: Analysis, path: str) -> list[tuple[object, ...]]:
    """Return what an editor shows of a file."""
    return [(one.span, one.rule, one.message, one.unfixed) for one in analysis.of(path)]


def compare(folder: str, edits: int, counts: Counter[str]) -> tuple[list[float], list[float]]:
    """Return the seconds until the first answer and for the whole, edit by edit."""
    known = Folder(Path(folder).resolve().as_posix())
    project = known.analyse({}, SETTINGS).project
    paths = [path for path in project.about_torch if len(project.programs[path]) > 1]
    random_ = random.Random(7)
    first: list[float] = []
    whole: list[float] = []
    while paths and len(whole) < edits:
        path = random_.choice(paths)
        text = project.sources[path].text
        for _ in range(EACH):
            new = mutated(text, random_)
            try:
                ast.parse(new)
            except (SyntaxError, ValueError):
                continue
            text = new
            began = time.process_time()
            glance = known.glance({path: text}, SETTINGS)
            middle = time.process_time()
            full = known.analyse({path: text}, SETTINGS)
            ended = time.process_time()
            counts["edits"] += 1
            whole.append(ended - middle)
            first.append((ended if glance is None else middle) - began)
            if glance is not None:
                counts["glances"] += 1
                counts["right"] += told(glance, path) == told(full, path)
    return first, whole


def main() -> None:
    """Print a line for each folder, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--edits", type=int, default=40)
    options = parser.parse_args()
    sums: Counter[str] = Counter()
    ratios: list[float] = []
    print("folder, edits, glances, right, median ms of the first answer and of the whole")
    for folder in options.folders:
        counts: Counter[str] = Counter()
        first, whole = compare(folder, options.edits, counts)
        if first:
            times = f"{statistics.median(first) * 1e3:.0f} {statistics.median(whole) * 1e3:.0f}"
            print(Path(folder).name, *(counts[n] for n in ("edits", "glances", "right")), times)
            ratios += [one / other for one, other in zip(first, whole, strict=True)]
            sums += counts
    print(f"all: {dict(sums)}, first answer after {statistics.median(ratios):.2f} of the whole")


if __name__ == "__main__":
    main()
