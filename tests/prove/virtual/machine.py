"""A worker process that runs cases; nothing here needs more than Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = HERE.parents[2] / "codemods"


def agrees(error: str | None, expected: str) -> bool:
    """Tell whether what a worker answers is the exception "Type: first words"."""
    if error is None:
        return False
    kinds, _, message = error.partition(": ")
    kind, _, words = expected.partition(": ")
    return kind in kinds.split("/") and message.startswith(words)


class Machine:
    """A worker on the "virtual" or the "real" accelerator; a new one after it died."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._process: subprocess.Popen[str] | None = None

    def run(self, code: str, compare: str | None = None) -> str | None:
        """Return the exception that the code raised, as "Type/its bases: message".

        With `compare` ("same" or "near"), also that its result is not the CPU's.

        Raises RuntimeError if the worker dies of it.
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
        if not line:
            raise RuntimeError(f"the worker died (exit code {self._process.wait()})")
        error = json.loads(line)["error"]
        return None if error is None else str(error)

    def close(self) -> None:
        """End the worker."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(120)
