"""`python tests/bench.py`: how fast `check` is, and how much memory it takes, on torch's sources.

Other folders can be given: `python tests/bench.py FOLDER...`.
"""

import importlib.util
import os
import resource
import sys
import time

from samedevice.migration import check, migrate
from samedevice.reading import files
from samedevice.reading.config import Config


def main() -> None:
    """Print one line for each folder."""
    for folder in sys.argv[1:] or [_torch()]:
        child = os.fork()  # so that each folder's memory is its own
        if child == 0:
            _measure(folder)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(2)


def _torch() -> str:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: give a folder to measure")
    return os.path.dirname(spec.origin)


def _measure(folder: str) -> None:
    config = Config()
    count = len(files.find([folder]).paths)
    start = time.process_time()
    project = migrate.read([folder], config)
    findings = check.check(project, config)
    done = time.process_time()
    lines = sum(source.text.count("\n") for source in project.sources.values())
    # ru_maxrss counts kilobytes on Linux and bytes on macOS
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory //= 1024 if sys.platform == "linux" else 1 << 20
    print(
        f"{folder}: {count:,} files, {lines:,} lines, {len(findings):,} findings, "
        f"{len(project.errors)} errors; {done - start:.1f} s: "
        f"{lines / (done - start):,.0f} lines/s of one core; "
        f"{memory:,} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
