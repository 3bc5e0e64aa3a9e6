"""The second run of a program that a clash ended: watched, in a copy, and only where it helps."""

from pathlib import Path

import pytest

from samedevice.prove import again
from samedevice.prove.process import Limits
from samedevice.prove.run import Program, Settings, run_program

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


@pytest.mark.parametrize(("code", "is_told"), [(CLASH, True), (ONCE, False)])
def test_it_tells_the_history_and_leaves_the_folder_alone(
    tmp_path: Path, code: str, is_told: bool
) -> None:
    Path(tmp_path, "main.py").write_text(code, "utf-8")
    program = Program.parse("main.py")
    first = run_program(program, cwd=tmp_path, settings=SETTINGS)
    assert first.clash is not None and first.record is None
    assert not any(operand.steps for operand in first.clash.operands)
    found = again.explained(first, program, tmp_path, SETTINGS)
    assert Path(tmp_path, "log.txt").read_text() == "once "
    assert (found is not None) is is_told
    if found is not None:
        assert found.clash is not None and found.record is not None
        steps = {operand.expression: operand.steps for operand in found.clash.operands}
        assert steps["mask"][0].text == "mask = torch.ones(2)"
        assert steps["mask"][0].file == str(tmp_path / "main.py")


def test_a_long_program_does_not_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "main.py").write_text(CLASH, "utf-8")
    program = Program.parse("main.py")
    first = run_program(program, cwd=tmp_path, settings=SETTINGS)
    monkeypatch.setattr(again, "LONGEST", 0.0)
    assert again.explained(first, program, tmp_path, SETTINGS) is None
