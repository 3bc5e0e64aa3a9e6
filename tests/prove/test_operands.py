"""How the operands of a clash are named, and the files that a result speaks of."""

import os
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from samedevice.prove.clash import Clash
from samedevice.prove.process import Limits
from samedevice.prove.run import RunResult, Settings, as_if_in, run_program

pytest.importorskip("torch")

VIRTUAL = Settings(on="virtual", limits=Limits(seconds=300), seed=0)


def run(folder: Path, source: str) -> RunResult:
    (folder / "main.py").write_text(textwrap.dedent(source), "utf-8")
    return run_program("main.py", cwd=folder, settings=VIRTUAL)


def clash_of(folder: Path, source: str) -> Clash:
    clash = run(folder, source).clash
    assert clash is not None
    return clash


def test_a_list_of_tensors_is_told_once(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    clash = clash_of(
        tmp_path,
        """
        import numpy as np
        import torch
        losses = [torch.ones(2, device="cuda") * i for i in range(20)]
        np.mean(losses)
        """,
    )
    (party,) = clash.operands
    assert (party.expression, party.device) == ("losses[0]", "cuda:0")
    assert party.what == "tensor (2) float32, and 19 more there"


def test_operands_that_are_results_are_named_by_their_code(tmp_path: Path) -> None:
    clash = clash_of(
        tmp_path,
        """
        import torch
        def there():
            return torch.ones(2, device="cuda")
        there() * (torch.ones(2) + 1)
        """,
    )
    named = [(party.expression, party.device) for party in clash.operands]
    if sys.version_info >= (3, 11):  # which tells the expression that failed, not only its line
        assert named == [("there()", "cuda:0"), ("torch.ones(2) + 1", "cpu")]


def test_a_result_that_could_be_another_is_not_named(tmp_path: Path) -> None:
    clash = clash_of(
        tmp_path,
        """
        import torch
        def there():
            return torch.ones(2, device="cuda")
        torch.dot(there(), torch.ones(2))
        """,
    )
    assert [party.expression for party in clash.operands] == ["", ""]


def test_an_interpreter_is_found_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import sys\nprint(sys.executable)\n", "utf-8")
    python = os.path.relpath(sys.executable)
    result = run_program(
        "a.py", cwd=tmp_path, settings=Settings(on="cpu", record=False, python=python)
    )
    assert result.passed, result.message


def test_a_result_speaks_of_the_folder_that_was_copied(tmp_path: Path) -> None:
    copy, folder = tmp_path / "copy", tmp_path / "mine"
    for one in (copy, folder):
        one.mkdir()
    ran = run(copy, "import torch\ntorch.ones(1).cuda() @ torch.ones(1)")
    result = as_if_in(ran, copy, folder)
    assert result.clash is not None
    assert result.clash.file == str(folder / "main.py")
    assert str(copy) not in str(result.to_json())
    assert as_if_in(replace(ran, clash=None), copy, folder).clash is None
