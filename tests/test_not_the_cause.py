"""docs/not-the-cause.md: each claim is shown by code that runs here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from samedevice.prove.run import Settings, run_program

PAGE = Path(__file__).parents[1] / "docs" / "not-the-cause.md"

# The claims run in one process, each in a module of its own, so that torch is imported once.
RUNNER = """
import json, sys, traceback

failures = {}
for title, code in json.load(open(sys.argv[1], encoding="utf-8")).items():
    try:
        exec(compile(code, title, "exec"), {"__name__": "claim"})
    except Exception:
        failures[title] = traceback.format_exc()
json.dump(failures, open(sys.argv[2], "w", encoding="utf-8"))
"""


def claims() -> dict[str, str]:
    """Return the code of each section that has some, by its title."""
    sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        title, _, text = section.partition("\n")
        code = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        if code:
            (found[title],) = code
    return found


def test_all_sections_but_the_last_show_what_they_say() -> None:
    titles = re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert [*claims(), "What the cause is"] == titles
    assert all("assert " in code for code in claims().values())


def failures(codes: dict[str, str], on: str, folder: Path) -> dict[str, str]:
    """Run `codes` on the accelerator and return the tracebacks of those that fail."""
    (folder / "run.py").write_text(RUNNER)
    (folder / "claims.json").write_text(json.dumps(codes))
    settings = Settings(on=on, record=False)  # type: ignore[arg-type]  # one of its words
    result = run_program(["run.py", "claims.json", "failures.json"], cwd=folder, settings=settings)
    assert result.passed, result.message
    wrong: dict[str, str] = json.loads((folder / "failures.json").read_text())
    return wrong


@pytest.mark.torch
def test_claims_hold_on_the_virtual_accelerator(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    lie = {"a lie": "import torch\nassert torch.ones(1, device='cuda').device.type == 'cpu'\n"}
    wrong = failures(claims() | lie, "virtual", tmp_path)
    assert wrong.pop("a lie")
    assert not wrong, "\n".join(wrong.values())


@pytest.mark.gpu
@pytest.mark.torch
def test_claims_hold_on_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU on this machine")
    wrong = failures(claims(), "cuda", tmp_path)
    assert not wrong, "\n".join(wrong.values())
