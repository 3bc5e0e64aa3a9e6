"""The comparison with a real GPU, on machines that have none.

A rehearsal puts a second virtual accelerator in the GPU's place: it shows that the comparison runs
and needs nothing but torch, not that the two agree.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

SCRIPT = Path(__file__).with_name("gpu_proof.py")


@pytest.fixture(scope="module")
def proof() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_proof", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_proof"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("virtual", "real", "verdict"),
    [
        (None, None, "same"),
        ("RuntimeError/Exception: boom", "RuntimeError/Exception: boom", "same"),
        (
            "RuntimeError/Exception: found two devices, cuda:0 and cpu! (method mm)",
            "RuntimeError/Exception: found two devices, cuda:0 and cpu! (method wrapper_mm)",
            "same words",
        ),
        ("RuntimeError/Exception: boom", "RuntimeError/Exception: bang", "DIFFERENT"),
        ("RuntimeError/Exception: boom", "TypeError/Exception: boom", "DIFFERENT"),
        ("RuntimeError/Exception: boom", None, "DIFFERENT"),
        (None, "RuntimeError/Exception: boom", "DIFFERENT"),
        (None, "AssertionError/Exception: r: 1.0 against 2.0", "own numbers"),
        ("AssertionError/Exception: r: 1.0 against 2.0", None, "DIFFERENT"),
        ("ModuleNotFoundError/Exception: No module named 'numpy'", None, "left out"),
    ],
)
def test_verdicts(proof: ModuleType, virtual: str | None, real: str | None, verdict: str) -> None:
    row = proof.Row("g", "n", proof._outcome(virtual), proof._outcome(real))
    assert row.verdict == verdict


def test_the_page_says_what_differs_and_what_was_rehearsed(proof: ModuleType) -> None:
    facts = dict.fromkeys(["date", "device", "torch", "cuda", "python", "commit"], "x")
    rows = [
        proof.Row("small", "one", proof._outcome(None), proof._outcome(None)),
        proof.Row("small", "two", proof._outcome(None), proof._outcome("ValueError: a | b")),
    ]
    text = proof.page(rows, {**facts, "rehearsal": True})
    assert "A rehearsal: there was no GPU." in text
    assert "| small | 2 | 1 | 0 | 0 | 1 | 0 |" in text
    assert text.count("| two | ends | ValueError: a \\| b | DIFFERENT |") == 2
    text = proof.page(rows[:1], {**facts, "rehearsal": False})
    assert "rehearsal" not in text and "None." in text


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script where of samedevice's dependencies only torch can be imported."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_without_a_gpu_it_says_so() -> None:
    done = _run(CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 3
    assert "No GPU" in done.stderr and not done.stdout


def test_a_rehearsal_needs_torch_alone(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for name in ("libcst", "typer", "rich"):
        (hidden / f"{name}.py").write_text("raise ImportError('hidden')")
    page, record = tmp_path / "gpu.md", tmp_path / "gpu.json"
    done = _run(
        *["--rehearse", "--small", "mm", "--fixtures", "projects/operands_matmul"],
        *["--page", str(page), "--record", str(record)],
        PYTHONPATH=str(hidden),
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(record.read_text("utf-8"))["rows"]
    assert any(row["virtual"]["kinds"][:1] == ["RuntimeError"] for row in rows), rows
    assert any(row["group"] == "fixtures, after" for row in rows)
    assert "A rehearsal" in page.read_text("utf-8") and "A rehearsal" in done.stdout
