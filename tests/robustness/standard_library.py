"""Checks and fixes the tests of the interpreter's own standard library: `standard_library.py`.

They are the strangest Python there is. Each file is taken as it is, which has to change nothing,
and once more as a program about torch, which has to change its head alone, and to stay so then.
Reports every file on which samedevice crashes, takes more than a minute, or does otherwise; exit
code 1 if there is any.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import time
import traceback
from pathlib import Path

from samedevice.migration import migrate
from samedevice.reading.config import Config

sys.path.insert(0, str(Path(__file__).parent))

from limit import limit  # noqa: E402  # the tests are no package

SECONDS = 60
AS_TORCH = b"import torch\nmodel = torch.nn.Linear(1, 1).cuda()\n"
SHOWN = 5  # of the slowest


def work(copy: Path, head: bytes, body: bytes) -> tuple[str, bool]:
    """Fix a file; returns what is wrong with that, and whether Python can parse it."""
    copy.write_bytes(head + body)
    with limit(SECONDS):
        outcome = migrate.migrate(migrate.read([str(copy)], Config()), Config())
    if outcome.errors:
        return "", False
    if not head:
        return "is changed" if outcome.changes else "", True
    migrate.apply(outcome)
    if not copy.read_bytes().endswith(body):
        return "more than its head is changed", True
    with limit(SECONDS):
        again = migrate.migrate(migrate.read([str(copy)], Config()), Config())
    return "a second run changes it" if again.changes else "", True


def main(folders: list[str]) -> int:
    """Work on all files of `folders` and print what fails."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    bad = errors = 0
    took: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for number, path in enumerate(files):
            body = path.read_bytes()
            for head in (b"", AS_TORCH):
                began = time.process_time()
                try:
                    wrong, parsed = work(Path(temporary, "copy.py"), head, body)
                except Exception:
                    wrong, parsed = traceback.format_exc(limit=-4), True
                took.append((time.process_time() - began, str(path)))
                errors += not parsed
                if wrong:
                    bad += 1
                    print(f"{path} {head!r}: {wrong}", flush=True)
            if number % 100 == 99:
                print(f"{number + 1} of {len(files)}", file=sys.stderr, flush=True)
    print(
        f"{len(files)} files, each twice, in {sum(seconds for seconds, _ in took):.0f} s: "
        f"{bad} failures, {errors} that Python cannot parse. The slowest:"
    )
    for seconds, name in sorted(took, reverse=True)[:SHOWN]:
        print(f"{seconds:.1f} s: {name}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(Path(sysconfig.get_path("stdlib"), "test"))]))
