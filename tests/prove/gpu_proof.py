"""Compare the virtual accelerator with a real GPU: `python tests/prove/gpu_proof.py`.

It needs Python, torch (built for CUDA) and, on Python 3.10, tomli; samedevice's dependencies only
for the suite, which is left out without them. All small cases of `tests/prove/virtual/cases.py`,
every program under `fixtures/`, before and after, and every program of `tests/suite`, as it is and
as `fix --yes` leaves it, run on the GPU and, in processes of their own, on the virtual accelerator
of the same torch. Both have to end, or stop with the same type of exception whose message begins
with the same words.

    python tests/prove/gpu_proof.py --page docs/proof/gpu.md --record gpu.json

Exit codes: 0 they agree in everything, 1 they differ, 2 wrong use or nothing could be run,
3 there is no GPU here. `--rehearse` puts a second virtual accelerator in the place of the GPU: it
shows that the comparison works, and nothing about a GPU, which the page says. `--seconds` bounds
the time for programs; they come in an order drawn once, and what was not reached is left out.
`--after gpu.json` takes over what an earlier record has of programs with the same text.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE / "virtual"), str(ROOT / "tests")]

import cases as small  # noqa: E402
from fixtures import cases as fixtures  # noqa: E402
from machine import Machine  # noqa: E402

del sys.path[:2]

NO_GPU = 3
_LIMIT = 3600  # seconds for all programs on one side
_NO_TIME = "time"
_NUMBERS = "AssertionError"  # what a worker says of a result that is not the CPU's
_JOBS = max(1, (os.cpu_count() or 2) * 3 // 4)  # at once; most of a GPU's time goes to its start
_OWN = {"NVIDIA_TF32_OVERRIDE": "0"}  # else products and convolutions round to ten bits

_ASK = """
import json, platform, torch
found = torch.cuda.is_available()
print(json.dumps({
    "torch": torch.__version__, "cuda": torch.version.cuda, "found": found,
    "device": torch.cuda.get_device_name() if found else "",
}))
"""


@dataclass(frozen=True)
class Outcome:
    """How one run went: the types of its exception (itself first), or none, and the message."""

    kinds: tuple[str, ...] = ()
    message: str = ""
    missing: str = ""  # the module or converter without which it could not be run

    def __str__(self) -> str:
        if self.missing:
            return f"needs {self.missing}"
        return f"{self.kinds[0]}: {self.message}" if self.kinds else "ends"


@dataclass(frozen=True)
class Row:
    """One case on both sides."""

    group: str
    name: str
    virtual: Outcome
    real: Outcome
    text: str = ""  # a digest of the program

    @property
    def left_out(self) -> str:
        """What one of the sides lacked to run it."""
        return self.virtual.missing or self.real.missing

    @property
    def verdict(self) -> str:
        """One of "same", "same words", "own numbers", "left out" and "DIFFERENT".

        Words are the same if messages begin alike. A GPU has random numbers and roundings of its
        own: both sides end, and only what the GPU computed is not what the CPU did.
        """
        if self.left_out:
            return "left out"
        if not self.virtual.kinds and not self.real.kinds:
            return "same"
        if not self.virtual.kinds and self.real.kinds[0] == _NUMBERS:
            return "own numbers"
        if self.virtual.kinds[:1] != self.real.kinds[:1]:
            return "DIFFERENT"
        if self.virtual.message == self.real.message:
            return "same"
        alike = _opening(self.virtual.message) == _opening(self.real.message)
        return "same words" if alike else "DIFFERENT"


def _opening(message: str) -> str:
    """Return the first sentence up to its first parenthesis or colon, numbers and spaces aside."""
    start = re.split(r"[(:\n]|\. ", message.strip(), maxsplit=1)[0]
    return re.sub(r"\d+|\s+", " ", start).strip()


def _outcome(error: str | None) -> Outcome:
    """Read a worker's answer: "Type/its bases: message"."""
    if error is None:
        return Outcome()
    kinds, _, message = error.partition(": ")
    return _checked(tuple(kinds.split("/")), message)


def _checked(kinds: tuple[str, ...], message: str) -> Outcome:
    if kinds[0] in ("ModuleNotFoundError", "ImportError"):
        named = re.search(r"No module named '([\w.]+)'", message)
        return Outcome(kinds, message, named[1] if named else message)
    if message.startswith("Numpy is not available"):
        return Outcome(kinds, message, "numpy")
    return Outcome(kinds, message)


# Small cases


def _small_cases() -> Iterator[tuple[str, str, str, str | None]]:
    """Yield every small case: its group, name and code, and how its result is compared."""
    for case in small.CASES:
        kept = case.expected in (small.SAME, small.NEAR)
        ends = kept or case.expected == small.ENDS
        group = "code that a GPU machine runs" if ends else "code that a GPU machine refuses"
        yield group, case.name, case.code, case.expected if kept else None
    for name in small.MODULES:
        yield "modules that train", name, small.module(name), small.SAME
    for name in small.OPTIMIZERS:
        yield "optimizers", name, small.learning(name), small.SAME


def small_rows(real: str, chosen: str = "") -> list[Row]:
    """Run the small cases whose name contains `chosen` on both sides.

    `real` is what stands for the GPU.
    """
    listed = [case for case in _small_cases() if chosen in case[1]]

    def run(kind: str) -> list[Outcome]:
        machine = Machine(kind)
        outcomes = []
        for _, _, code, compare in listed:
            try:
                outcomes.append(_outcome(machine.run(code, compare)))
            except RuntimeError as error:
                outcomes.append(Outcome(("died",), str(error)))
        machine.close()
        return outcomes

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, ["virtual", real])
    return [
        Row(group, name, virtual, device)
        for (group, name, _, _), virtual, device in zip(listed, one, two, strict=True)
    ]


# Programs


@dataclass(frozen=True)
class Job:
    """One version of a program, and what the table says of it."""

    group: str
    name: str
    entry: str
    files: dict[str, str]
    args: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Tell this text from others."""
        text = json.dumps([self.entry, self.args, self.files], sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]


def fixture_jobs(chosen: str = "") -> Iterator[Job]:
    """Yield every program of `fixtures/` whose name contains `chosen`, before and after."""
    for case in fixtures.cases():
        for version in case.versions if chosen in case.name else ():
            yield Job(f"fixtures, {version}", case.name, case.entry, case.files(version), case.args)


def suite_jobs(chosen: str = "") -> Iterator[Job]:
    """Yield every program of the suite whose name contains `chosen`, and what `fix` makes of it.

    Raises ImportError without samedevice's dependencies.
    """
    sys.path[:0] = [str(ROOT / "codemods"), str(ROOT)]
    from tests.suite import catalogue

    for program in catalogue.programs():
        if chosen not in program.name:
            continue
        before, after = program.files, catalogue.repaired(program).files
        kind = "suite, right" if program.kind == "right" else "suite, before"
        yield Job(kind, program.name, "main.py", catalogue.runnable(before))
        if after != before:
            yield Job("suite, after", program.name, "main.py", catalogue.runnable(after))


def program_rows(
    real: str, jobs: Sequence[Job], seconds: float, known: Sequence[Row] = ()
) -> list[Row]:
    """Run programs on both sides, each side for so many seconds at most.

    What is `known` of a program with the same text is not run again.
    """
    old = {(row.group, row.name, row.text): row for row in known if not row.left_out}
    kept = [old[key] for job in jobs if (key := (job.group, job.name, job.digest)) in old]
    drawn = [job for job in jobs if (job.group, job.name, job.digest) not in old]
    random.Random(0).shuffle(drawn)  # noqa: S311  # an order, no secret
    with ThreadPoolExecutor(2) as pool:
        sides = pool.map(partial(_serve, drawn, seconds), ["virtual", real])
    rows = [
        Row(job.group, job.name, virtual, device, job.digest)
        for job, virtual, device in zip(drawn, *sides, strict=True)
    ]
    return sorted([*kept, *rows], key=lambda row: (row.group, row.name))


def _serve(jobs: Sequence[Job], seconds: float, on: str) -> list[Outcome]:
    """Run programs as `samedevice run --on` does, from one process that has imported torch."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for number, job in enumerate(jobs):
            folder = Path(scratch, str(number))
            for name, text in job.files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
            request = {"id": number, "folder": str(folder), "entry": job.entry, "args": job.args}
            lines.append(json.dumps(request | {"on": on, "report": f"{folder}.json"}))
        paths = [str(ROOT / "codemods"), str(ROOT / "tests/cases/stubs")]
        paths += filter(None, [os.environ.get("PYTHONPATH")])
        asked, told = Path(scratch, "asked"), Path(scratch, "told")
        asked.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        with asked.open() as source, told.open("w") as target:
            server = subprocess.Popen(
                [sys.executable, str(ROOT / "tests/fixtures/forkserver.py"), str(_JOBS)],
                stdin=source,
                stdout=target,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)},
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, errors = server.communicate(timeout=seconds)
                if server.returncode:
                    raise RuntimeError(f"the programs could not be run:\n{errors}")
            server.kill()
            server.wait()
        answers = {}
        for line in told.read_text("utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                answer = json.loads(line)
                answers[answer["id"]] = _program(answer)
    return [answers.get(number, Outcome(missing=_NO_TIME)) for number in range(len(jobs))]


def _program(answer: dict[str, Any]) -> Outcome:
    """Say how a program went, from its report."""
    report = answer.get("report", {})
    if report.get("exception"):
        return _checked((report["exception"],), report.get("message", ""))
    if answer["code"] == 0:
        return Outcome()
    return Outcome((f"exit code {answer['code']}",), report.get("message", "").strip())


# The page


_VERDICTS = "same", "same words", "own numbers", "DIFFERENT", "left out"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield "| what | cases | same | same words | own numbers | different | left out |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    groups = list(dict.fromkeys(row.group for row in rows))
    for group in [*groups, "all"]:
        verdicts = [row.verdict for row in rows if group in (row.group, "all")]
        counts = map(verdicts.count, _VERDICTS)
        yield f"| {group} | {len(verdicts)} | {' | '.join(map(str, counts))} |"


def _cell(text: str, most: int = 160) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= most else text[: most - 1] + "…"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| case | virtual | real | verdict |"
    yield "| --- | --- | --- | --- |"
    for row in rows:
        same = row.verdict == "same"
        real = "the same" if same and row.real.kinds else _cell(str(row.real))
        yield f"| {_cell(row.name)} | {_cell(str(row.virtual))} | {real} | {row.verdict} |"


def page(rows: Sequence[Row], facts: dict[str, Any]) -> str:
    """Return the whole page as Markdown."""
    lines = ["# The virtual accelerator and a real GPU", ""]
    if facts["rehearsal"]:
        lines += [
            "**A rehearsal: there was no GPU. Both sides are the virtual accelerator, so this page",
            "shows that the comparison works, and nothing about a GPU.**",
            "",
        ]
    lines += [
        "Written by `make gpu-proof`; do not edit. *Same*: both end, or both raise the same",
        "exception with the same message. *Same words*: the same type of exception, and messages",
        "that begin alike. *Own numbers*: both end, and the GPU's result is not the CPU's up to a",
        "hundredth: its random numbers are its own, and so are its sums. *Left out*: one side",
        "lacks a package, or the time was over; the order was drawn.",
        "",
        f"- date: {facts['date']}",
        f"- device: {facts['device']}",
        f"- torch: {facts['torch']}, CUDA {facts['cuda']}, Python {facts['python']}",
        f"- samedevice: commit {facts['commit']}",
        "",
        *_summary(rows),
    ]
    different = [row for row in rows if row.verdict in ("DIFFERENT", "own numbers")]
    lines += ["", "## Differences", ""]
    lines += _table(different) if different else ["None."]
    if missing := sorted({row.left_out for row in rows if row.left_out}):
        lines += ["", f"Left out for want of: {', '.join(missing)}."]
    for group in dict.fromkeys(row.group for row in rows):
        lines += ["", f"## {group[0].upper()}{group[1:]}", ""]
        lines += _table([row for row in rows if row.group == group])
    return "\n".join(lines) + "\n"


def _facts(rehearsal: bool) -> dict[str, Any]:
    """Ask this machine, in a process of its own, for its torch and its GPU.

    Raises RuntimeError if torch cannot be imported.
    """
    asked = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True)
    if asked.returncode:
        raise RuntimeError(asked.stderr.strip().rpartition("\n")[2])
    commit = ""
    with contextlib.suppress(OSError):
        command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    facts = {
        **json.loads(asked.stdout),
        "python": platform.python_version(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit or "unknown",
        "rehearsal": rehearsal,
    }
    if rehearsal:
        facts["device"] = "none (a second virtual accelerator)"
    return facts


def _known(record: Path) -> list[Row]:
    """Read the rows of an earlier record."""

    def outcome(of: dict[str, Any]) -> Outcome:
        return Outcome(tuple(of["kinds"]), of["message"], of["missing"])

    return [
        Row(row["group"], row["name"], outcome(row["virtual"]), outcome(row["real"]), row["text"])
        for row in json.loads(record.read_text("utf-8"))["rows"]
        if row["text"]
    ]


def main() -> int:
    """Run everything, write what was asked for, print the summary; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--page", type=Path, help="where the Markdown page goes")
    parser.add_argument("--record", type=Path, help="where the outcomes go as JSON")
    parser.add_argument("--small", default="", help="only small cases whose name contains this")
    parser.add_argument("--fixtures", default="", help="only fixtures whose name contains this")
    parser.add_argument("--suite", default="", help="only the suite's whose name contains this")
    parser.add_argument("--seconds", type=float, default=_LIMIT, help="for programs, each side")
    parser.add_argument("--after", type=Path, help="a record whose programs are not run again")
    parser.add_argument("--rehearse", action="store_true", help="without a GPU: see above")
    options = parser.parse_args()
    try:
        facts = _facts(options.rehearse)
    except RuntimeError as error:
        print(f"torch cannot be imported: {error}", file=sys.stderr)
        return 2
    if not facts["found"] and not options.rehearse:
        print(
            f"No GPU: torch {facts['torch']} finds no CUDA device on this machine, so nothing was "
            "run and nothing written. Run it where there is one.",
            file=sys.stderr,
        )
        return NO_GPU
    os.environ.update(_OWN)  # for the workers, too
    known = _known(options.after) if options.after else []
    worker, on = ("virtual", "virtual") if options.rehearse else ("real", "cuda")
    jobs = list(fixture_jobs(options.fixtures))
    try:
        jobs += suite_jobs(options.suite)
    except ImportError as error:
        print(f"note: the suite is left out: {error}", file=sys.stderr)
    try:
        rows = small_rows(worker, options.small)
        rows += program_rows(on, jobs, options.seconds, known)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return 2
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(page(rows, facts), "utf-8")
    if options.record:
        options.record.write_text(
            json.dumps({**facts, "rows": [asdict(row) for row in rows]}, indent=1), "utf-8"
        )
    if options.rehearse:
        print("A rehearsal: both sides are the virtual accelerator.")
    print("\n".join(_summary(rows)))
    different = [row for row in rows if row.verdict == "DIFFERENT"]
    for row in different:
        print(
            f"DIFFERENT  {row.group}: {row.name}\n  virtual  {row.virtual}\n  real     {row.real}"
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
