"""`python -m tests.conformance.oracle`: what is inferred against what is observed."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from . import known
from .compare import AGREE, CONTRADICT, JUDGED, UNDECIDED, UNTYPED, VERDICTS, Compared
from .programs import Target, fixtures, judge, observe, real, report_of, suites


def main() -> int:
    """Run and compare; 1 when something contradicts."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.oracle", description=__doc__)
    parser.add_argument("--of", choices=("fixtures", "real", "suites"), default="fixtures")
    parser.add_argument("--corpus", type=Path, help="checkouts of repositories, as OWNER+NAME")
    parser.add_argument("--only", default="", help="programs with this in their names")
    parser.add_argument("--json", type=Path, help="write all verdicts that do not agree")
    parser.add_argument("--work", type=Path, help="keep programs and reports there, and reuse them")
    parser.add_argument("--jobs", type=int, default=2, help="programs that run at once")
    parser.add_argument("--known", action="store_true", help="write what contradicts to known.txt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        if options.of == "fixtures":
            targets = list(fixtures(work / "programs", options.only))
        elif options.of == "real":
            targets = list(real(options.corpus, work / "programs", options.only))
        else:
            targets = list(suites(options.corpus, options.only))
        results = look(targets, work, options.jobs)
    print(summary(results))
    if options.known:
        known.write(results)
    if options.json:
        options.json.write_text(json.dumps([one.to_json() for one in results], indent=1), "utf-8")
    return int(any(one.verdict == CONTRADICT for result in results for one in result.different))


def look(targets: list[Target], work: Path, jobs: int) -> list[Compared]:
    """Run programs, those of which there is no report yet, and compare."""
    reports = work / "reports"
    new = [target for target in targets if not report_of(target, reports).exists()]
    for target, code, said in observe(new, reports, jobs):
        if code and target.env is not None:
            last = said.strip().rpartition("\n")[2]
            print(f"{target.name}: {code}: {last}", file=sys.stderr, flush=True)
    found = (judge(target, reports) for target in targets)
    return [one for one in found if one is not None]


def summary(results: list[Compared]) -> str:
    """Return the numbers, and what contradicts."""
    lines = [f"{len(results)} programs"]
    for what in ("tensor", "module"):
        counts: Counter[str] = Counter()
        for result in results:
            for (kind, _, verdict), count in result.counts.items():
                counts[verdict] += count if kind == what else 0
        judged = sum(counts[verdict] for verdict in JUDGED)
        share = f"{100 * counts[AGREE] / judged:.2f} %" if judged else "none"
        told = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS)
        lines.append(f"{what}s: {told}: {share} of {judged:,} agree")
    for verdict in (CONTRADICT, UNDECIDED, UNTYPED):
        causes: Counter[str] = Counter()
        for result in results:
            for one in result.different:
                if one.verdict == verdict and one.cause:
                    causes[f"{one.what}: {one.cause}: {'/'.join(one.inferred) or '-'}"
                           f" but {'/'.join(sorted(one.observed))}"] += 1  # fmt: skip
        lines.append(f"\n{verdict}, by cause:")
        lines += [f"{count:6} {cause}" for cause, count in causes.most_common(30)]
    for result in results:
        for one in result.different:
            if one.verdict == CONTRADICT and one.cause:
                lines.append(
                    f"{one.program}: {one.path}:{one.line}: {one.code}: inferred "
                    f"{'/'.join(one.inferred)}, observed {'/'.join(sorted(one.observed))}"
                )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
