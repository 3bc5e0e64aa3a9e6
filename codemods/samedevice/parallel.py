"""Parts of a large project, each judged in a process of its own.

The processes get paths and settings and give findings: nothing that is parsed goes between them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many processes can run at once."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    work: Callable[[Job], Result], jobs: Sequence[Job], processes: int
) -> Iterator[tuple[Job, Result | None]]:
    """Yield what `work` gives for each job, as it comes; None for one whose process died.

    `work` is a function of a module, and jobs and results are plain data.
    """
    import multiprocessing  # all of this is slow to import, and few projects need it
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    start = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(start)
    pool = ProcessPoolExecutor(min(processes, len(jobs)), context, initializer=_begin)
    try:
        running = {pool.submit(work, job): job for job in jobs}
        for future in as_completed(running):
            try:
                yield running[future], future.result()
            except BrokenProcessPool:  # out of memory, most likely
                yield running[future], None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


def _begin() -> None:
    """Leave Ctrl-C to the process that waits for this one, and end when that one is killed."""
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
