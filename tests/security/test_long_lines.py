"""Long lines of whatever our own regular expressions look for take no long time to be read."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from samedevice import explain
from samedevice.batch.owners import owners
from samedevice.migration.check import check
from samedevice.migration.migrate import migrate
from samedevice.prove import tracebacks
from samedevice.reading import reader
from samedevice.reading import requirements as requirements_
from samedevice.reading.config import Config, ConfigError, load
from samedevice.reading.notebook import Notebook, NotebookError

SIZE = 100_000
SECONDS = 10.0  # what is quadratic takes minutes, and so does what is worse
HEAD = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n"

#: What begins a line, what is repeated, and what comes after, so that no end fits.
LINES = [
    ("", " ", "x"),
    ("", "\t", "*"),
    ("# samedevice", " ", "x"),
    ("# samedevice: ignore", " [", ""),
    ("#", " #", " samedevice"),
    ("# samedevice: ignore[", "a, ", ""),
    ("x = '", "cuda:", "'"),
    ("x = '", "device ", "'"),
    ("x = '", "a.", ".is_available()'"),
    ("x = ", "a.", "b"),
    ("x = torch.zeros(2)", " ", "+ 1"),
    ("x = torch.zeros(2", ",", ")"),
    ("x = torch.zeros((2)", " ", ", device='cuda')"),
    ("x = ", "_", "cuda"),
    ("from a import (", "b, ", ""),
    ("import ", "a.", "b"),
    ("x = '''", "\\'", "'''"),
]


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    """End a test that would take minutes."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(signum: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_code(line: tuple[str, str, str], tmp_path: Path) -> None:
    head, middle, tail = line
    long = head + middle * (SIZE // 10 // len(middle) if middle == "a." else SIZE // len(middle))
    (tmp_path / "main.py").write_text(f"{HEAD}{long}{tail}\nprint(model(torch.ones(2)))\n")
    project = reader.read([str(tmp_path)], Config())
    check(project, Config())
    migrate(reader.read([str(tmp_path)], Config()), Config())


CELLS = [
    ("a?", " ", "x"),
    ("", " ", "= 1"),
    ("a", " ", "* = !"),
    ("", "\t*", "%"),
    ("", "[", "?"),
    ("%", "%", "x"),
    ("", "'", "!"),
    ("x = !ls", " \\\n", ""),
    ("", "# %% samedevice cell 1\n", "!"),
]


@pytest.mark.parametrize("cell", CELLS, ids=range(len(CELLS)))
def test_notebooks(cell: tuple[str, str, str]) -> None:
    head, middle, tail = cell
    source = f"!ls\n{head}{middle * (SIZE // len(middle))}{tail}\nx = 1"
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
    try:
        notebook = Notebook(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        notebook.encode(notebook.text.replace("x = 1", "x = 2"))
    except NotebookError:
        pass


@pytest.mark.parametrize("text", [
    "torch" + " " * SIZE + "x;",
    "torch" + " " * SIZE + ";#",
    "torch" + "[" * SIZE,
    "torch[" + " " * SIZE + "]" + " " * SIZE + ";;",
    "a" * SIZE + "::torch",
    "-" * SIZE,
    "torch>" + " " * SIZE,
    "torch" + "=" * SIZE,
    "torch>=" + "1" * SIZE,
], ids=range(9))  # fmt: skip
def test_requirements(text: str, tmp_path: Path) -> None:
    for name in ("requirements.txt", "environment.yml", "setup.py", "setup.cfg"):
        (tmp_path / name).write_text(f"dependencies:\n  - {text}\n{text}\n")
    (tmp_path / "pyproject.toml").write_text(f"[project]\ndependencies = [{text!r}]\n")
    load([str(tmp_path)])
    requirements_.torch_floor(str(tmp_path), {})


@pytest.mark.parametrize("text", [
    "a" * SIZE,
    "\x1b]" * SIZE,
    "\x1b[" + "0;" * SIZE,
    'Traceback (most recent call last)\n  File "' + "a" * SIZE + '", line 1, in f\n' + "A." * SIZE,
    "Traceback (most recent call last):\n" * 2000,
    "Traceback (most recent call last):\nRuntimeError: " + "orTensor" * (SIZE // 8),
    "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    f()\n"
    "RuntimeError: Expected all tensors to be on the same device" + "a" * SIZE,
    "Traceback (most recent call last):\nRuntimeError: " + "a" * SIZE,
    "File: " * SIZE,
    "Cell In [" * SIZE,
], ids=range(10))  # fmt: skip
def test_tracebacks(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD)
    assert tracebacks
    explain.explain(text, reader.read([str(tmp_path)], Config()), Config())


@pytest.mark.parametrize("text", [
    "[" * SIZE, "^[" + " " * SIZE, "[a]" + " " * SIZE + "\n", "\\ " * SIZE, "* " + "@a " * SIZE,
    "*\n" * SIZE,
], ids=range(6))  # fmt: skip
def test_code_owners(text: str) -> None:
    owners(text, [f"folder/{number}.py" for number in range(50)])


@pytest.mark.parametrize("text", [
    "a = " + "[" * SIZE,
    "a = " + "{a=" * SIZE,
    "a." * SIZE + "b = 1",
    "line-length = " + "9" * SIZE,
    "[tool.samedevice]\nline-length = " + "9" * SIZE,
    "[tool.samedevice]\nexclude = [" + "'*a*a*a*a*b'," * 5000 + "]",
    "[tool.samedevice]\nresolver = '" + "a." * SIZE + "'",
    "[tool.samedevice]\nselect = ['" + "a" * SIZE + "']",
    '"' + "\\u0041" * SIZE,
    "[[a]]\n" * 5000,
], ids=range(10))  # fmt: skip
def test_settings(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "main.py").write_text(HEAD)
    try:
        config = load([str(tmp_path)])
        check(reader.read([str(tmp_path)], config), config)
    except ConfigError as error:
        assert "pyproject.toml" in str(error) or "there is no rule" in str(error)
        assert len(str(error)) < 2000 + SIZE


@pytest.mark.parametrize("text", [
    '{"cells": ' + "[" * SIZE,
    '{"cells": [{"cell_type": "code", "source": ' + "9" * SIZE + "}]}",
    '{"cells": [], "nbformat": ' + "9" * 10_000 + "}",
    '{"cells": [' + '{"a":' * SIZE,
    "[" * SIZE,
    " " * SIZE + "{",
], ids=range(6))  # fmt: skip
def test_notebooks_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "main.ipynb").write_text(text)
    project = reader.read([str(tmp_path)], Config())
    assert len(project.errors) == 1, project.errors
