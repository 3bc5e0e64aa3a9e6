"""The table of cases: on the virtual accelerator, and unchanged on a real GPU (`pytest -m gpu`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402

sys.path.pop(0)

HERE = Path(__file__).parent
PACKAGES = HERE.parents[2] / "codemods"


class Machine:
    """A worker process; a new one after it died or hung."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._process: subprocess.Popen[str] | None = None

    def run(self, code: str, compare: str | None = None) -> str | None:
        """Return the exception that the code raised, as "Type: message".

        With `compare` ("same" or "near"), also that its result is not the CPU's.
        """
        if self._process is None or self._process.poll() is not None:
            paths = [str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
            environment.pop("SAMEDEVICE_VIRTUAL", None)
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py"), self._kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"code": code, "compare": compare}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the worker died (exit code {self._process.wait()})"
        error = json.loads(line)["error"]
        return None if error is None else str(error)

    def close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(20)


@pytest.fixture(
    scope="module",
    params=["virtual", pytest.param("real", marks=pytest.mark.gpu)],
)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if request.param == "real" and not torch.cuda.is_available():
        pytest.skip("no GPU on this machine")
    if request.param == "virtual" and torch.cuda.is_available():
        pytest.skip("this machine has a real GPU")
    found = Machine(request.param)
    yield found
    found.close()


def _agrees(error: str | None, expected: str) -> bool:
    if error is None:
        return False
    kinds, _, message = error.partition(": ")
    kind, _, words = expected.partition(": ")
    return kind in kinds.split("/") and message.startswith(words)


@pytest.mark.parametrize("case", cases.CASES, ids=[case.name for case in cases.CASES])
def test_case(machine: Machine, case: cases.Case) -> None:
    if "np." in case.code or "numpy" in case.code:
        pytest.importorskip("numpy")
    compare = case.expected if case.expected in (cases.SAME, cases.NEAR) else None
    error = machine.run(case.code, compare)
    if compare or case.expected == cases.ENDS:
        assert error is None
    else:
        assert _agrees(error, case.expected), error


def _training(module: str, optimizer: str, steps: int) -> str:
    if module.startswith("loss: "):
        loss, shape, module = module.removeprefix("loss: "), "4,6", "nn.Linear(6, 4)"
    else:
        module, _, shape = module.partition(" | ")
        loss, shape = "y.pow(2).mean()", shape or "4,6"
    made = f"m, f = ({module})()" if module.startswith("lambda") else f"m = f = {module}"
    return f"""
torch.manual_seed(0)
{made}
m.to(D)
x = torch.randn({shape}).to(D)
o = {optimizer}
def closure():
    o.zero_grad()
    y = f(x)
    y = y[0] if isinstance(y, tuple) else y
    loss = {loss}
    loss.backward()
    return loss
r = [o.step(closure) for _ in range({steps})]
r += [*m.parameters(), *m.buffers()]
assert all(p.device.type == D and p.grad.device.type == D for p in m.parameters())
"""


@pytest.mark.parametrize("name", cases.MODULES)
def test_module_trains(machine: Machine, name: str) -> None:
    code = _training(cases.MODULES[name], "torch.optim.SGD(m.parameters(), 0.1)", 2)
    assert machine.run(code, cases.SAME) is None


@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_optimizer_trains(machine: Machine, name: str) -> None:
    if not hasattr(torch.optim, name):
        pytest.skip(f"torch {torch.__version__} has no {name}")
    bias = ", bias=False" if name == "Muon" else ""
    module = f"nn.Sequential(nn.Linear(6, 4{bias}), nn.Tanh(), nn.Linear(4, 2{bias}))"
    options = cases.OPTIMIZERS[name]
    code = _training(module, f"torch.optim.{name}(m.parameters(), {options})", 3)
    assert machine.run(code, cases.SAME) is None


def test_every_optimizer_is_covered() -> None:
    optimizers = {
        name
        for name, kind in vars(torch.optim).items()
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)
    }
    assert optimizers <= {*cases.OPTIMIZERS, "Optimizer", "SparseAdam"}
