"""Compare glances with whole checks: `python tests/benchmarks/bench_glance.py FOLDER...`.

Each folder is a project of several files. Ten edits at random go into one of its files after the
other, and each text that parses is judged at a glance and as a whole, as the server does. Told
are: how many edits there were, for how many a glance was worth it, how often what it said of the
edited file (rules, places, messages) is what the whole said, how many glances stood for the whole
(the editor waits for no other answer), how many of these said of all files what the whole said,
and the processor's time. With `--bodies` edits are in functions only, where most typing is. With
`--without-rest` the whole is judged beside, and a glance compares with the one before, as while
somebody types on; `chained` are those that do so and stand for the whole. `--seed` chooses other
edits, and with `--show` each difference is told: what only the glance said, and only the whole.
With `--jobs` so many processes share the edits, fifty of a seed of their own at a time.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from samedevice.server.analysis import Analysis, Folder, Settings

sys.path.insert(0, str(Path(__file__).parents[1]))

from server.mutations import mutated  # noqa: E402

Edit = Callable[[str, random.Random], str]
SETTINGS = Settings()
EACH = 10
#: The edits of one seed, where several processes share them.
SHARE = 50


@dataclass(frozen=True)
class Share:
    """Some edits of one project, which end at an hour of the monotonic clock."""

    folder: str
    seed: int
    edits: int
    end: float
    bodies: bool
    rests: bool
    show: bool


@dataclass
class Compared:
    """What was counted, and the seconds until answers.

    These are the first one, one of the whole, and that of a whole check.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def add(self, other: Compared) -> None:
        """Take in what was counted elsewhere."""
        self.counts += other.counts
        self.first += other.first
        self.answered += other.answered
        self.whole += other.whole
        self.shown += other.shown


def told(analysis: Analysis, path: str) -> list[tuple[object, ...]]:
    """Return what an editor shows of a file."""
    return [(one.span, one.rule, one.message, one.unfixed) for one in analysis.of(path)]


def everywhere(analysis: Analysis) -> list[tuple[object, ...]]:
    """Return what an editor shows of all files."""
    return sorted(
        (one.path, one.span, one.rule, one.message, one.unfixed, one.origins)
        for one in analysis.findings
    )


def in_a_body(text: str, random_: random.Random) -> str:
    """Return a text with one more edit, of the statements of a function if there is one."""
    bodies = [
        node.body
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not bodies:
        return text
    body, lines = random_.choice(bodies), text.split("\n")
    first, last = body[0].lineno - 1, body[-1].end_lineno or body[-1].lineno
    return "\n".join(
        [*lines[:first], mutated("\n".join(lines[first:last]), random_), *lines[last:]]
    )


def apart(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> list[str]:
    """Return what only the first says (-) and what only the second says (+), a line each."""
    return [
        *(f"  - {each}" for each in one if each not in other),
        *(f"  + {each}" for each in other if each not in one),
    ]


def compare(share: Share) -> Compared:
    """Make edits, and compare what is said of each at a glance and as a whole."""
    edit: Edit = in_a_body if share.bodies else mutated
    known = Folder(Path(share.folder).resolve().as_posix())
    beside = known if share.rests else Folder(known.root)
    project = known.analyse({}, SETTINGS).project
    paths = [path for path in project.about_torch if len(project.programs[path]) > 1]
    random_ = random.Random(share.seed)
    found = Compared()
    counts = found.counts
    while paths and len(found.whole) < share.edits and time.monotonic() < share.end:
        path = random_.choice(paths)
        text, since = project.sources[path].text, 0
        known.analyse({path: text}, SETTINGS)
        for _ in range(EACH):
            new = edit(text, random_)
            try:
                ast.parse(new)
            except (SyntaxError, ValueError):
                continue
            if new == text:
                continue
            text = new
            began = time.process_time()
            glance = known.glance({path: text}, SETTINGS)
            middle = time.process_time()
            full = beside.analyse({path: text}, SETTINGS)
            ended = time.process_time()
            counts["edits"] += 1
            stands = glance is not None and glance.is_whole
            found.whole.append(ended - middle)
            found.first.append((ended if glance is None else middle) - began)
            found.answered.append(found.first[-1] if stands else ended - began)
            if glance is not None:
                counts["glances"] += 1
                right = told(glance, path) == told(full, path)
                equal = not stands or everywhere(glance) == everywhere(full)
                counts["right"] += right
                counts["wholes"] += stands
                counts["equal"] += stands and equal
                if share.show and not (right and equal):
                    sides = (told(glance, path), told(full, path))
                    if right:
                        sides = (everywhere(glance), everywhere(full))
                    how = "stands for the whole" if stands else "a first answer"
                    at = f"edit {counts['edits']} of seed {share.seed}, in {path}"
                    found.shown += [f"{at}, {how}:", *apart(*sides)]
            since = since + 1 if stands else 0
            counts["chained"] += since > 1 and not share.rests
            if not since:
                known.analyse({path: text}, SETTINGS)
    return found


def shares(folder: str, options: argparse.Namespace) -> list[Share]:
    """Return the edits of a project, in as many shares as several processes ask for."""
    each = options.edits if options.jobs == 1 else SHARE
    end = time.monotonic() + options.seconds
    how = options.bodies, not options.without_rest, options.show
    return [
        Share(folder, options.seed + number, min(each, options.edits - done), end, *how)
        for number, done in enumerate(range(0, options.edits, each))
    ]


def joined(found: Iterable[Compared]) -> Compared:
    """Return what was counted in several shares, and tell what they show."""
    whole = Compared()
    for each in found:
        whole.add(each)
        if each.shown:
            print(*each.shown, sep="\n", flush=True)
    return whole


def spread(seconds: list[float]) -> str:
    """Return the median and the 95th of a hundred, in milliseconds."""
    last = sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.95))]
    return f"{statistics.median(seconds) * 1e3:.0f}/{last * 1e3:.0f}"


def main() -> None:
    """Print a line for each folder, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--bodies", action="store_true", help="edit functions only")
    parser.add_argument("--without-rest", action="store_true", help="from glance to glance")
    parser.add_argument("--seconds", type=float, default=1e9, help="no edits after so many")
    parser.add_argument("--seed", type=int, default=7, help="which edits")
    parser.add_argument("--show", action="store_true", help="tell each difference")
    parser.add_argument("--jobs", type=int, default=1, help="so many processes")
    options = parser.parse_args()
    sums: Counter[str] = Counter()
    ratios: list[float] = []
    names = ("edits", "glances", "right", "wholes", "equal", "chained")
    print(*names, "and ms, median/p95: first answer, one of the whole, a whole check", sep=", ")
    with ProcessPoolExecutor(options.jobs) as pool:
        spread_out = pool.map if options.jobs > 1 else map
        begun = [
            (folder, spread_out(compare, shares(folder, options))) for folder in options.folders
        ]
        for folder, parts in begun:
            found = joined(parts)
            if found.first:
                times = " ".join(map(spread, (found.first, found.answered, found.whole)))
                counted = (found.counts[name] for name in names)
                print(Path(folder).name, *counted, times, flush=True)
                ratios += [a / b for a, b in zip(found.first, found.whole, strict=True)]
                sums += found.counts
    print(f"all: {dict(sums)}, first answer after {statistics.median(ratios):.2f} of the whole")


if __name__ == "__main__":
    main()
