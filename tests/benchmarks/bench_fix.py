"""What `fix` costs beside `check`: `python tests/benchmarks/bench_fix.py FOLDER...`.

Each folder is checked without a cache, fixed with nothing known, and fixed after a check that has
left its cache, all in this process, each on texts that were read anew; nothing is written there.
Told are the processor's seconds of the check, both fixes as multiples of it, the rounds and the
inferences of `fix` from nothing (those of the texts as they were given, all), and where its time
goes: inference of the texts as given, inference of edited texts, rules, rewriting, and the rest;
in the end also how many lines of changed files a second of `fix` from nothing makes.
With `--digest` a hash of each outcome (texts, findings, reasons) is told, to compare revisions.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from samedevice import inference, rewrite
from samedevice.migration import check, migrate
from samedevice.migration.cache import Cache
from samedevice.reading import files
from samedevice.reading.config import Config
from samedevice.reading.project import Project, load

CONFIG = Config()
SHARES = ("given", "edited", "rules", "rewriting", "rest")


class Shares:
    """Seconds of the processor by what is done: what is inside another thing counts for itself."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self._texts: set[tuple[str, ...]] = set()
        self._now, self._since = "rest", time.process_time()

    def known(self, project: Project) -> None:
        """Take the texts of a project as those that were given."""
        self._texts = {self._of(project, program) for program in project.programs.values()}

    def inferred(self, project: Project, program: frozenset[str]) -> str:
        """Return what an inference of these texts counts as."""
        return "given" if self._of(project, program) in self._texts else "edited"

    @staticmethod
    def _of(project: Project, program: frozenset[str]) -> tuple[str, ...]:
        return tuple(project.sources[path].text for path in sorted(program))

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count what is done within for `name`."""
        before = self._switch(name)
        self.counts[name] += 1
        try:
            yield
        finally:
            self._switch(before)

    def end(self) -> None:
        """Count what was done until now."""
        self._switch(self._now)

    def _switch(self, name: str) -> str:
        now = time.process_time()
        self.seconds[self._now] += now - self._since
        before, self._now, self._since = self._now, name, now
        return before


def counted(shares: Shares) -> Callable[[], None]:
    """Have the steps of a fix counted; return what ends that."""
    infer, judged, write = inference.infer, check.judged, rewrite.rewrite

    @functools.wraps(infer)
    def inferring(project: Project, program: frozenset[str], *args: Any, **named: Any) -> Any:
        with shares.of(shares.inferred(project, program)):
            return infer(project, program, *args, **named)

    @functools.wraps(judged)
    def judging(*args: Any, **named: Any) -> Any:
        with shares.of("rules"):
            return list(judged(*args, **named))

    @functools.wraps(write)
    def writing(*args: Any, **named: Any) -> Any:
        with shares.of("rewriting"):
            return write(*args, **named)

    inference.infer, check.judged, rewrite.rewrite = inferring, judging, writing

    def restore() -> None:
        inference.infer, check.judged, rewrite.rewrite = infer, judged, write

    return restore


def timed(folder: str) -> tuple[float, float, float, Shares, migrate.Outcome]:
    """Return the seconds of a check, of both fixes, and what the first one was made of."""
    paths = files.find([folder], ()).paths
    began = time.process_time()
    check.check(load(paths), CONFIG)
    checking = time.process_time() - began
    shares = Shares()
    restore = counted(shares)
    began = time.process_time()
    project = load(paths)
    shares.known(project)
    outcome = migrate.with_incomplete(project, CONFIG)
    fixing = time.process_time() - began
    shares.end()
    restore()
    project = load(paths)
    cache = Cache(project, CONFIG)
    check.check(project, CONFIG, cache=cache)
    cache.write()
    project = load(paths)
    began = time.process_time()
    migrate.with_incomplete(project, CONFIG, cache=Cache(project, CONFIG))
    return checking, fixing, time.process_time() - began, shares, outcome


def digest(outcome: migrate.Outcome, folder: str) -> str:
    """Return a hash of all that a fix says and would write."""
    said = (
        [(one.path, one.after) for one in (*outcome.changes, *outcome.incomplete)],
        outcome.found,
        outcome.remaining,
        sorted(outcome.refused.items()),
        outcome.staying,
        outcome.beyond,
        [str(error) for error in outcome.errors],
    )
    return hashlib.sha256(repr(said).replace(folder, "").encode()).hexdigest()[:16]


def main() -> None:
    """Print a line for each folder, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--digest", action="store_true", help="a hash of what each fix would do")
    options = parser.parse_args()
    print(
        "seconds of check; fix, fix after check in multiples; rounds; inferences: given+edited;",
        f"seconds of {', '.join(SHARES)}",
    )
    sums: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        os.environ["SAMEDEVICE_CACHE_DIR"] = os.path.join(os.path.realpath(made), "cache")
        for folder in options.folders:
            checking, fixing, after, shares, outcome = timed(folder)
            sums.update(check=checking, fix=fixing, after=after)
            sums.update(shares.seconds)
            if outcome.changes:
                lines = sum((one.before or b"").count(b"\n") for one in outcome.changes)
                sums.update(lines=lines, changing=fixing)
            line = [
                Path(folder).name,
                f"{checking:.2f}; {fixing / checking:.2f} {after / checking:.2f};",
                f"{outcome.rounds}; {shares.counts['given']}+{shares.counts['edited']};",
                *(f"{shares.seconds[name]:.2f}" for name in SHARES),
            ]
            print(*line, digest(outcome, folder) if options.digest else "", flush=True)
    print(f"all: {sums['check']:.2f}; {sums['fix'] / sums['check']:.2f} "
          f"{sums['after'] / sums['check']:.2f};",
          *(f"{sums[name]:.2f}" for name in SHARES))  # fmt: skip
    if sums["lines"]:
        rate = sums["lines"] / sums["changing"]
        print(f"{sums['lines']:,} lines of changed files, {rate:,.0f} a second")


if __name__ == "__main__":
    main()
