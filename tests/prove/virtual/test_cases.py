"""The table of cases: on the virtual accelerator, and unchanged on a real GPU (`pytest -m gpu`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402
from machine import Machine, agrees  # noqa: E402

sys.path.pop(0)


@pytest.fixture(
    scope="module",
    params=["virtual", pytest.param("real", marks=pytest.mark.gpu)],
)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if request.param == "real" and not torch.cuda.is_available():
        pytest.skip("no GPU on this machine")
    found = Machine(request.param)
    yield found
    found.close()


@pytest.mark.parametrize("case", cases.CASES, ids=[case.name for case in cases.CASES])
def test_case(machine: Machine, case: cases.Case) -> None:
    if "np." in case.code or "numpy" in case.code:
        pytest.importorskip("numpy")
    compare = case.expected if case.expected in (cases.SAME, cases.NEAR) else None
    error = machine.run(case.code, compare)
    if compare or case.expected == cases.ENDS:
        assert error is None
    else:
        assert agrees(error, case.expected), error


@pytest.mark.parametrize("name", cases.MODULES)
def test_module_trains(machine: Machine, name: str) -> None:
    assert machine.run(cases.module(name), cases.SAME) is None


@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_optimizer_trains(machine: Machine, name: str) -> None:
    if not hasattr(torch.optim, name):
        pytest.skip(f"torch {torch.__version__} has no {name}")
    assert machine.run(cases.learning(name), cases.SAME) is None


def test_every_optimizer_is_covered() -> None:
    optimizers = {
        name
        for name, kind in vars(torch.optim).items()
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)
    }
    assert optimizers <= {*cases.OPTIMIZERS, "Optimizer", "SparseAdam"}


def test_a_kernel_of_a_build_for_cuda_that_begins_has_passed() -> None:
    """Whether operands may meet was decided before it; without a GPU it cannot go on."""
    from samedevice.prove.virtual import rules

    begun = "CUDA error: no CUDA-capable device is detected\nSearch for `cudaErrorNoDevice'"
    assert not rules._is_about_places(begun)
    assert rules._is_about_places("expected all tensors to be on the same device")
