"""Lines of a notebook are those of its cells, as `check` counts them."""

import json
from pathlib import Path

import pytest

from samedevice.prove import notebook
from samedevice.prove.display import located, with_cells
from samedevice.reading.notebook import Notebook
from samedevice.reading.source import from_bytes


def content() -> str:
    cells = [
        ("markdown", "# Title\n\nText"), ("code", "import torch\nx = 1"), ("code", "%%bash\nls"),
        ("code", "y = 2\n\nz = 3\n"),
    ]  # fmt: skip
    made = [
        {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, text in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_line_of_the_run_is_found_in_its_cell() -> None:
    read = Notebook(content())
    lines = read.text.split("\n")
    seen = {lines[line - 1]: notebook.cell_of(read, line) for line in range(1, len(lines) + 1)}
    assert seen["x = 1"] == (2, 2) and seen["z = 3"] == (4, 3)
    assert notebook.cell_of(read, 1) is None and len(read.cells) == 2
    assert notebook.cell_of(read, 99) is None


def test_check_counts_alike() -> None:
    source = from_bytes(content().encode(), "n.ipynb")
    for number, line in enumerate(source.text.split("\n"), 1):
        if line in ("x = 1", "z = 3"):
            cell = source.cell_of(number)
            assert cell is not None
            assert (cell[0] + 1, cell[1]) == {"x = 1": (2, 2), "z = 3": (4, 3)}[line]


def test_reports_name_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("n.ipynb").write_text(content())
    Path("bad.ipynb").write_text("{")
    assert located(str(tmp_path / "n.ipynb"), 3) == "n.ipynb:cell 2:2"
    assert located(str(tmp_path / "bad.ipynb"), 3) == "bad.ipynb:3"
    assert located(str(tmp_path / "gone.ipynb"), 3) == "gone.ipynb:3"
    assert located(str(tmp_path / "a.py"), 3) == "a.py:3"


def test_json_has_the_cells(tmp_path: Path) -> None:
    path = str(tmp_path / "n.ipynb")
    Path(path).write_text(content())
    made = with_cells(
        {"frames": ({"file": path, "line": 3},), "clash": {"file": "a.py", "line": 3}}
    )
    assert made["frames"] == [{"file": path, "line": 3, "cell": 2, "line_in_cell": 2}]
    assert made["clash"] == {"file": "a.py", "line": 3}
