"""Parts of public test suites on the virtual accelerator, beside the CPU.

    python -m tests.prove.suites --corpus DIR --python PYTHON

`DIR` has checkouts as OWNER+NAME; PYTHON has what the suites need, and torch. Each part runs on the
CPU, on the virtual accelerator, and there with kernels in C++ (`--virtual-compiled`). A test that
passes on the CPU and not there is a false alarm, or something that a GPU machine would refuse, too:
the page names each. Times are processor time of the whole run, imports included, of one session.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LIMIT = 600  # seconds of processor time: the machine may have others


@dataclass(frozen=True)
class Suite:
    """A part of a suite: `words` for pytest in `folder`, and those that choose the device."""

    repo: str
    part: str
    words: tuple[str, ...]
    on_cpu: tuple[str, ...] = ()
    on_device: tuple[str, ...] = ()
    folder: str = "."
    path: str = "."
    chooses: str = "what `torch.cuda.is_available()` says"
    more: str = ""  # tells a part from the first one of the same repository

    @property
    def name(self) -> str:
        """The key of the record."""
        return f"{self.repo}, {self.more}" if self.more else self.repo


_DEFAULT = ("-p", "suites_default_device")
SUITES = (
    Suite(
        "kornia/kornia",
        "tests/color, without torch.jit and torch.compile",
        ("tests/color", "-k", "not dynamo and not jit"),
        ("--device=cpu",),
        ("--device=cuda",),
        chooses="`--device=cuda`",
    ),
    Suite(
        "kornia/kornia",
        "tests/filters, enhance, losses, metrics, morphology, without torch.jit, torch.compile and "
        "numerical gradients",
        ("tests/filters", "tests/enhance", "tests/losses", "tests/metrics", "tests/morphology",
         "-k", "not dynamo and not jit and not gradcheck"),
        ("--device=cpu",),
        ("--device=cuda",),
        chooses="`--device=cuda`",
        more="a larger part",
    ),
    Suite("pytorch/ignite", "tests/ignite/metrics/regression, not distributed",
          ("tests/ignite/metrics/regression", "-k", "not distrib"),
          chooses="a parameter of each test"),
    Suite("Lightning-AI/torchmetrics", "unittests/regression/test_r2.py, test_cosine_similarity.py",
          ("unittests/regression/test_r2.py", "unittests/regression/test_cosine_similarity.py",
           "-k", "not ddp and not True", "-o", "addopts="),
          folder="tests", path="src"),
    Suite("pyro-ppl/pyro", "tests/nn, tests/params",
          ("tests/nn", "tests/params"),
          on_device=_DEFAULT, chooses="`torch.set_default_device`"),
    Suite("lucidrains/x-transformers", "tests named cache, mixed, alibi or rotary",
          ("tests/test_x_transformers.py", "-k", "cache or mixed or alibi or rotary"),
          on_device=_DEFAULT,
          chooses="`torch.set_default_device`"),
    Suite("rtqichen/torchdiffeq",
          "tests/odeint_tests.py without all solvers on all problems and jumps",
          ("tests/odeint_tests.py", "-k",
           "not SolverError and not ScipySolvers and not Discontinuities"), path=".:tests",
          chooses="each test on the CPU and on CUDA where there is one"),
)  # fmt: skip

#: Why a test that passes on the CPU fails there, by the beginnings of the tests' names: a GPU
#: machine would refuse it, too, or what it is instead.
JUDGED = {
    "tests.test_x_transformers::test_custom_alibi": "true: `AlibiPositionalBias` makes its slopes "
    "with `torch.Tensor(list)`, which `torch.set_default_device` does not move, and the model is "
    "never moved; torch does the same for any device (`torch.set_default_device('meta')`)",
}
MODES = {
    "cpu": (),
    "virtual": ("--virtual-device=cuda",),
    "compiled": ("--virtual-device=cuda", "--virtual-compiled"),
}


@dataclass
class Ran:
    """One run: what came of each test, the message of those that failed, processor seconds."""

    seconds: float = 0.0
    outcomes: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    end: str = ""


def run(suite: Suite, mode: str, corpus: Path, python: str) -> Ran:
    """Run a part of a suite in one mode."""
    checkout = corpus / suite.repo.replace("/", "+")
    chosen = suite.on_cpu if mode == "cpu" else suite.on_device
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--junitxml={report}"]
        if mode != "cpu" and not _has_plugin(python):
            words += ["-p", "samedevice.prove.pytest_plugin"]
        command = [python, "-m", "pytest", *words, *MODES[mode], *chosen, *suite.words]
        paths = [*suite.path.split(":"), str(ROOT / "codemods"), str(HERE)]
        paths = [str(checkout / path) if not os.path.isabs(path) else path for path in paths]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
        process = subprocess.Popen(
            command,
            preexec_fn=_limited,
            cwd=checkout / suite.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None
        said = process.stdout.read().decode("utf-8", "replace")
        _, _, used = os.wait4(process.pid, 0)
        ran = Ran(round(used.ru_utime + used.ru_stime, 1))
        lines = [line for line in said.splitlines() if line.strip()]
        ran.end = lines[-1][:200] if lines else ""
        if report.exists():
            _read(report, ran)
    return ran


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def judged(name: str) -> str:
    """Return why a test fails there, "" if nobody has looked."""
    return next((why for begin, why in JUDGED.items() if name.startswith(begin)), "")


@cache
def _has_plugin(python: str) -> bool:
    code = "from importlib.metadata import entry_points as e; print(e(group='pytest11').names)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return "'samedevice'" in done.stdout


def _read(report: Path, ran: Ran) -> None:
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = next((one for one in case if one.tag in ("failure", "error")), None)
        skipped = any(one.tag == "skipped" for one in case)
        ran.outcomes[name] = "failed" if bad is not None else "skipped" if skipped else "passed"
        if bad is not None:
            ran.messages[name] = (bad.get("message") or "").split("\n")[0][:300]


def _same(name: str) -> str:
    """Return a test's name without the device in it."""
    return re.sub(r"\bcuda(:\d)?\b", "cpu", name)


def alarms(cpu: Ran, there: Ran) -> dict[str, str]:
    """Return the tests that pass on the CPU and fail there, with what they say."""
    passed = {_same(name) for name, how in cpu.outcomes.items() if how == "passed"}
    return {
        name: there.messages[name]
        for name, how in there.outcomes.items()
        if how == "failed" and _same(name) in passed
    }


def page(record: dict[str, dict[str, Ran]], commits: dict[str, str]) -> str:
    """Return the page as Markdown."""
    lines = [
        "# Public test suites on the virtual accelerator",
        "",
        "Written by `python -m tests.prove.suites`; do not edit. Parts of suites, chosen so that",
        "they run in minutes, before anything was known of the outcome: a sample. Times are",
        "processor seconds of whole runs, imports included, one thread, all of one session on a",
        "machine that others used, too.",
        "",
        "| suite | commit | part | device chosen by | CPU: passed, failed, skipped | virtual | "
        "fail there only | s on the CPU | virtual | with C++ |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found: list[str] = []
    unfinished: list[str] = []
    for suite in SUITES:
        runs = record.get(suite.name, {})
        if not all(mode in runs and runs[mode].outcomes for mode in ("cpu", "virtual")):
            unfinished.append(suite.name)
            continue
        cpu, there = runs["cpu"], runs["virtual"]
        compiled = runs.get("compiled")
        if compiled is not None and not compiled.outcomes:
            compiled = None  # stopped at the time limit
        only = alarms(cpu, there)
        ratio = f"{there.seconds / cpu.seconds:.2f} times" if cpu.seconds else ""
        quick = f"{compiled.seconds / cpu.seconds:.2f} times" if compiled and cpu.seconds else ""
        lines.append(
            f"| {suite.repo} | {commits.get(suite.name, '')} | {suite.part} | {suite.chooses} | "
            f"{_counts(cpu)} | {_counts(there)} | {len(only)} | {cpu.seconds:.0f} | {ratio} | "
            f"{quick} |"
        )
        found += [
            f"| {suite.name} | {_cell(n)} | {_cell(m)} | {judged(n)} |"
            for n, m in sorted(only.items())
        ]
        if compiled is not None and (other := _different(there, compiled)):
            found += [
                f"| {suite.name} | {_cell(n)} | only with C++: {_cell(m)} | |" for n, m in other
            ]
    if unfinished:
        lines += ["", f"Not run to their end, and so not counted: {', '.join(unfinished)}."]
    lines += ["", "## What passes on the CPU and not there", ""]
    if found:
        lines += ["| suite | test | what it says | why |", "| --- | --- | --- | --- |", *found]
    else:
        lines += ["Nothing."]
    return "\n".join(lines) + "\n"


def _different(one: Ran, other: Ran) -> list[tuple[str, str]]:
    """Return the tests that end otherwise with kernels in C++."""
    return [
        (name, f"{how}, in Python {one.outcomes.get(name)}. {other.messages.get(name, '')}")
        for name, how in sorted(other.outcomes.items())
        if how != one.outcomes.get(name)
    ]


def _counts(ran: Ran) -> str:
    how = list(ran.outcomes.values())
    return ", ".join(f"{how.count(one):,}" for one in ("passed", "failed", "skipped"))


def _cell(text: str, most: int = 200) -> str:
    text = re.sub(r"/\S*/", "", " ".join(text.split())).replace("|", "\\|")
    return text if len(text) <= most else text[: most - 1] + "…"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="", help="part of a suite's name")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", type=Path, default=ROOT / "docs/proof/suites.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/proof/suites.md")
    options = parser.parse_args(argv)
    known = json.loads(options.record.read_text("utf-8")) if options.record.exists() else {}
    record = {
        repo: {mode: Ran(**one) for mode, one in runs.items()}
        for repo, runs in known.get("runs", {}).items()
    }
    commits: dict[str, str] = known.get("commits", {})

    writing = Lock()

    def save() -> None:
        kept = {
            repo: {mode: asdict(ran) for mode, ran in runs.items()} for repo, runs in record.items()
        }
        text = json.dumps({"commits": commits, "runs": kept}, indent=1, sort_keys=True)
        options.record.write_text(f"{text}\n", "utf-8")
        options.page.write_text(page(record, commits), "utf-8")

    def one(suite: Suite) -> None:
        commit = options.corpus / suite.repo.replace("/", "+") / ".corpus-commit"
        runs = {}
        for mode in MODES:
            ran = runs[mode] = run(suite, mode, options.corpus, options.python)
            print(suite.name, mode, f"{ran.seconds:.0f} s:", ran.end, flush=True)
        with writing:  # each suite when it is done: one that is stopped takes nothing along
            commits[suite.name] = commit.read_text().strip()[:9] if commit.exists() else ""
            record[suite.name] = runs
            save()

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, [suite for suite in SUITES if options.only in suite.name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
