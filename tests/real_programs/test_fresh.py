"""What the runs of a program of a sample are called; the runs themselves need the checkouts."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from . import stage
from .catalogue import Program, load
from .fresh import CATALOGUE, DRIVERS, Outcome, table, verdict
from .warm import Warm

NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"
STAYS = "parameters stepped elsewhere: {'cpu': 2}"
TWO = "RuntimeError: Expected all tensors to be on the same device"
BOTH_END = {"ended": True, "ended_after": True}


@pytest.mark.parametrize(
    ("word", "runs"),
    [
        ("as it was", {}),
        ("runs as before", {"edited": ["a.py"]}),
        ("repaired", {"before": NO_CUDA, "edited": ["a.py"]}),
        ("repaired", {"before_virtual": STAYS, "edited": ["a.py"]}),
        ("told", {"before": NO_CUDA, "after": NO_CUDA, "told": "a.py:1 left as found"}),
        ("silent", {"before_virtual": STAYS, "after_virtual": STAYS, **BOTH_END}),
        ("breaks on a device", {"before_virtual": STAYS, "after_virtual": TWO, "ended": True}),
        ("does not run", {"before": "KeyError: 1", "before_virtual": "KeyError: 1"}),
        ("breaks on the CPU", {"after": "NameError: device"}),
        ("breaks on a device", {"after_virtual": "RuntimeError: two devices"}),
        ("output changed", {"equal": "line 1: 'a' became 'b'"}),
    ],
)
def test_runs_have_one_word(word: str, runs: dict[str, object]) -> None:
    assert verdict(Outcome("o/r/a.py", (), "c", "", "", "r", **runs)) == word  # type: ignore[arg-type]


def test_the_table_counts_its_words_and_names_what_tells_programs_apart() -> None:
    runs = {"before_virtual": STAYS, "verdict": "repaired"}
    fast, slow = (
        Outcome("o/r/a.py", ("--steps", "2", way), "0123456789", "", "", "r", **runs)  # type: ignore[arg-type]
        for way in ("--fast", "--slow")
    )
    text = table([fast, slow])
    assert "2 programs of 1 projects: 2 repaired." in text
    assert "| o/r/a.py --fast | 012345678 | 0 | yes | stays | yes | yes | repaired | r |" in text


def test_every_driver_is_used_and_parses() -> None:
    used = {program.driver for program in load(CATALOGUE)} - {""}
    assert used == {path.name for path in DRIVERS.glob("*.py")}
    for name in used:
        ast.parse((DRIVERS / name).read_text(encoding="utf-8"))


def test_a_warm_start_runs_what_a_cold_one_runs(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORD = 'from beside it'\n")
    (tmp_path / "program.py").write_text(
        "import random, sys\nfrom helper import WORD\n"
        "print(WORD, sys.argv[1:], random.random(), __name__)\nsys.exit(3)\n"
    )
    program = Program("H", "o/r", "program.py", args=("--x",))
    warm = Warm({**os.environ, "PYTHONHASHSEED": "0"}, libraries="json")
    cold = stage.run(program, tmp_path, 60)
    again = stage.run(program, tmp_path, 60, call=warm.call)
    assert (again.status, again.stdout) == (cold.status, cold.stdout) == (3, cold.stdout)
    assert "from beside it ['--x']" in cold.stdout


def test_a_warm_start_ends_at_its_limit(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"
    )
    warm = Warm({**os.environ, "PYTHONHASHSEED": "0"}, libraries="json")
    run = stage.run(Program("H", "o/r", "program.py"), tmp_path, 1, call=warm.call)
    assert run.status is None
