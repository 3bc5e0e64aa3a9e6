"""Every public name of `torch.cuda` in every use: after `fix` it runs on both, or it is told."""

from __future__ import annotations

import json

import pytest
from tests.torchfacts import cuda_uses

pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_each_name_in_each_use() -> None:
    """Here with the installed torch; docs/proof/cuda.md has others."""
    pytest.importorskip("torch")
    try:
        torch = cuda_uses.Torch()
    except RuntimeError as error:
        pytest.skip(str(error))
    programs = list(cuda_uses.cells(torch.names()))
    assert len(programs) > 3000
    outcome = cuda_uses.try_all(torch, programs)
    assert outcome.counts["repaired"] > 200 and outcome.counts["told"] > 300
    assert outcome.faults == []


def test_faults_are_seen() -> None:
    def used(code: str, cpu: str = "", device: str = "") -> cuda_uses.Used:
        return cuda_uses.Used("torch.cuda.f", "alone", code, cpu, device)

    judged = cuda_uses.judged
    assert judged(used("a"), used("a"), []) == "right"
    assert judged(used("a"), used("b"), []).startswith(cuda_uses.OTHER_BUILD)
    assert judged(used("a"), used("a"), ["warning: x"]).startswith(cuda_uses.OTHER_BUILD)
    assert judged(used("a", "E"), used("b"), []) == "repaired"
    assert judged(used("a", "E"), used("b", "", "E"), []).startswith("broken")
    assert judged(used("a"), used("b", "E"), []).startswith("broken")
    assert judged(used("a", "E"), used("b", "E"), ["note: x"]).startswith("repaired by half")
    assert judged(used("a", "E"), used("a", "E"), []).startswith("silent")
    assert judged(used("a", "E"), used("a", "E"), ["note: x"]) == "told"


def test_the_page_says_what_the_data_says() -> None:
    rows = json.loads(cuda_uses.DATA.read_text("utf-8"))
    assert cuda_uses.page(rows) == cuda_uses.PAGE.read_text("utf-8")
    assert not any(row["faults"] for row in rows.values())
