"""Every public name of `torch.cuda` in every use: after `fix` it runs on both, or it is told.

Each program is a name in a use. All are run before and after, on a build without CUDA and on the
virtual accelerator: one process for many programs, since each is a line or two.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cases.running import Runner, Where

from samedevice.migration import migrate
from samedevice.reading.config import Config
from samedevice.torchfacts import accelerator_names, lookup

pytestmark = [pytest.mark.torch, pytest.mark.slow]

MODULES = ("cuda", "cuda.comm", "cuda.nccl", "cuda.nvtx", "cuda.profiler", "cuda.tunable")
#: What is a class of errors, a tensor type, or asks for a library of the user's.
LEFT_OUT = ("Error", "Tensor", "Storage", "Allocator", "change_current_allocator", "cudaStatus")
ARGUMENTS = {
    "CUDAGraph": "", "ExternalStream": "0", "StreamContext": "None", "broadcast": "x, [0]",
    "caching_allocator_alloc": "16", "caching_allocator_delete": "0",
    "can_device_access_peer": "0, 0", "check_error": "0", "device": "0", "device_of": "net.weight",
    "get_device_properties": "0", "get_stream_from_external": "0",
    "graph": "torch.cuda.CUDAGraph()", "make_graphed_callables": "net, (torch.ones(1, 1),)",
    "manual_seed": "0", "manual_seed_all": "0", "mark": "'m'", "range": "'m'", "range_end": "1",
    "range_push": "'m'", "range_start": "'m'", "scatter": "x, [0]", "set_device": "0",
    "set_per_process_memory_fraction": "0.5", "set_rng_state": "torch.get_rng_state()",
    "set_rng_state_all": "[torch.get_rng_state()]", "set_stream": "None",
    "set_sync_debug_mode": "0", "stream": "None",
}  # fmt: skip
HEAD = """\
import torch
import torch.cuda.profiler
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(1, 1).to(device)
x = torch.ones(2, device=device)
"""
USES = {
    "alone": "{call}",
    "assigned": "value = {call}",
    "returned": "def ask():\n    return {call}\nanswer = ask()",
    "passed on": "def note(x):\n    return [x]\nnote({call})",
    "printed": "print({call})",
    "compared": "flag = {call} == 1",
    "in a test": "if {call}:\n    print('yes')",
    "with": "with {call}:\n    pass",
    "decorator": "@{call}\ndef step():\n    return 1\nstep()",
    "default": "def ask(value={call}):\n    return value\nask()",
    "over the devices": "values = [{call} for i in range(torch.cuda.device_count())]",
    "in a generator": "values = list({call} for i in range(2))",
    "attribute": "class Run:\n    def __init__(self):\n        self.value = {call}\nRun()",
    "lambda": "ask = lambda: {call}\nask()",
    "by another name": "f = {name}\nf({given})",
    "imported": "from {module} import {last}\nvalue = {last}({given})",
}
#: What runs anywhere and is rewritten or told all the same: mixed precision and marks by their
#: names for CUDA alone, which do nothing for another accelerator, and contexts that nobody enters.
ALSO = ("cuda.device", "nvtx.range", "caching_allocator_disabled", "profiler.profile")
DRIVER = """
import contextlib, io, json, warnings
warnings.simplefilter("ignore")
import torch
out = []
for code in json.load(open("programs.json")):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "<program>", "exec"), {"__name__": "program"})
        out.append("")
    except BaseException as error:
        out.append(f"{type(error).__name__}: {str(error)[:80]}")
    if torch.cuda.is_available():
        torch.cuda.set_device(0)
        torch.cuda.set_stream(torch.cuda.default_stream())
        torch.cuda.set_sync_debug_mode(0)
print(json.dumps(out))
"""
PART = 300


@dataclass(frozen=True)
class Used:
    """A name in a use: the program, and what it ends with on a CPU and on a device."""

    name: str
    use: str
    code: str
    cpu: str
    device: str


def names() -> Iterator[str]:
    """Yield the public functions and classes of this torch."""
    pytest.importorskip("torch")
    for module in MODULES:
        home = importlib.import_module(f"torch.{module}")
        public = accelerator_names("2.13") if module == "cuda" else set()
        for last in sorted(vars(home)):
            found, name = getattr(home, last), f"torch.{module}.{last}"
            if last.startswith("_") or not callable(found) or last.endswith(LEFT_OUT):
                continue
            if name in public or module != "cuda" and lookup(name) is not None:
                yield name


def program(name: str, use: str) -> str:
    module, _, last = name.rpartition(".")
    given = ARGUMENTS.get(last, "")
    call = f"{name}({'i' if given == '0' and use == 'over the devices' else given})"
    text = USES[use].format(call=call, name=name, given=given, module=module, last=last)
    return f"{HEAD}{text}\n"


def run(programs: list[str], runner: Runner) -> list[tuple[str, str]]:
    """Return what programs end with on a CPU, and on a device: "" for those that pass."""

    def on(where: Where) -> Iterator[str]:
        for first in range(0, len(programs), PART):
            part = json.dumps(programs[first : first + PART])
            done = runner.run({"main.py": DRIVER, "programs.json": part}, "main.py", where)
            assert done.code == 0, done.stderr
            yield from json.loads(done.stdout.splitlines()[-1])

    return list(zip(on("cpu"), on("virtual"), strict=True))


def fixed(code: str, folder: Path) -> tuple[str, list[str]]:
    """Return what `fix` makes of a program, and what is said of what is left: notes, too."""
    (folder / "main.py").write_text(code)
    outcome = migrate.migrate(migrate.read([str(folder)], Config()), Config())
    after = next((change.after.decode() for change in outcome.changes), code)
    return after, [f"{finding.level}: {finding.rule}" for finding in outcome.remaining]


def wrong(before: Used, after: Used, told: list[str]) -> str:
    """Return what is wrong with a repair, or ""."""
    changed = before.code != after.code
    if (after.cpu and not before.cpu) or (after.device and not before.device):
        return f"broken: {after.cpu or after.device}"
    if not before.cpu and not before.device:
        blamed = [text for text in told if not text.startswith("note")]
        if (changed or blamed) and not before.name.endswith(ALSO) and ".amp." not in before.name:
            return f"right, and changed or blamed: {blamed}"
    elif after.cpu and changed:
        return f"repaired by half: {after.cpu}"
    elif after.cpu and not told:
        return f"silent: {after.cpu}"
    return ""


def judged(cells: Iterable[tuple[str, str]]) -> list[str]:
    found = []
    with Runner() as runner, tempfile.TemporaryDirectory() as folder:
        programs = [(name, use, program(name, use)) for name, use in cells]
        ends = run([code for _, _, code in programs], runner)
        before = [
            Used(*each, *end)
            for each, end in zip(programs, ends, strict=True)
            if not (end[0] and end[1])  # what runs nowhere is no program
        ]
        repairs = [fixed(used.code, Path(folder)) for used in before]
        ends = run([code for code, _ in repairs], runner)
        for used, (code, told), end in zip(before, repairs, ends, strict=True):
            text = wrong(used, Used(used.name, used.use, code, *end), told)
            if text:
                found.append(f"{used.name} {used.use}: {text}")
    return found


def test_each_name_in_each_use() -> None:
    cells = [(name, use) for name in names() for use in USES]
    assert len(cells) > 1500
    assert judged(cells) == []
