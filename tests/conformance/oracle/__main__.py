"""`python -m tests.conformance.oracle`: what is inferred against what is observed."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from . import known, page
from .compare import Compared
from .programs import ROOT, Target, fixtures, judge, observe, real, report_of, suites


def main() -> int:
    """Run and compare; 1 when a fixture contradicts in a way that is not known."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.oracle", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="checkouts of repositories, as OWNER+NAME")
    parser.add_argument("--of", nargs="+", choices=page.SETS, help="only these sets of programs")
    parser.add_argument("--only", default="", help="programs with this in their names")
    parser.add_argument("--page", type=Path, help="write the page there, or to standard output")
    parser.add_argument("--json", type=Path, help="write all verdicts that do not agree")
    parser.add_argument("--known", action="store_true", help="write what contradicts to known.txt")
    parser.add_argument("--work", type=Path, help="keep programs and reports there, and reuse them")
    parser.add_argument("--jobs", type=int, default=2, help="programs that run at once")
    options = parser.parse_args()
    sets = options.of or (list(page.SETS) if options.corpus else ["fixtures"])
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        results = {}
        for name in sets:
            targets = _targets(name, work / name / "programs", options)
            results[name] = look(targets, work / name / "reports", options.jobs)
    if options.json:
        data = {name: [one.to_json() for one in found] for name, found in results.items()}
        options.json.write_text(json.dumps(data, indent=1), "utf-8")
    if options.known:
        known.write(results.get("fixtures", ()))
    text = page.render(results, _revision())
    if options.page:
        options.page.write_text(text, "utf-8")
    else:
        print(text)
    listed = known.read()
    new = {
        line for one in results.get("fixtures", ())
        for line in known.lines(one) - listed.get(one.program, set())
    }  # fmt: skip
    print(*(f"new: {line}" for line in sorted(new)), sep="\n", end="", file=sys.stderr)
    return int(bool(new))


def _targets(name: str, folder: Path, options: argparse.Namespace) -> list[Target]:
    if name == "fixtures":
        return list(fixtures(folder, options.only))
    if options.corpus is None:
        raise SystemExit(f"--of {name} needs --corpus")
    if name == "real":
        return list(real(options.corpus.resolve(), folder.resolve(), options.only))
    return list(suites(options.corpus.resolve(), options.only))


def look(targets: list[Target], reports: Path, jobs: int) -> list[Compared]:
    """Run programs, those of which there is no report yet, and compare."""
    new = [target for target in targets if not report_of(target, reports).exists()]
    for target, code, said in observe(new, reports, jobs):
        if code and target.env is not None:
            last = said.strip().rpartition("\n")[2]
            print(f"{target.name}: {code}: {last}", file=sys.stderr, flush=True)
    found = (judge(target, reports) for target in targets)
    return [one for one in found if one is not None]


def _revision() -> str:
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.strip() or "?"


if __name__ == "__main__":
    raise SystemExit(main())
