"""Parts of a large project, each judged in a process of its own.

The processes get paths and settings and give findings: nothing that is parsed goes between them.
They are not multiprocessing's: those begin with an import from the working directory, which is the
project's.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
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
    from .outside.worker import Worker  # slow to import, and few projects need it

    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    done: queue.SimpleQueue[tuple[Job, Result | None]] = queue.SimpleQueue()
    workers = [Worker() for _ in range(min(processes, len(jobs)))]

    def follow(worker: Worker) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                job = waiting.get_nowait()
                answer = None
                try:
                    answer = worker.ask(work, job)
                finally:
                    done.put((job, answer))

    for worker in workers:
        threading.Thread(target=follow, args=(worker,), daemon=True).start()
    try:
        for _ in jobs:
            yield done.get()
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        for worker in workers:
            worker.close()
