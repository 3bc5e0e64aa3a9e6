"""Where jobs run: on threads of this process, each with its subprocesses, or on a Ray cluster.

Both take jobs one by one, so that a list of a million is never in memory, and give back what each
phase of a job finished, in the order in which it happens. The records are the same.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from .. import __version__
from ..reading.config import ConfigError
from .attempt import perform
from .fix import Server
from .job import Job, with_outcome
from .record import Outcome, Record


@dataclass(frozen=True)
class Event:
    """A record as it is now, and the files that came with it, by their path in the batch."""

    record: Record
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_last(self) -> bool:
        """Whether its job is done."""
        return self.record.outcome.is_final


_idle: list[Server] = []
"""Servers that no thread has; they end with this process."""


def pool(jobs: Iterator[Job], width: int) -> Generator[Event, None, None]:
    """Run `width` jobs at a time on this machine.

    The threads only wait: what takes time or may fail (git, the fix, the proof) is a subprocess, so
    one repository cannot take another one down.
    """
    waiting: queue.Queue[Job | None] = queue.Queue(width)
    events: queue.Queue[Event] = queue.Queue()

    def work() -> None:
        server = _idle.pop() if _idle else Server()
        while (job := waiting.get()) is not None:
            perform(job, lambda record, files: events.put(Event(_copy(record), files)), server)
        _idle.append(server)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(width)]
    for thread in threads:
        thread.start()
    active = 0
    more = True
    try:
        while more or active:
            while more and active < width:
                job = next(jobs, None)
                if job is None:
                    more = False
                    break
                active += 1
                job.record.engine = "pool"
                waiting.put(job)
            if active:
                event = events.get()
                active -= event.is_last
                yield event
    finally:
        if not active:  # when interrupted, they end with the process
            for _ in threads:
                waiting.put(None)
            for thread in threads:
                thread.join()


def _copy(record: Record) -> Record:
    return Record.from_json(record.to_json())


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster and what one job needs of it.

    `address` as `ray.init` takes it: "auto" for the one that this machine belongs to, "ray://..."
    for one elsewhere, "local" for a new one here. `retries` are those of a job whose node is lost.
    """

    address: str = "auto"
    cpus: float = 1.0
    gpus: float = 0.0
    memory: int | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3


def ray(jobs: Iterator[Job], width: int, cluster: Cluster) -> Generator[Event, None, None]:
    """Run at most `width` jobs at a time on a Ray cluster (0: as many as it takes at once).

    Each repository is one task with the resources that `cluster` names, so that an autoscaler sees
    what is wanted. Phases are streamed back as they finish. A task whose node is lost is run again;
    what it handed on before is not done twice where a phase cannot be.

    Raises `ConfigError` when Ray is missing, the cluster cannot be reached, or it has another
    version of samedevice.
    """
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError:
        raise ConfigError("ray is missing: pip install 'samedevice[ray]'") from None
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        except (ConnectionError, ValueError, RuntimeError, RayError) as error:
            raise ConfigError(f"--address {cluster.address}: {error}") from None
    task = ray.remote(
        num_cpus=cluster.cpus, num_gpus=cluster.gpus, memory=cluster.memory,
        resources=dict(cluster.resources) or None, max_retries=cluster.retries,
        num_returns="streaming",
    )(_remote)  # fmt: skip
    running: dict[Any, Record] = {}
    more = True
    try:
        while more or running:
            most = width or max(2, 2 * int(ray.cluster_resources().get("CPU", 1) / cluster.cpus))
            while more and len(running) < most:
                job = next(jobs, None)
                if job is None:
                    more = False
                    break
                job.record.engine = "ray"
                # Another machine has no use for paths of this one.
                running[task.remote(replace(job, work=None), __version__)] = job.record
            ready, _ = ray.wait(list(running), num_returns=1, fetch_local=False)
            for stream in ready:
                try:
                    event = ray.get(next(stream))
                    running[stream] = event.record
                    if event.is_last:
                        del running[stream]
                except StopIteration:
                    continue
                except RayError as error:
                    record = with_outcome(running.pop(stream), Outcome.FAILED, "")
                    record.error = f"ray: {_first_line(error)}"
                    event = Event(record)
                yield event
    finally:
        if ours:
            ray.shutdown()


def _remote(job: Job, version: str) -> Iterator[Event]:
    """Run one job in a worker of Ray and yield what it finishes."""
    if version != __version__:
        record = with_outcome(job.record, Outcome.FAILED, "")
        record.error = f"the cluster has samedevice {__version__}, and the run is of {version}"
        yield Event(record)
        return
    events: queue.Queue[Event] = queue.Queue()

    def emit(record: Record, files: Mapping[str, bytes]) -> None:
        events.put(Event(_copy(record), files))

    thread = threading.Thread(target=perform, args=(job, emit, _workers_server()), daemon=True)
    thread.start()
    while True:
        event = events.get()
        yield event
        if event.is_last:
            thread.join()
            return


@cache
def _workers_server() -> Server:
    """Return the server of this worker of Ray, which has one job at a time."""
    return Server()


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else type(error).__name__
