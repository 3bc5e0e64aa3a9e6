"""What a check costs after a change: `python tests/benchmarks/bench_changed.py FOLDER...`.

Each folder is a project that a check has seen, with its cache. Edits at random go into one of its
files, each into the text as it was, and each text that parses is checked with that cache, and
without any. Told are: the edits, how many were judged by what they touch, how many of these checks
told what the check without a cache told (findings with their fixes, and the values that are
placed), and the processor's time, without the start of Python. With `--bodies` edits are in
functions only.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from bench_glance import Edit, in_a_body, spread

from samedevice.finding import Finding
from samedevice.migration import check, glance
from samedevice.migration.cache import Cache
from samedevice.reading import files, source
from samedevice.reading.config import Config
from samedevice.reading.project import Project, load

sys.path.insert(0, str(Path(__file__).parents[1]))

from server.mutations import mutated  # noqa: E402

CONFIG = Config()


def checked(
    project: Project, cache: Cache | None = None
) -> tuple[list[Finding], dict[str, int], int]:
    """Return what a check tells, and how many programs were judged by what an edit touches."""
    placed: dict[str, int] = {}
    quickly = 0

    def quick(*asked: object) -> object:
        nonlocal quickly
        found = glance.since(*asked)  # type: ignore[arg-type]
        quickly += found is not None
        return found

    found = check.check(
        project, CONFIG, cache=cache, placed=placed, quick=quick,  # type: ignore[arg-type]
    )  # fmt: skip
    return found, {path: number for path, number in placed.items() if number}, quickly


def compare(
    folder: str, edits: int, edit: Edit, seed: int
) -> tuple[int, int, list[float], list[float]]:
    """Return how many were judged quickly, how many alike, and the seconds with and without."""
    paths = files.find([folder], ()).paths
    project = load(paths)
    cache = Cache(project, CONFIG)
    checked(project, cache)
    cache.write()
    typed = [path for path in project.about_torch if len(project.programs[path]) > 1]
    random_ = random.Random(seed)
    served = alike = 0
    warm: list[float] = []
    cold: list[float] = []
    while typed and len(warm) < edits:
        path = random_.choice(typed)
        old = project.sources[path].text
        new = edit(old, random_)
        try:
            ast.parse(new)
        except (SyntaxError, ValueError):
            continue
        if new == old:
            continue
        texts = []
        for _ in range(2):  # no tree is shared
            texts.append(load(paths))
            texts[-1] = texts[-1].replaced(
                [*{**texts[-1].sources, path: source.from_text(new, path)}.values()]
            )
        began = time.process_time()
        known = checked(texts[0], Cache(texts[0], CONFIG))
        middle = time.process_time()
        fresh = checked(texts[1])
        warm.append(middle - began)
        cold.append(time.process_time() - middle)
        served += known[2] > 0
        same = known[:2] == fresh[:2]
        alike += known[2] > 0 and same
        if not same:
            told = Path(tempfile.gettempdir()) / f"changed_{len(warm)}.py"
            told.write_text(new)
            print(f"differs: {path}, {told}", file=sys.stderr, flush=True)
    return served, alike, warm, cold


def main() -> None:
    """Print a line for each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--bodies", action="store_true", help="edit functions only")
    options = parser.parse_args()
    print("edits, by what they touch, of these alike; ms, median/p95: with the cache, without; "
          "the sums' ratio")  # fmt: skip
    with tempfile.TemporaryDirectory() as made:
        os.environ["SAMEDEVICE_CACHE_DIR"] = os.path.join(os.path.realpath(made), "cache")
        for folder in options.folders:
            edit = in_a_body if options.bodies else mutated
            served, alike, warm, cold = compare(folder, options.edits, edit, options.seed)
            if warm:
                print(Path(folder).name, len(warm), served, alike, spread(warm), spread(cold),
                      f"{sum(warm) / sum(cold):.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
