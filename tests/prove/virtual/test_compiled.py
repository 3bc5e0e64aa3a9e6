"""The kernels in C++: the same answers as those in Python, and no harm where they cannot be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

HERE = Path(__file__).parent
PACKAGES = HERE.parents[2] / "codemods"
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
from machine import Machine, agrees  # noqa: E402

sys.path.pop(0)

compiler = shutil.which("c++") or shutil.which("g++")
needs_compiler = pytest.mark.skipif(
    compiler is None or torch.version.cuda is not None or sys.platform == "win32",
    reason="needs a C++ compiler and a build of torch for CPUs",
)
pytestmark = pytest.mark.slow


def run(code: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    start = 'from samedevice.prove import virtual\nvirtual.install("cuda", 2)\nimport torch\n'
    return subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(code)],
        env={
            **os.environ,
            "PYTHONPATH": str(PACKAGES),
            "SAMEDEVICE_CACHE_DIR": str(cache),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


COUNTS = """
    from torch import nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), foreach=True)
    for step in range(3):
        optimizer.zero_grad(set_to_none=True)
        x = torch.arange(32.0 * 64, device="cuda").view(32, 64) / 99
        loss = torch.cat([net(x), net(x)[:, :2]], 1).softmax(1).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(repr(loss.item()), torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
    for call in (
        lambda: x + torch.ones(64),
        lambda: x + torch.ones(64, device="cuda:1"),
        lambda: x.long() @ x.long().T,
        lambda: torch.ones(2, device="cuda:7"),
    ):
        try:
            print(call())
        except (RuntimeError, NotImplementedError) as error:
            print(str(error).splitlines()[0])
    print((x + torch.tensor(1.0)).sum().item(), torch.ones_like(x).device, x.half().mean().dtype)
    del net, optimizer, x, loss, call
    print(torch.cuda.memory_allocated())
"""


@needs_compiler
def test_the_same_answers_and_the_same_memory(cache: Path) -> None:
    plain = run(COUNTS, cache)
    quick = run(
        "assert virtual.installed()._compiled is not None\n" + textwrap.dedent(COUNTS),
        cache,
        SAMEDEVICE_VIRTUAL_COMPILED="1",
    )
    assert plain.returncode == quick.returncode == 0, plain.stderr + quick.stderr
    assert quick.stderr == ""
    assert quick.stdout == plain.stdout
    assert quick.stdout.endswith("\n0\n")


@needs_compiler
def test_all_small_cases(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(cache))
    monkeypatch.setenv("SAMEDEVICE_VIRTUAL_COMPILED", "1")
    quick, wrong = Machine("virtual"), []
    for case in cases.CASES:
        kept = case.expected in (cases.SAME, cases.NEAR)
        error = quick.run(case.code, case.expected if kept else None)
        if kept or case.expected == cases.ENDS:
            if error is not None:
                wrong.append(f"{case.name}: {error}")
        elif not agrees(error, case.expected):
            wrong.append(f"{case.name}: {error}")
    quick.close()
    assert wrong == []


@needs_compiler
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = torch.ones(1 << 20, device='cuda'); x + x", "CUDA out of memory"),
        (
            "x = torch.ones(9, device='cuda')\n"
            "torch.cuda.set_per_process_memory_fraction(1e-7)\n"
            "for _ in range(99): x = torch.cat([x, x])",
            "CUDA out of memory",
        ),
        (
            "import os\ntorch.ones(1).cuda()\nif not os.fork(): torch.ones(1, device='cuda') + 1\n"
            "os.wait()",
            "Cannot re-initialize CUDA in forked subprocess",
        ),
    ],
)
def test_what_ends_ends_here_too(cache: Path, code: str, said: str) -> None:
    memory = "5M" if "<< 20" in code else ""
    done = run(code, cache, SAMEDEVICE_VIRTUAL_COMPILED="1", SAMEDEVICE_VIRTUAL_MEMORY=memory)
    assert said in done.stderr


@pytest.mark.parametrize(("how", "is_warned"), [("1", True), ("auto", False)])
def test_without_a_compiler_the_python_kernels_serve(
    tmp_path: Path, how: str, is_warned: bool
) -> None:
    code = "print(torch.ones(2, device='cuda').sum().item(), virtual.installed()._compiled)"
    done = run(code, tmp_path, SAMEDEVICE_VIRTUAL_COMPILED=how, CXX="/no/compiler")
    assert done.stdout == "2.0 None\n"
    assert ("those in Python serve instead" in done.stderr) is is_warned
    assert "are built" not in done.stderr


@needs_compiler
def test_a_library_that_others_may_write_is_not_loaded(cache: Path) -> None:
    run("", cache, SAMEDEVICE_VIRTUAL_COMPILED="1")
    (library,) = cache.glob("*.so")
    library.write_bytes(b"not a library")
    library.chmod(0o666)
    code = "print(virtual.installed()._compiled is not None)"
    done = run(code, cache, SAMEDEVICE_VIRTUAL_COMPILED="auto")
    assert done.stdout == "True\n", done.stderr  # it was built again
    assert done.stderr.endswith("are built, once\n")


def test_a_compiler_that_fails_is_asked_once(tmp_path: Path) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text('#!/bin/sh\necho asked >> "$0.log"\nexit 1\n', "utf-8")
    compiler.chmod(0o700)
    told = [
        run("", tmp_path, SAMEDEVICE_VIRTUAL_COMPILED="auto", CXX=str(compiler)).stderr
        for _ in range(2)
    ]
    assert told[0].endswith("are built, once\n") and told[1] == ""
    assert (tmp_path / "c++.log").read_text("utf-8") == "asked\n"
