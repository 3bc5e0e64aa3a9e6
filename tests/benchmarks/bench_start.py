"""How long it takes to start: `python tests/benchmarks/bench_start.py [ROUNDS]`.

Processor time of a new process, the least of some rounds: other work on the machine only adds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import samedevice": ["-c", "import samedevice"],
    "samedevice --help": ["-m", "samedevice", "--help"],
    "samedevice check a.py": ["-m", "samedevice", "check", "--no-cache", "a.py"],
    "samedevice fix --diff a.py": ["-m", "samedevice", "fix", "--diff", "--no-cache", "a.py"],
    "samedevice map a.py": ["-m", "samedevice", "map", "a.py"],
}
_CODE = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nprint(model(torch.ones(2)))\n"


def main() -> None:
    """Print a row of a table for each command."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| | processor seconds |\n| --- | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.py").write_text(_CODE)
        for name, words in COMMANDS.items():
            least = min(seconds(words, folder) for _ in range(rounds))
            print(f"| `{name}` | {least:.2f} |")


def seconds(words: list[str], folder: str) -> float:
    """Return the processor time of `python WORDS`, its children's included."""
    before = os.times()
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=False)
    after = os.times()
    if done.returncode not in (0, 1):
        sys.exit(done.stderr.decode())
    return (
        after.children_user - before.children_user + after.children_system - before.children_system
    )


if __name__ == "__main__":
    main()
