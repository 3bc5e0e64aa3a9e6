"""A process that does jobs, and the class that asks it: they talk through its standard streams.

It is given pairs of a function and a job, pickled, and answers with what the function returns;
until then it may `tell` how far it is. It ends when its input does, and so with the process that
started it, however that one ended.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from . import python


class Worker:
    """One process; a new one takes the place of one that died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def ask(
        self, work: Callable[[Any], Any], job: Any, told: Callable[[Any], None] = lambda what: None
    ) -> Any:
        """Return what `work` gives for a job, None when the process died (or may not start).

        `told` is called with what the process tells until then.
        """
        try:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            pickle.dump((work, job), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            while True:
                is_last, what = pickle.load(process.stdout)
                if is_last:
                    return what
                told(what)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):  # no memory, most likely
            self._end()
            return None

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise OSError("it is not wanted any more")
            if self._process is None:
                self._process = subprocess.Popen(
                    python.command("samedevice.outside.worker"),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )  # fmt: skip
            return self._process

    def close(self) -> None:
        """End the process for good."""
        with self._lock:
            self._closed = True
        self._end()

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()


_answers: BinaryIO | None = None  # of a process that does jobs


def tell(what: Any) -> None:
    """Tell whoever asked this process for a job how far it is; nothing in any other process."""
    _answer(False, what)


def _answer(is_last: bool, what: Any) -> None:
    if _answers is not None:
        pickle.dump((is_last, what), _answers, pickle.HIGHEST_PROTOCOL)
        _answers.flush()


def main() -> None:
    """Do jobs until there are no more."""
    global _answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    asked = os.fdopen(os.dup(0), "rb")
    _answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by accident must not get between the answers
    threading.Thread(target=_listen, args=(asked, jobs), daemon=True).start()
    while True:
        work, job = jobs.get()
        _answer(True, work(job))


def _listen(asked: BinaryIO, jobs: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            jobs.put(pickle.load(asked))
        except (EOFError, OSError):
            os._exit(0)


if __name__ == "__main__":
    from samedevice.outside import worker  # the module that a job finds, which is not this one

    worker.main()
