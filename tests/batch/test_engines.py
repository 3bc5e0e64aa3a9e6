"""The same records whatever the engine: this machine, or a Ray cluster of two nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samedevice.batch import engines, run, state
from samedevice.batch.engines import Cluster
from samedevice.batch.job import Delivery
from samedevice.batch.record import Outcome, Record, Repository
from samedevice.batch.run import Settings
from samedevice.batch.sources import read

from . import repositories
from .repositories import FIXABLE, make


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Eight bare repositories, of which one is hostile and one needs nothing."""
    root = tmp_path / "bare"
    root.mkdir()
    for number in range(6):
        make(tmp_path / f"n{number}", {"main.py": FIXABLE + f"# {number}\n"})
    make(tmp_path / "fine", {"main.py": "print(1)\n"})
    repositories.syntax_errors(tmp_path / "broken", tmp_path / "trap")
    for path in [*tmp_path.iterdir()]:
        if path != root:
            repositories.git(root, "clone", "--quiet", "--bare", str(path), path.name)
    return root


def told(folder: Path, root: Path, settings: Settings) -> list[Record]:
    """Run a batch and return its records without times and places."""
    allow = (*settings.allow, "file")
    listed = read(str(root), allow)
    phases: set[str] = set()
    settings = Settings(
        policy={"author": "Ann <ann@example.org>"}, allow=allow, delivery=settings.delivery,
        engine=settings.engine, width=settings.width, cluster=settings.cluster,
    )  # fmt: skip
    with run.begin(folder, listed, settings) as there:
        run.go(there, Settings.of(there), lambda record: phases.add(record.phase.value))
        records = list(there.records())
        patches = {record.patch: there.file(record.patch) for record in records if record.patch}
    assert all(patches.values())
    assert {record.engine for record in records} == {settings.engine}
    assert phases >= {"planned", "clone", "fix", "prove", "commit"}  # streamed, not only the last
    for record in records:
        record.started = record.ended = record.engine = record.host = record.commit = ""
        record.seconds = {}
    return records


def test_one_at_a_time_and_many_give_the_same(bare: Path, tmp_path: Path) -> None:
    one = told(tmp_path / "one", bare, Settings(width=1))
    many = told(tmp_path / "many", bare, Settings(width=4))
    assert one == many
    assert [record.outcome.value for record in one].count("migrated") == 6


def test_jobs_are_taken_as_there_is_room() -> None:
    taken: list[int] = []

    def jobs() -> Iterator[Any]:
        for number in range(20):
            taken.append(number)
            yield number

    def perform(job: Any, emit: Any, server: Any) -> None:
        record = Record(named(str(job)))
        record.outcome = Outcome.UNCHANGED
        emit(record, {})

    class Given(int):
        record = Record(named("x"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "perform", perform)
        events = engines.pool(map(Given, jobs()), 2)
        next(events)
        assert len(taken) <= 4  # a list of a million is never in memory
        assert 1 + sum(1 for _ in events) == 20


def named(name: str) -> Repository:
    return Repository(name, "/x")


@pytest.mark.slow
def test_ray_gives_the_same_on_two_nodes(bare: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs samedevice[ray]")
    from ray.cluster_utils import Cluster as Nodes

    local = told(tmp_path / "pool", bare, Settings(width=2))
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "resources": {"a": 1}})
    try:
        nodes.add_node(num_cpus=1, resources={"b": 1})
        cluster = Cluster(address=nodes.address)
        delivery = Delivery(push=True)
        settings = Settings(engine="ray", width=4, cluster=cluster)
        assert told(tmp_path / "ray", bare, settings) == local
        # What asks for a resource that one node has runs there; what nobody has would wait.
        only_b = Cluster(address=nodes.address, resources={"b": 1})
        settings = Settings(engine="ray", cluster=only_b, delivery=delivery)
        told(tmp_path / "b", bare, settings)
        with state.open_(tmp_path / "b") as there:
            assert sum(record.pushed for record in there.records()) == 6
    finally:
        nodes.shutdown()


@pytest.mark.slow
def test_a_node_that_is_lost_costs_no_record(bare: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs samedevice[ray]")
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        second = nodes.add_node(num_cpus=1)
        listed = read(str(bare), ("https", "file"))
        settings = Settings(
            allow=("https", "file"), engine="ray", width=4, cluster=Cluster(address=nodes.address)
        )
        lost = []

        def tell(record: Record) -> None:
            if record.outcome.is_final and not lost:
                lost.append(record)
                nodes.remove_node(second, allow_graceful=False)

        with run.begin(tmp_path / "batch", listed, settings) as there:
            run.go(there, Settings.of(there), tell)
            outcomes = [record.outcome.value for record in there.records()]
        assert len(outcomes) == 8 and outcomes.count("migrated") == 6
    finally:
        nodes.shutdown()
