"""Time whole training programs: `python`, `samedevice run` and `samedevice run --record`.

    python tests/benchmarks/bench_run.py [PROGRAM...] [--json FILE]

Processor time (user and system, children included) of whole runs with one thread, imports included,
of the programs in `tests/prove/virtual/programs`. The aim: `run` below twice the plain CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/prove/virtual/programs"
_RUN = ("-m", "samedevice", "run", "--time-limit", "3600")
MODES = {"plain": (), "run": _RUN, "recorded": (*_RUN, "--record")}


def seconds(mode: str, program: Path) -> float:
    """Return the processor time of one run; raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *MODES[mode], str(program)],
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT / "codemods"),
            "PYTHONWARNINGS": "ignore",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print one line of a table for each program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--json", type=Path, help="keep the seconds here, too")
    options = parser.parse_args()
    found = {}
    print("| program | python | run | ratio | run --record | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for program in options.programs or sorted(PROGRAMS.glob("*.py")):
        took = {mode: seconds(mode, program) for mode in MODES}
        found[program.stem] = took
        plain, run, recorded = took["plain"], took["run"], took["recorded"]
        print(
            f"| {program.stem} | {plain:.1f} s | {run:.1f} s | {run / plain:.1f} | "
            f"{recorded:.1f} s | {recorded / plain:.1f} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
