"""Checks and fixes the tests of the interpreter's own standard library: `standard_library.py`.

They are the strangest Python there is. Reports every file on which samedevice crashes, takes more
than a minute, or that it would change. Each file is taken as it is, and once more as a program
about torch. Exit code 1 if there is any.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import time
import traceback
from pathlib import Path

from samedevice import migrate
from samedevice.config import Config

sys.path.insert(0, str(Path(__file__).parent))

from limit import limit  # noqa: E402  # the tests are no package

SECONDS = 60
AS_TORCH = b"import torch\nmodel = torch.nn.Linear(1, 1).cuda()\n"


def main(folders: list[str]) -> int:
    """Work on all files of `folders` and print what fails."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    bad = errors = 0
    start = time.process_time()
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "copy.py")
        for number, path in enumerate(files):
            for head in (b"", AS_TORCH):
                copy.write_bytes(head + path.read_bytes())
                began = time.process_time()
                try:
                    with limit(SECONDS):
                        outcome = migrate.migrate(migrate.read([str(copy)], Config()), Config())
                except Exception:
                    bad += 1
                    print(f"{path} {head!r}\n{traceback.format_exc(limit=-4)}", flush=True)
                    continue
                slowest = max(slowest, (time.process_time() - began, str(path)))
                errors += bool(outcome.errors)
                if outcome.changes and not head:
                    bad += 1
                    print(f"{path}: is changed", flush=True)
            if number % 100 == 99:
                print(f"{number + 1} of {len(files)}", file=sys.stderr, flush=True)
    print(
        f"{len(files)} files, each twice: {bad} failures, {errors} that Python cannot parse; "
        f"{time.process_time() - start:.0f} s; the slowest took {slowest[0]:.1f} s: {slowest[1]}"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(Path(sysconfig.get_path("stdlib"), "test"))]))
