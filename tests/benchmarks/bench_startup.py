"""How long `import samedevice`, `samedevice --help` and `check` of one line take: the best of ten.

`python tests/benchmarks/bench_startup.py`; a Python without anything is measured beside them.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "python -c pass": ["-c", "pass"],
    "import samedevice": ["-c", "import samedevice"],
    "samedevice --help": ["-m", "samedevice", "--help"],
    "samedevice check one.py": ["-m", "samedevice", "check", "--no-cache", "one.py"],
}


def main() -> None:
    """Print a table."""
    print("| | seconds |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.py").write_text("import torch\n")
        for name, words in CASES.items():
            print(f"| `{name}` | {min(once(words, folder) for _ in range(10)):.3f} |", flush=True)


def once(words: list[str], folder: str) -> float:
    """Return the seconds of one process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
