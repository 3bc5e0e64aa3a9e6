"""Repairs programs of the family and runs them on the CPU or the virtual accelerator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from samedevice.migration import migrate
from samedevice.migration.check import is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

_SERVER = Path(__file__).parents[2] / "fixtures" / "forkserver.py"


def repaired(text: str) -> tuple[dict[str, str], bool]:
    """Return the files of a project of one program after `fix`, and whether nothing is left."""
    project = Project([source.from_text(text, "main.py")])
    outcome = migrate.migrate(project, Config())
    files = {"main.py": text} | {each.path: each.after.decode() for each in outcome.changes}
    return files, not any(map(is_wrong, outcome.remaining))


class Machine:
    """Runs programs on "cpu" or "virtual", in forks of a process that has torch."""

    def __init__(self, scratch: Path, on: str = "virtual") -> None:
        self._scratch, self._on = scratch / on, on
        self._runs = 0
        self._server = subprocess.Popen(
            [sys.executable, str(_SERVER), "1", *([on] if on != "cpu" else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def run(self, files: dict[str, str]) -> dict[str, Any]:
        """Return the code, the output and the errors of a program."""
        self._runs += 1
        folder = self._scratch / str(self._runs)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        request = {
            "id": 0, "folder": str(folder), "entry": "main.py", "args": [], "on": self._on,
            "report": f"{folder}.json",
        }  # fmt: skip
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer: dict[str, Any] = json.loads(self._server.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._server.communicate()
