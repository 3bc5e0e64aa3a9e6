"""The second run of a program that a clash ended: watched, in a copy, and only where it helps."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from samedevice.prove import again
from samedevice.prove.process import Limits
from samedevice.prove.run import Program, RunResult, Settings, run_program

pytest.importorskip("torch")

CLASH = """
import torch
open("log.txt", "a").write("once ")
mask = torch.ones(2)
x = torch.ones(2).cuda()
x + mask
"""
ONCE = CLASH.replace("mask =", "assert len(open('log.txt').read()) < 6\nmask =")
SETTINGS = Settings(limits=Limits(seconds=120), record=False)


def first_run(folder: Path, code: str) -> tuple[Program, RunResult]:
    Path(folder, "main.py").write_text(code, "utf-8")
    program = Program.parse("main.py")
    first = run_program(program, cwd=folder, settings=SETTINGS)
    assert first.clash is not None and first.record is None
    assert not any(operand.steps for operand in first.clash.operands)
    return program, first


@pytest.mark.parametrize(("code", "is_told"), [(CLASH, True), (ONCE, False)])
def test_it_tells_the_history_and_leaves_the_folder_alone(
    tmp_path: Path, code: str, is_told: bool
) -> None:
    program, first = first_run(tmp_path, code)
    begun: list[bool] = []
    found = again.explained(first, program, tmp_path, SETTINGS, begins=lambda: begun.append(True))
    assert Path(tmp_path, "log.txt").read_text() == "once " and begun
    assert found.clash is not None
    if not is_told:
        assert found == replace(first, again=found.again)
        assert "a second run ended otherwise (AssertionError)" in found.again
        return
    assert found.again == again.RECORDED and found.record is not None
    steps = {operand.expression: operand.steps for operand in found.clash.operands}
    assert steps["mask"][0].text == "mask = torch.ones(2)"
    assert steps["mask"][0].file == str(tmp_path / "main.py")


def test_a_long_program_does_not_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, first = first_run(tmp_path, CLASH)
    monkeypatch.setattr(again, "LONGEST", 0.0)
    found = again.explained(first, program, tmp_path, SETTINGS)
    assert found.record is None and "the run took" in found.again and "--record" in found.again


def test_a_second_run_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = CLASH + "#"
    slow = slow.replace("import torch", "import os, time\nif os.path.exists('log.txt'):\n"
                        "    time.sleep(600)\nimport torch")  # fmt: skip
    program, first = first_run(tmp_path, slow)
    monkeypatch.setattr(again, "_TIMES", 0.0)
    monkeypatch.setattr(again, "_MORE", 3.0)
    found = again.explained(first, program, tmp_path, SETTINGS)
    assert "stopped after 3 s" in found.again


def test_what_is_not_about_tensors_is_not_run_again(tmp_path: Path) -> None:
    code = "import torch\nopen('log.txt', 'a').write('once ')\ntorch.ones(2, device='cuda:7')\n"
    Path(tmp_path, "main.py").write_text(code, "utf-8")
    told = samedevice_run(tmp_path, given=subprocess.DEVNULL)
    assert "clash: the program asks for more accelerators" in told.stderr, told.stderr
    assert "once more" not in told.stderr and "not recorded" not in told.stderr


ASKS = """
import sys, torch
size = int(sys.stdin.readline())
torch.ones(size).cuda() + torch.ones(size)
"""


def samedevice_run(folder: Path, *words: str, given: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "samedevice", "run", *words, "main.py"],
        cwd=folder,
        stdin=given,  # type: ignore[arg-type]
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_file_on_stdin_is_read_again(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_text(ASKS, "utf-8")
    Path(tmp_path, "sizes.txt").write_text("left\n2\n3\n", "utf-8")
    with Path(tmp_path, "sizes.txt").open("rb", buffering=0) as sizes:
        sizes.seek(5)
        told = samedevice_run(tmp_path, given=sizes)
    assert told.returncode == 1
    assert "created on cpu" in told.stderr and "tensor (2) float32" in told.stderr
    assert "note: main.py runs once more, recorded" in told.stderr


def test_a_pipe_is_read_once_and_recording_at_once_needs_no_second_run(tmp_path: Path) -> None:
    Path(tmp_path, "main.py").write_text(ASKS, "utf-8")
    reading, writing = os.pipe()
    os.write(writing, b"2\n2\n")
    os.close(writing)
    told = samedevice_run(tmp_path, given=reading)
    assert "a second run ended otherwise (ValueError: " in told.stderr, told.stderr
    assert "created on cpu" not in told.stderr
    os.close(reading)
    reading, writing = os.pipe()
    os.write(writing, b"2\n2\n")
    os.close(writing)
    told = samedevice_run(tmp_path, "--record", given=reading)
    assert "created on cpu" in told.stderr and "once more" not in told.stderr, told.stderr
    os.close(reading)


TRAINS = """
import torch
from torch import nn
open("log.txt", "a").write("once ")
net = nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(4, 2, 3):
    optimizer.zero_grad()
    (net(x.cuda()) - 1).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("word", ["--record", "--no-record", None])
def test_a_program_that_ends_well_runs_once(tmp_path: Path, word: str | None) -> None:
    Path(tmp_path, "main.py").write_text(TRAINS, "utf-8")
    told = samedevice_run(tmp_path, *[word] * (word is not None), given=subprocess.DEVNULL)
    assert told.returncode == 0 and "passed" in told.stderr, told.stderr
    assert Path(tmp_path, "log.txt").read_text() == "once "
    summary = "SGD: 4 steps, parameters: 2 on cuda:0" in told.stderr
    assert summary is (word != "--no-record")
    assert ("all finite" in told.stderr) is summary
    assert ("made on the device" in told.stderr) is (word is None)
    assert ("Transfers between" in told.stderr) is (word == "--record")


def test_a_folder_beside_this_one_is_found_from_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tmp_path, "lib").mkdir()
    Path(tmp_path, "lib", "tools.py").write_text("from torch import ones\n", "utf-8")
    project = Path(tmp_path, "project")
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((os.path.join("..", "lib"), "own")))
    code = CLASH.replace("torch.ones(2)\nx =", "tools.ones(2)\nx =")
    program, first = first_run(project, code.replace("import torch", "import tools\nimport torch"))
    found = again.explained(first, program, project, SETTINGS)
    assert found.again == again.RECORDED
