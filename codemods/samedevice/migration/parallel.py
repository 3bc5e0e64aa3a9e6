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


def tell(files: int) -> None:
    """Tell whoever spreads this work that so many more files are done."""
    from ..outside import worker

    worker.tell(files)


def spread(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    processes: int,
    told: Callable[[Job, int], None] = lambda job, files: None,
) -> Iterator[tuple[Job, Result | None]]:
    """Yield what `work` gives for each job, as it comes; None for one whose process died.

    `work` is a function of a module, and jobs and results are plain data. `told` is called with
    what `work` tells (see `tell`), in the thread of the caller; what it raises ends all of it.
    """
    from ..outside.worker import Worker  # slow to import, and few projects need it

    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    done: queue.SimpleQueue[tuple[Job, int, Result | None]] = queue.SimpleQueue()
    workers = [Worker() for _ in range(min(processes, len(jobs)))]

    def follow(worker: Worker) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                job = waiting.get_nowait()
                answer = None

                def tell(files: int, job: Job = job) -> None:
                    done.put((job, files, None))

                try:
                    answer = worker.ask(work, job, tell)
                finally:
                    done.put((job, 0, answer))

    for worker in workers:
        threading.Thread(target=follow, args=(worker,), daemon=True).start()
    try:
        left = len(jobs)
        while left:
            job, files, answer = done.get()
            if files:
                told(job, files)
                continue
            left -= 1
            yield job, answer
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        for worker in workers:
            worker.close()
