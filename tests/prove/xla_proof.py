"""Run rewritten programs on accelerators that nobody here wrote: such as a CPU carries, or a GPU.

    python -m tests.prove.xla_proof --python XLA/bin/python --corpus DIR
    python -m tests.prove.xla_proof --device openreg --python OPENREG/bin/python
    python -m tests.prove.xla_proof --device cuda --python python3 --corpus DIR --list conversions

`--python` is an interpreter with the device: torch_xla, whose PJRT runtime needs no accelerator
(`PJRT_DEVICE=CPU`), or torch_openreg, torch's own example of one, or torch for CUDA and a GPU.
Every project of `fixtures/` and, with `--corpus` (checkouts as OWNER+NAME), real programs of
`tests/real_programs` (`--list` says of which catalogue) are copied,
fixed for the device, and run twice by that interpreter: without the device, which is the CPU, and
with it. Outcomes are kept in a record, so that a part can be run again (`--only`), or what `fix`
writes otherwise than it did for the record (`--new`). The page is written from the record.

Exit codes: 0 every program was run, 2 the interpreter has no such device.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from tests.fixtures import cases as fixtures
from tests.real_programs import stage
from tests.real_programs.catalogue import Program, load
from tests.real_programs.examine import difference_of
from tests.real_programs.inputs import supply

ROOT = Path(__file__).parents[2]
TOLERANCE = 1e-3  # relative, between losses: XLA adds in another order
FEW = {"REAL_PROGRAMS_MAX_BATCHES": "3", "REAL_PROGRAMS_MAX_BACKWARDS": "6"}


@dataclass(frozen=True)
class Device:
    """A device that a CPU carries: how to have it, and what the page says of it."""

    name: str  # in messages
    resolver: str  # the choice of `--resolver`
    here: dict[str, str]  # environment with it
    without: dict[str, str]  # environment in which the same interpreter has only the CPU
    reach: str  # Python that brings it
    versions: str  # Python that prints what there is
    title: str
    about: tuple[str, ...]


DEVICES = {
    "xla": Device(
        "XLA",
        "xla",
        # XLA compiles each new shape anew: few steps, and no time spent on better code
        {
            "PJRT_DEVICE": "CPU",
            "XLA_FLAGS": (
                "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
            ),
        },
        {"REAL_PROGRAMS_WITHOUT": "torch_xla"},
        "import torch_xla; there = torch_xla.device()",
        "import torch_xla; print('torch', torch.__version__, '· torch_xla', "
        "torch_xla.__version__, '· Python', platform.python_version(), '·', torch_xla.device())",
        "On a third party's accelerator",
        (
            "Written by `make xla-proof` from runs; do not edit. torch_xla brings a device that",
            "runs on a CPU (`PJRT_DEVICE=CPU`), with memory, a compiler and messages of its own.",
        ),
    ),
    "cuda": Device(
        "the GPU",
        "cuda",
        {"NVIDIA_TF32_OVERRIDE": "0"},  # else convolutions round to ten bits
        {"CUDA_VISIBLE_DEVICES": ""},
        "there = torch.device('cuda')",
        "print('torch', torch.__version__, '· CUDA', torch.version.cuda, '· Python', "
        "platform.python_version(), '·', torch.cuda.get_device_name(), '·', "
        "datetime.date.today())",
        "On a GPU",
        (
            "Written by `python -m tests.prove.xla_proof --device cuda` from runs; do not edit.",
            "Convolutions are asked for full precision (`NVIDIA_TF32_OVERRIDE=0`).",
        ),
    ),
    "openreg": Device(
        "openreg",
        "accelerator",
        {},
        {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        "there = torch.device('openreg')",
        "print('torch', torch.__version__, '· torch_openreg', importlib.metadata.version("
        "'torch_openreg'), '· Python', platform.python_version(), '·', "
        "torch.accelerator.current_accelerator(), torch.accelerator.device_count(), 'devices')",
        "On torch's own example of an accelerator",
        (
            "Written by `python -m tests.prove.xla_proof --device openreg` from runs; do not",
            "edit. torch_openreg is the accelerator that PyTorch's repository has as an example",
            "for those who write one (`test/cpp_extensions/open_registration_extension`): two",
            "devices with memory of their own, which the host may not touch, streams and a guard;",
            "operations that it lacks fall back to the CPU's. It was built from source against",
            "the torch below, and is found by `import torch` as any accelerator is, so that the",
            "choice `--resolver accelerator` needs to know nothing of it.",
        ),
    ),
    "tiny": Device(
        "tiny",
        "accelerator",
        {"DEV": "CPU:X86"},
        {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        "there = torch.device('tiny')",
        "print('torch', torch.__version__, '· tinygrad, its device for torch · Python', "
        "platform.python_version(), '·', torch.accelerator.current_accelerator())",
        "On tinygrad's device for torch",
        (
            "Written by `python -m tests.prove.xla_proof --device tiny` from runs; do not edit.",
            "tinygrad, another framework, has a device for torch (`extra/torch_backend` in its",
            "repository). It schedules and compiles by itself, here for the CPU with its own",
            "assembler (`DEV=CPU:X86`), and takes no operand that is not on it. An entry point for",
            "`torch.backends` loads it when torch is imported.",
        ),
    ),
}


#: Why a program does not end there, by what it is told.
_LIMITS = {
    "not an accelerator": "torch_xla has no random generators for its device",
    "not allocated yet": "XLA cannot run a recurrent network whose lengths depend on data",
    "Caffe2 uses a lazy allocation": "the same",
    "has no attribute '_scatter'": "torch has its half of DataParallel for CUDA alone",
    "convolution_overrideable not implemented": "openreg has no convolution",
    "for generator but found 'openreg'": "its random numbers fall back to the CPU's",
    "tensor does not have a device": "raised within the backward pass; not looked into",
    "PythonDispatcher: registered at": "openreg lacks the kernels of recurrent cells",
    "time limit": "more compiling than the time limit has room for",
}
#: Why one program does not, where the words do not tell: by device and name.
_KNOWN = {
    ("openreg", "projects/diffusion"): "`1 - x` of openreg's fallback is on the CPU",
    ("openreg", "projects/dqn"): "`1 - x` of openreg's fallback is on the CPU",
    (
        "openreg",
        "wiseodd/generative-models/GAN/mode_regularized_gan/mode_reg_gan_pytorch.py",
    ): "`1 - x` of openreg's fallback is on the CPU",
}


_OLD = (
    " (XLA gives a module new parameters when it moves: an optimizer made before goes on with the"
    " old ones)"
)


@dataclass(frozen=True)
class Outcome:
    """One program: how it ended on the CPU and on XLA ("" where it ended well), and its losses."""

    name: str
    kind: str  # "fixture" or "real program"
    commit: str = ""
    changed: int = 0  # lines
    on_cpu: str = ""
    on_xla: str = ""
    cpu_losses: tuple[float, ...] = ()
    xla_losses: tuple[float, ...] = ()
    losses_on: dict[str, int] = field(default_factory=dict)
    stepped: dict[str, int] = field(default_factory=dict)
    drew: bool = False
    on_host: bool = False  # its own options ask for the CPU
    device: str = "xla"  # the key in `DEVICES`
    text: str = ""  # a digest of the program as it was fixed

    @property
    def left(self) -> bool:
        """Whether it computes nothing that could be compared: no loss, no step."""
        return not self.on_xla and not self.losses_on and not self.stepped

    @property
    def is_there(self) -> bool:
        """Whether all losses and all stepped parameters were where they belong."""
        return {*self.losses_on, *self.stepped} == {"cpu" if self.on_host else self.device}

    @property
    def distance(self) -> float:
        """The largest relative difference between a loss here and there."""
        pairs = zip(self.cpu_losses, self.xla_losses, strict=False)
        return max((abs(a - b) / max(abs(a), abs(b), 1e-9) for a, b in pairs), default=0.0)

    @property
    def agrees(self) -> bool:
        """Whether as many losses came, and the same up to `TOLERANCE`."""
        return len(self.cpu_losses) == len(self.xla_losses) and self.distance <= TOLERANCE

    @property
    def finite(self) -> bool:
        """Whether every loss on XLA is a number."""
        return all(map(math.isfinite, self.xla_losses))

    @property
    def difference(self) -> str:
        """What is not as on the CPU, and why; "" where all is."""
        if self.on_cpu:
            return ""
        if self.on_xla:
            known = [why for words, why in _LIMITS.items() if words in self.on_xla]
            known += [why for key, why in _KNOWN.items() if key == (self.device, self.name)]
            return f"{_cell(self.on_xla, 90)} ({known[0]})" if known else self.on_xla
        if self.left:
            return ""
        if not self.is_there:
            where = f"losses on {self.losses_on}, parameters stepped on {self.stepped}"
            why = _OLD if "cpu" in self.stepped and "xla" in self.losses_on else ""
            return f"{where}{why}"
        if not self.finite:
            return "a loss is no number"
        if self.agrees:
            return ""
        if self.drew:
            own = DEVICES[self.device].name
            return f"other losses: it draws random numbers on the device, and they are {own}'s own"
        return f"other losses, by {self.distance:.1g} at most"


# -- running ----------------------------------------------------------------------------------


def of_fixtures() -> Iterator[tuple[Program, fixtures.Case]]:
    """Yield every fixture project as a program that the harness can run."""
    for case in fixtures.cases():
        if case.rule is None:
            module = case.entry.partition("-m ")[2].strip()
            path = "__main__.py" if module else case.entry
            yield Program("F", "fixtures", path, args=case.args, module=module), case


def examine(
    program: Program,
    name: str,
    kind: str,
    before: Path,
    commit: str,
    python: str,
    limit: float,
    device: str,
    known: Outcome | None,
) -> Outcome:
    """Fix a copy of the folder `before` for the device; run it on the CPU and there.

    What is fixed as it was for the `known` outcome needs no other.
    """
    there = DEVICES[device]
    with TemporaryDirectory() as scratch:
        after = Path(scratch, "after")
        after.parent.mkdir(exist_ok=True)
        _copy(before, after)
        fixed = stage.fix(after, ("--resolver", there.resolver), limit)
        changed = sum(
            line[:1] in "+-" and line[:3] not in ("+++", "---")
            for line in difference_of(before, after)
        )
        if fixed.status not in (0, 1):
            return Outcome(name, kind, commit, on_cpu=f"fix: {fixed.reason}", device=device)
        text = digest(after)
        if known is not None and known.text == text:
            return known
        cpu = stage.run(program, after, limit, python=python, extra={**FEW, **there.without})
        if not cpu.finished:
            return Outcome(name, kind, commit, changed, cpu.reason, device=device, text=text)
        xla = stage.run(program, after, limit, python=python, extra={**FEW, **there.here})
    return Outcome(
        name,
        kind,
        commit,
        changed,
        cpu.reason,
        xla.reason,
        tuple(map(float, cpu.losses)),
        tuple(map(float, xla.losses)),
        xla.losses_on,
        xla.stepped,
        xla.drew,
        device=device,
        text=text,
    )


def digest(folder: Path) -> str:
    """Return a digest of the code in a folder, without comments and the order of its imports."""
    found = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".py", ".ipynb"):
            continue
        code = path.read_bytes()
        with contextlib.suppress(SyntaxError, ValueError):  # a notebook, or another Python's
            imports, rest = set(), []
            for node in ast.parse(code).body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    imports.add(ast.unparse(node))
                else:
                    rest.append(ast.dump(node))
            code = repr((sorted(imports), rest)).encode()
        found.update(f"{path.relative_to(folder)}\0".encode() + code + b"\0")
    return found.hexdigest()[:16]


def _copy(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())


def run_fixture(program: Program, case: fixtures.Case, known: Outcome | None, *how: Any) -> Outcome:
    """Take one fixture project through."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "before")
        case.lay_out("before" if "before" in case.versions else "keep", folder)
        outcome = examine(program, case.name, "fixture", folder, "", *how, known)
        return replace(outcome, on_host=case.on_host)


def run_real(program: Program, corpus: Path, known: Outcome | None, *how: Any) -> Outcome:
    """Take one real program through."""
    commit = program.checkout(corpus) / ".corpus-commit"
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "before")
        folder.mkdir()
        try:
            stage.copy_program(program, corpus, folder)
        except FileNotFoundError as error:
            missing = f"no such file: {error.filename}"
            absent = Outcome(program.name, "real program", on_cpu=missing, device=how[-1])
            return known or absent
        supply(program, folder)
        at = commit.read_text().strip() if commit.exists() else ""
        return examine(program, program.name, "real program", folder, at, *how, known)


# -- what is refused --------------------------------------------------------------------------

_MIXED = """
import json, sys, torch
if sys.argv[1]:
    exec(sys.argv[1])
else:
    from samedevice.prove.virtual import install
    install("cuda")
    there = torch.device("cuda")
x, c = torch.rand(3, 3).to(there), torch.rand(3, 3)
index, far = torch.tensor([0, 2]), torch.tensor([0, 2]).to(there)
F = torch.nn.functional
for line in sys.stdin.read().splitlines():
    try:
        got = eval(line)
        got.cpu().sum().item() if isinstance(got, torch.Tensor) else got
        print(json.dumps("ends"), flush=True)
    except Exception as error:
        print(json.dumps(f"{type(error).__name__}: {error}".splitlines()[0]), flush=True)
"""
_CALLS = (
    "x @ c",
    "torch.cat([x, c])",
    "F.mse_loss(x, c)",
    "F.linear(x, c)",
    "F.embedding(index, x)",
    "torch.where(x > 0, x, c)",
    "torch.addmm(x, x, c)",
    "F.layer_norm(x, (3,), torch.ones(3))",
    "torch.gather(x, 0, torch.zeros(3, 3, dtype=torch.long))",
    "c[far]",
    "x.numpy()",
    "x + c",
    "x + torch.tensor(1.0)",
    "x[index]",
    "x.copy_(c)",
)


def refusals(python: str, device: Device) -> list[tuple[str, str, str]]:
    """Return what each of `_CALLS` ends with: the call, there, on the virtual accelerator."""
    answers = []
    for interpreter, reach in ((python, device.reach), (sys.executable, "")):
        env = {
            **os.environ,
            **device.here,
            "PYTHONPATH": str(ROOT / "codemods"),
            "PYTHONWARNINGS": "ignore",
        }
        ran = subprocess.run(
            [interpreter, "-c", _MIXED, reach],
            input="\n".join(_CALLS),
            capture_output=True,
            text=True,
            env=env,
        )
        answers.append([json.loads(line) for line in ran.stdout.splitlines() if line[:1] == '"'])
    return list(zip(_CALLS, *answers, strict=True))


# -- the page ---------------------------------------------------------------------------------


def page(
    outcomes: Sequence[Outcome],
    mixed: Sequence[tuple[str, str, str]],
    facts: str,
    device: Device,
) -> str:
    """Return the whole page as Markdown."""
    on = device.name
    lines = [
        f"# {device.title}",
        "",
        *device.about,
        f"Every program was fixed with `samedevice fix --resolver {device.resolver}` and run by",
        "the same interpreter without the device (the CPU) and with it. *There*: every loss and",
        f"every parameter that an optimizer stepped was on {on}. *Agree*: as many losses, equal up",
        f"to a relative {TOLERANCE:g}. At most three batches of each pass over a loader and six",
        "backward passes. With each outcome a digest of the fixed text is kept: what `fix` writes",
        "as it did then was not run again.",
        "",
        facts,
        "",
        f"| what | fixed | ended on the CPU | ended on {on} | there | finite | agree | differ |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    kinds = [k for k in ("fixture", "real program") if any(one.kind == k for one in outcomes)]
    for kind in kinds:
        all_ = [one for one in outcomes if one.kind == kind]
        ran = [one for one in all_ if not one.on_cpu]
        ended = [one for one in ran if not one.on_xla]
        there = [one for one in ended if one.is_there]
        same = [one for one in there if one.agrees]
        other = [one for one in ran if one.difference]
        lines.append(
            f"| {kind}s | {len(all_)} | {len(ran)} | {len(ended)} | {len(there)} | "
            f"{sum(one.finite for one in there)} | {len(same)} | {len(other)} |"
        )
    still = sum(1 for one in outcomes if not one.on_cpu and one.left)
    lines += ["", f"{still} of those that ended compute no loss and step nothing."]
    lines += ["", "## Every difference", "", f"| program | what | losses on the CPU | on {on} |"]
    lines += ["| --- | --- | --- | --- |"]
    for one in outcomes:
        if one.difference:
            lines.append(
                f"| {one.name} | {_cell(one.difference)} | {_course(one.cpu_losses)} | "
                f"{_course(one.xla_losses)} |"
            )
    if unfit := [one for one in outcomes if one.on_cpu]:
        lines += ["", "Not compared, since they do not end on that interpreter's CPU:", ""]
        lines += [f"- {one.name}: {_cell(one.on_cpu)}" for one in unfit]
    lines += _mixed_table(mixed, on)
    for kind in kinds:
        lines += ["", f"## {kind.capitalize()}s", ""]
        lines += [f"| program | commit | lines changed | there | losses on the CPU | on {on} |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        for one in outcomes:
            if one.kind == kind and not one.on_cpu and not one.on_xla:
                there = "yes" if one.is_there else "nothing computed" if one.left else "NO"
                there = "on the CPU, as its options ask" if one.on_host else there
                lines.append(
                    f"| {one.name} | {one.commit[:9]} | {one.changed} | {there} | "
                    f"{_course(one.cpu_losses)} | {_course(one.xla_losses)} |"
                )
    return "\n".join(lines) + "\n"


def _mixed_table(mixed: Sequence[tuple[str, str, str]], on: str) -> Iterator[str]:
    yield from ("", "## Operands in two places", "")
    yield f"`x` and `far` are on the device, `c` and `index` on the CPU. Where {on} ends, a pass on"
    yield "it says less than one on CUDA."
    yield from ("", f"| call | {on} | the virtual accelerator |", "| --- | --- | --- |")
    for call, xla, virtual in mixed:
        yield f"| `{call}` | {_cell(xla)} | {_cell(virtual)} |"


def _course(losses: Sequence[float]) -> str:
    if not losses:
        return ""
    return f"{losses[0]:.5g} → {losses[-1]:.5g}" if len(losses) > 1 else f"{losses[0]:.5g}"


def _cell(text: str, most: int = 170) -> str:
    text = re.sub(r"/\S*/", "", " ".join(text.split())).replace("|", "\\|")
    return text if len(text) <= most else text[: most - 1] + "…"


# -- the command ------------------------------------------------------------------------------


class Record:
    """Outcomes as JSON, by the program's name."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._known: dict[str, dict[str, object]] = {}
        if path.exists():
            self._known = json.loads(path.read_text("utf-8"))

    def put(self, outcome: Outcome) -> None:
        """Keep an outcome instead of an older one."""
        with self._lock:
            self._known[outcome.name] = asdict(outcome)
            text = json.dumps(self._known, indent=1, sort_keys=True, ensure_ascii=False)
            self._path.write_text(f"{text}\n", "utf-8")

    def outcomes(self) -> list[Outcome]:
        """Return all that is known, by name."""
        return [Outcome(**self._known[name]) for name in sorted(self._known)]  # type: ignore[arg-type]

    def get(self, name: str) -> Outcome | None:
        """Return what is known of one program."""
        return Outcome(**self._known[name]) if name in self._known else None  # type: ignore[arg-type]


def _versions(python: str, device: Device) -> str:
    """Say what the interpreter has; raises RuntimeError if there is no such device."""
    code = f"import datetime, importlib.metadata, platform, torch; {device.versions}"
    asked = subprocess.run(
        [python, "-c", code], env={**os.environ, **device.here}, capture_output=True, text=True
    )
    if asked.returncode:
        raise RuntimeError(asked.stderr.strip().rpartition("\n")[2])
    return asked.stdout.strip().splitlines()[-1]


def main() -> int:
    """Run what was asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=DEVICES, default="xla")
    parser.add_argument("--python", required=True, help="an interpreter with the device")
    parser.add_argument("--corpus", type=Path, help="checkouts of real programs as OWNER+NAME")
    parser.add_argument(
        "--list", choices=_LISTS, action="append", help="which real programs (default: programs)"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--only", default="", help="part of a program's name")
    parser.add_argument("--new", action="store_true", help="only what is fixed anew")
    parser.add_argument("--most", type=int, default=1000, help="real programs, the quickest first")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--record", type=Path, help="default: DEVICE.json in docs/proof")
    parser.add_argument("--page", type=Path, help="default: DEVICE.md in docs/proof")
    options = parser.parse_args()
    device = DEVICES[options.device]
    try:
        facts = _versions(options.python, device)
    except (RuntimeError, OSError) as error:
        print(f"{options.python}: no {device.name} device: {error}", file=sys.stderr)
        return 2
    stem = _PAGES.get(options.device, options.device)
    record = Record(options.record or ROOT / f"docs/proof/{stem}.json")
    how = options.python, options.limit, options.device

    def known(name: str) -> Outcome | None:
        return record.get(name) if options.new else None

    wanted = [
        lambda one=one, case=case: run_fixture(one, case, known(case.name), *how)
        for one, case in of_fixtures()
        if options.only in case.name
    ]
    lists = options.list or ["programs"]
    real = _quickest(lists, options.corpus, options.most) if options.corpus else []
    wanted += [
        lambda one=one: run_real(one, options.corpus, known(one.name), *how)
        for one in real
        if options.only in one.name
    ]

    begun = time.monotonic()

    def take(job: object) -> None:
        if time.monotonic() - begun > options.seconds:
            return
        outcome = job()  # type: ignore[operator]
        record.put(outcome)
        print(
            outcome.name, outcome.on_cpu and "UNFIT " + outcome.on_cpu, outcome.difference or "same"
        )
        sys.stdout.flush()

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(take, wanted))
    text = page(record.outcomes(), refusals(options.python, device), facts, device)
    (options.page or ROOT / f"docs/proof/{stem}.md").write_text(text, "utf-8")
    return 0


#: Pages that are not called as their device is: docs/proof/cuda.md is about the interface.
_PAGES = {"cuda": "gpu_programs"}
#: The catalogues of real programs, and what is known of them.
_LISTS = {"programs": "real_programs", "conversions": "conversions"}


def _quickest(catalogues: Sequence[str], corpus: Path, most: int) -> list[Program]:
    """Return scripts that the fix changes and that run everywhere, the quickest first."""
    found: list[tuple[float, Program]] = []
    for catalogue in catalogues:
        known = json.loads((ROOT / f"docs/proof/{_LISTS[catalogue]}.json").read_text("utf-8"))
        seconds = {
            (one["list"], one["name"], tuple(one["args"])): one["seconds"]
            for one in known.values()
            if one["changed_lines"]
            and one["virtual"] == ""
            and one["backwards"]
            and not one["name"].endswith(".ipynb")
        }
        found += [
            (seconds[key], one)
            for one in load(Path(stage.__file__).with_name(f"{catalogue}.toml"))
            if (key := (one.list, one.name, one.args)) in seconds and one.checkout(corpus).exists()
        ]
    found.sort(key=lambda timed: timed[0])
    return [one for _, one in found[:most]]


if __name__ == "__main__":
    sys.exit(main())
