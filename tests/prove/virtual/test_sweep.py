"""The sweep itself: what it takes for a deviation, and that the page is what was found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import sweep  # noqa: E402

sys.path.pop(0)


def test_the_page_is_what_was_found() -> None:
    found = json.loads(sweep.FOUND.read_text("utf-8"))
    assert sweep.PAGE.read_text("utf-8") == sweep.page(found)


def test_every_deviation_has_its_reason() -> None:
    found = json.loads(sweep.FOUND.read_text("utf-8"))["deviations"]
    without = [
        n for names in found.values() for n, told in names.items() if not sweep.reason(n, told)
    ]
    assert without == []


def test_a_new_deviation_is_a_regression() -> None:
    rows = [
        ("values", "add", "all on the device", "equal"),
        ("values", "mul", "all on the device", "differs"),
        ("places", "add", "one on the host", "refused | refused"),
        ("places", "mul", "one on the host", "ends, equal | refused"),
        ("modules", "Linear", "input on the host", "refused"),
        ("modules", "Bilinear", "input on the host", "ends"),
        ("dtypes", "abs", "bool", "too lenient"),
    ]
    counts, deviations = sweep.summary(rows)
    assert counts["values"] == {"as expected": 1, "not": 1}
    assert sorted(sweep.regressions(deviations, {})) == [
        "dtypes: abs: bool: too lenient",
        "modules: Bilinear: input on the host: ends",
        "places: mul: one on the host: ends, equal | refused",
        "values: mul: all on the device: differs",
    ]
    assert sweep.regressions(deviations, deviations) == []


@pytest.mark.slow
def test_a_part_of_it(tmp_path: Path) -> None:
    pytest.importorskip("expecttest")
    file = tmp_path / "rows.json"
    command = [sys.executable, str(HERE / "sweep_worker.py"), "3", "200", str(file)]
    subprocess.run(command, check=True, timeout=900)
    rows = [tuple(row) for row in json.loads(file.read_text("utf-8"))["rows"]]
    assert {row[0] for row in rows} >= {"values", "dtypes"}
    known = json.loads(sweep.FOUND.read_text("utf-8"))["deviations"]
    assert sweep.regressions(sweep.summary(rows)[1], known) == []
