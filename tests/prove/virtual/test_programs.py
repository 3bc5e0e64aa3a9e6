"""Correct GPU programs in the style of public examples: no false alarm, and the CPU's numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py"))

# Runs every program in one process, for most of a small program's time is the import of torch.
RUN_ALL = """
import contextlib, io, json, pathlib, runpy, sys, traceback, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "virtual":
    from samedevice.prove.virtual import install
    install("cuda", 1)
outputs = {}
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.py")):
    sys.argv[:], output = [str(path)], io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except Exception:
            traceback.print_exc(file=output)
    outputs[path.stem] = output.getvalue()
print(json.dumps(outputs))
"""


@pytest.fixture(scope="module", params=["virtual", pytest.param("real", marks=pytest.mark.gpu)])
def outputs(request: pytest.FixtureRequest) -> tuple[str, dict[str, str], dict[str, str]]:
    if (request.param == "real") != torch.cuda.is_available():
        pytest.skip("no GPU on this machine" if request.param == "real" else "a real GPU is here")
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    return request.param, _run("cpu", hidden), _run(request.param, {})


def _run(kind: str, environment: dict[str, str]) -> dict[str, str]:
    paths = [str(HERE.parents[2] / "codemods"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, kind, str(HERE / "programs")],
        # one thread: with more, the CPU's own sums differ from run to run
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_NUM_THREADS": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(outputs: tuple[str, dict[str, str], dict[str, str]], name: str) -> None:
    kind, on_cpu, on_device = outputs
    assert on_cpu[name] and "Traceback" not in on_cpu[name], on_cpu[name]
    assert "Traceback" not in on_device[name], on_device[name]
    if kind == "virtual" and name != "mixed_precision":  # whose numbers are the device's own
        assert on_device[name] == on_cpu[name]
