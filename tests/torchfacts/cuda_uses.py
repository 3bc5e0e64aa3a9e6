"""Every public name of `torch.cuda` in every use, before and after `fix`, on the torch of a Python.

Each program is a name in a use. All are run on a machine without CUDA and, where it carries one
(torch 2.9 and newer), on the virtual accelerator: one process for many programs, since each is a
line or two. What `fix` leaves as it is runs once. `fix` runs here, and only the programs in the
other Python:

    python -m tests.torchfacts.cuda_uses --python PATH/bin/python    # that torch's row of the page

Exit codes: 0 all is well, 1 something is broken or silent, 2 nothing could be run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from samedevice.migration import migrate
from samedevice.reading.config import load
from samedevice.torchfacts import accelerator_names

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs/proof/cuda.json"
PAGE = DATA.with_suffix(".md")

INTERFACES = ("torch.cuda.", "torch.backends.cuda.", "torch.backends.cudnn.")
#: What is a class of errors, a tensor type, asks for a library of the user's, or only serves torch.
LEFT_OUT = (
    "Error", "Tensor", "Storage", "Allocator", "change_current_allocator", "cudaStatus", "OptState",
    "classproperty", "Module", "Manager", "AttrContextProp", "cuFFTPlanCache",
    "cuFFTPlanCacheAttrContextProp",
)  # fmt: skip
ARGUMENTS = {
    "CUDAGraph": "", "ExternalStream": "0", "SDPAParams": "x, x, x, None, 0.0, False, False",
    "StreamContext": "None", "all_gather": "[x], [x]", "all_reduce": "[x]",
    "autocast": "", "broadcast": "x, [0]", "broadcast_coalesced": "[x], [0]",
    "caching_allocator_alloc": "16", "caching_allocator_delete": "0",
    "can_device_access_peer": "0, 0", "check_error": "0", "create": "1", "device": "0",
    "device_of": "net.weight", "enable_cudnn_sdp": "True", "enable_flash_sdp": "True",
    "enable_math_sdp": "True", "enable_mem_efficient_sdp": "True",
    "allow_fp16_bf16_reduction_math_sdp": "True", "gather": "[x]", "init": "",
    "get_device_properties": "0", "get_stream_from_external": "0",
    "graph": "torch.cuda.CUDAGraph()", "is_acceptable": "x", "is_available": "",
    "make_graphed_callables": "net, (torch.ones(1, 1),)",
    "manual_seed": "0", "manual_seed_all": "0", "mark": "'m'", "range": "'m'", "range_end": "1",
    "range_push": "'m'", "range_start": "'m'", "reduce": "[x]", "reduce_add": "[x]",
    "reduce_add_coalesced": "[[x]]", "reduce_scatter": "[x], [x]", "scatter": "x, [0]",
    "set_device": "0", "set_per_process_memory_fraction": "0.5",
    "set_rng_state": "torch.get_rng_state()", "set_rng_state_all": "[torch.get_rng_state()]",
    "set_stream": "None", "set_sync_debug_mode": "0", "stream": "None",
}  # fmt: skip
#: What is asked of what they give, as a program writes it.
EXPRESSIONS = (
    "torch.cuda.get_device_properties(0).total_memory", "torch.cuda.get_device_capability()[0]",
    "torch.cuda.mem_get_info()[0]", "torch.cuda.memory_stats().get('active', 0)",
    "torch.cuda.Event(enable_timing=True)", "torch.cuda.current_stream().query()",
    "torch.ones(2).pin_memory()", "torch.ones(2).pin_memory().is_pinned()",
    "torch.cuda.get_rng_state().sum()",
    "torch.backends.cudnn.version()",
)  # fmt: skip
HEAD = """\
import torch
import torch.cuda.profiler
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(1, 1).to(device)
x = torch.ones(2, device=device)
"""
#: Uses of a value, written as it stands.
USES = {
    "alone": "{call}",
    "assigned": "value = {call}",
    "returned": "def ask():\n    return {call}\nanswer = ask()",
    "passed on": "def note(x):\n    return [x]\nnote({call})",
    "printed": "print({call})",
    "compared": "flag = {call} == 1",
    "in a test": "if {call}:\n    print('yes')",
    "with": "with {call}:\n    pass",
    "decorator": "@{call}\ndef step(ctx):\n    return 1\nstep(net)",
    "default": "def ask(value={call}):\n    return value\nask()",
    "over the devices": "values = [{call} for i in range(torch.cuda.device_count())]",
    "in a generator": "values = list({call} for i in range(2))",
    "attribute": "class Run:\n    def __init__(self):\n        self.value = {call}\nRun()",
    "lambda": "ask = lambda: {call}\nask()",
}
#: Uses of a function or class beside its call.
NAMED = {
    "by another name": "f = {name}\nf({given})",
    "imported": "from {module} import {last}\nvalue = {last}({given})",
}
SET = {"set": "{name} = {new}"}
#: What runs anywhere and is rewritten or told all the same: mixed precision and marks by their
#: names for CUDA alone, which do nothing for another accelerator, and contexts that nobody enters.
#: A green context raises when it is made without CUDA from 2.14 on, and when it is used before.
ALSO = (
    "GreenContext",
    "cuda.device",
    "nvtx.range",
    "caching_allocator_disabled",
    "profiler.profile",
)
DRIVER = """
import contextlib, importlib, io, json, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "virtual":
    from samedevice.prove import virtual
    virtual.install("cuda", 1)
import torch


def sort(name):
    home, _, last = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(home), last, None)
    except ImportError:
        return ""
    switch = home.startswith("torch.backends.") and not callable(found)
    return "called" if callable(found) else "set" if switch else ""


def run(code):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "<program>", "exec"), {"__name__": "program"})
        return ""
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    finally:
        if torch.cuda.is_available():
            torch.cuda.set_device(0)
            torch.cuda.set_stream(torch.cuda.default_stream())
            torch.cuda.set_sync_debug_mode(0)


asked = json.load(sys.stdin)
out = {
    "version": torch.__version__, "cuda": torch.version.cuda, "python": sys.version.split()[0],
    "available": torch.cuda.is_available(), "sorts": {n: sort(n) for n in asked["names"]},
    "ends": [run(code) for code in asked["programs"]],
}
print(json.dumps(out))
"""
#: Programs of one process: most of what a process needs is torch's import.
PART = 2000
NEWEST_WITHOUT_VIRTUAL = (2, 8)


@dataclass(frozen=True)
class Used:
    """A name in a use: the program, and what it ends with on a CPU and on a device."""

    name: str
    use: str
    code: str
    cpu: str
    device: str


class Torch:
    """The torch of a Python: what it is, what it has, and how programs end on it."""

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        about = self._ask("cpu")
        if about["available"]:
            raise RuntimeError("needs a machine without CUDA")
        self.version, self.cuda, self.python = (about[n] for n in ("version", "cuda", "python"))
        numbers = tuple(int(n) for n in self.version.split("+")[0].split(".")[:2])
        self.virtual = numbers > NEWEST_WITHOUT_VIRTUAL
        self._names: tuple[str, ...] = ()  # their modules are imported before any program runs

    def _ask(
        self, where: str, names: tuple[str, ...] = (), programs: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        paths = [str(ROOT / "codemods"), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [self._python, "-c", DRIVER, where],
            input=json.dumps({"names": names, "programs": programs}),
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-600:])
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer

    def names(self) -> dict[str, str]:
        """Return the public names that are called, or are switches ("set")."""
        listed = accelerator_names(self.version)
        known = sorted(n for n in listed if n.startswith(INTERFACES) and not n.endswith(LEFT_OUT))
        self._names = tuple(known)
        sorts = self._ask("cpu", names=self._names)["sorts"]
        return {name: sort for name, sort in sorts.items() if sort}

    def run(self, programs: list[str]) -> list[tuple[str, str]]:
        """Return what programs end with on a CPU, and on a device: "" for those that pass."""

        def on(where: str) -> Iterator[str]:
            for first in range(0, len(programs), PART):
                part = tuple(programs[first : first + PART])
                yield from self._ask(where, self._names, part)["ends"]

        device = on("virtual") if self.virtual else iter([""] * len(programs))
        return list(zip(on("cpu"), device, strict=True))


def cells(names: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield names with a use, and the program."""
    for name, sort in names.items():
        module, _, last = name.rpartition(".")
        given = ARGUMENTS.get(last, "") if sort == "called" else ""
        for use, text in (USES | (NAMED if sort == "called" else SET)).items():
            each = "i" if given == "0" and use == "over the devices" else given
            call = f"{name}({each})" if sort == "called" else name
            new = "10" if last.endswith("limit") else "True"
            code = text.format(call=call, name=name, given=given, module=module, last=last, new=new)
            yield name, use, f"{HEAD}{code}\n"
    for call in EXPRESSIONS:
        for use, text in USES.items():
            yield call, use, f"{HEAD}{text.format(call=call)}\n"


def fixed(code: str, folder: Path, version: str) -> tuple[str, list[str]]:
    """Return what `fix` makes of a program, and what is said of what is left: notes, too.

    The project says which torch it needs, as one that is kept at an old release does.
    """
    (folder / "main.py").write_text(code)
    (folder / "requirements.txt").write_text(f"torch=={version.partition('+')[0]}\n")
    config = load([str(folder)])
    outcome = migrate.migrate(migrate.read([str(folder)], config), config)
    after = next((change.after.decode() for change in outcome.changes), code)
    return after, [f"{finding.level}: {finding.rule}" for finding in outcome.remaining]


def judged(before: Used, after: Used, told: list[str]) -> str:
    """Return how a program went: "right", "repaired" and "told" are well, all else is a fault."""
    changed = before.code != after.code
    if changed and ((after.cpu and not before.cpu) or (after.device and not before.device)):
        return f"broken: {after.cpu or after.device}"
    if not before.cpu and not before.device:
        blamed = [text for text in told if not text.startswith("note")]
        if (changed or blamed) and not before.name.endswith(ALSO) and ".amp." not in before.name:
            return f"right, and changed or blamed: {blamed}"
        return "right"
    if after.cpu and changed:
        return f"repaired by half: {after.cpu}"
    if after.cpu and not told:
        return f"silent: {after.cpu}"
    return "told" if after.cpu else "repaired"


OTHER_BUILD = "right, and changed or blamed"


@dataclass
class Outcome:
    """What came out on one torch: how many programs ended in each way, and each fault."""

    counts: Counter[str]
    faults: list[str]


def try_all(torch: Torch, programs: list[tuple[str, str, str]]) -> Outcome:
    """Repair programs and run them, before and after; those that run nowhere are no programs.

    A build for CUDA without a GPU does more than a build for the CPU: what it runs, and what would
    raise on the other build, may be changed and told.
    """
    outcome = Outcome(Counter(), [])
    ends = torch.run([code for _, _, code in programs])
    before = [
        Used(*each, *end)
        for each, end in zip(programs, ends, strict=True)
        if not (end[0] and (end[1] or not torch.virtual and _is_misuse(end[0])))
    ]
    outcome.counts["no program"] = len(programs) - len(before)
    with tempfile.TemporaryDirectory() as folder:
        repairs = [fixed(used.code, Path(folder), torch.version) for used in before]
    changed = sorted({code for code, _ in repairs} - {used.code for used in before})
    after = dict(zip(changed, torch.run(changed), strict=True))
    for used, (code, told) in zip(before, repairs, strict=True):
        end = after.get(code, (used.cpu, used.device))
        how = judged(used, Used(used.name, used.use, code, *end), told)
        if not torch.virtual and used.cpu and _is_misuse(end[0]):
            how = "no program"
        kind = how.partition(":")[0]
        if kind == OTHER_BUILD and torch.cuda:
            kind = how = "other build"
        outcome.counts[kind] += 1
        if how not in COLUMNS:
            outcome.faults.append(f"{used.name} {used.use}: {how}")
    return outcome


def _is_misuse(end: str) -> bool:
    """Whether it fails with or without CUDA, where no device can be asked: what is no context."""
    return end.startswith(("TypeError", "AttributeError"))


# -- the page --------------------------------------------------------------------------------------

BEGIN = """\
# The table of torch.cuda, executed

Written by `python -m tests.torchfacts.cuda_uses --python PATH/bin/python`, once for each torch (of
a Python that has torch and NumPy; `fix` runs in this one); do not edit.

Each public function, class and switch of `torch.cuda`, of its modules (`amp`, `comm`, `gds`,
`graphs`, `green_contexts`, `memory`, `nccl`, `nvtx`, `profiler`, `random`, `streams`, `tunable`),
of `torch.backends.cudnn` and of `torch.backends.cuda` that the release has (`releases.json`) is
written in 15 or 16 uses: {uses}.
So are {expressions} expressions over what they give (a field of the properties, pinned memory, a
stream that is asked). Each program is run before and after `fix` on a machine without CUDA and,
from torch 2.9 on, on the virtual accelerator.

| column | meaning |
| --- | --- |
| right | ran everywhere before; not changed, and nothing but notes |
| repaired | ended somewhere before, runs on both now |
| told | raises without CUDA still, and a finding or a note says so |
| other build | runs on this build, raises on one for the CPU: repaired or told for that one |
| no program | runs nowhere: what is no context in a `with`, a table that is called |
| faults | broken, repaired by half, silent, or blamed though right |

"CUDA 13.0" is a build for CUDA on a machine without a GPU or a driver. Left out: exceptions,
storages and tensor types (`tensor-type` has its own fixtures), allocators that load a library of
the user's, and what only serves torch. Known and not in the table: in builds for CUDA before 2.5,
`torch.backends.cuda.cufft_plan_cache.max_size` raises without a driver, and nothing says so.

"""
HEADS = (
    "torch build Python device names programs right repaired told other_build no_program faults on"
)
COLUMNS = ("right", "repaired", "told", "other build", "no program")


def page(rows: dict[str, dict[str, Any]]) -> str:
    """Return the page for all torches that were tried."""
    uses = ", ".join((*USES, *NAMED, *SET))
    heads = [head.replace("_", " ") for head in HEADS.split()]
    lines = [BEGIN.format(uses=uses, expressions=len(EXPRESSIONS))]
    lines += [f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads))]
    for version in sorted(rows, key=_numbers):
        row = rows[version]
        cells = [
            version.partition("+")[0], f"CUDA {row['cuda']}" if row["cuda"] else "CPU",
            row["python"], "virtual" if row["virtual"] else "none", row["names"], row["programs"],
            *(row["counts"].get(column, 0) for column in COLUMNS), len(row["faults"]), row["on"],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |\n")
    faults = [f"- {v.partition('+')[0]}: {f}\n" for v, row in rows.items() for f in row["faults"]]
    return "".join((*lines, *(("\n", "Faults:\n\n", *faults) if faults else ())))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("+")[0].split(".")[:3])


def main(arguments: list[str] | None = None) -> int:
    """Try one torch, and write its row."""
    parser = argparse.ArgumentParser(description="Execute the table of torch.cuda on one torch.")
    parser.add_argument("--python", default=sys.executable, help="that has the torch")
    try:
        torch = Torch(parser.parse_args(arguments).python)
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    names = torch.names()
    programs = list(cells(names))
    outcome = try_all(torch, programs)
    rows = json.loads(DATA.read_text("utf-8")) if DATA.is_file() else {}
    rows[torch.version] = {
        "cuda": torch.cuda,
        "python": torch.python,
        "virtual": torch.virtual,
        "on": datetime.now(timezone.utc).date().isoformat(),
        "names": len(names),
        "programs": len(programs),
        "counts": dict(sorted(outcome.counts.items())),
        "faults": outcome.faults,
    }
    DATA.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(rows), encoding="utf-8")
    print(torch.version, dict(outcome.counts), *outcome.faults, sep="\n")
    return int(bool(outcome.faults))


if __name__ == "__main__":
    sys.exit(main())
