"""A large project is judged in parts, each in a process of its own; watching judges again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from samedevice import inference
from samedevice.migration import check, parallel
from samedevice.migration.cache import Cache
from samedevice.reading import reader, source
from samedevice.reading.config import Config

CODE = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 150,000 lines in three folders."""
    folder = tmp_path_factory.mktemp("large")
    for name in ("a", "b", "c"):
        (folder / name).mkdir()
        (folder / name / "main.py").write_text(CODE)
        (folder / name / "long.py").write_text("import torch\n" + "\n" * 50_000)
    (folder / "a" / "broken.py").write_text("import torch\nf(\n")
    return folder


def test_processes_find_what_one_process_finds(large: Path) -> None:
    alone = reader.read([str(large)], Config())
    findings = check.check(alone, Config())
    together = reader.read([str(large)], Config())
    assert check.check(together, Config(), processes=2) == findings
    assert len(findings) == 3
    assert [str(error) for error in together.errors] == [str(error) for error in alone.errors]
    assert len(alone.errors) == 1


def test_a_part_whose_process_died_is_judged_here(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(work: Any, jobs: Sequence[Any], *_: Any) -> Iterator[tuple[Any, Any]]:
        yield from ((job, None) for job in jobs)

    monkeypatch.setattr(parallel, "spread", dying)
    project = reader.read([str(large)], Config())
    assert len(check.check(project, Config(), processes=2)) == 3
    assert len(project.errors) == 1


def test_parts_that_the_cache_knows_start_no_process(
    large: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "cache"))
    found = []
    for _ in range(2):
        project = reader.read([str(large / "b"), str(large / "c"), str(large / "a" / "main.py")],
                               Config())  # fmt: skip
        cache = Cache(project, Config())
        found.append(check.check(project, Config(), cache=cache, processes=2))
        cache.write()
        monkeypatch.setattr(parallel, "spread", None)
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_processes_tell_how_far_they_are(tmp_path: Path) -> None:
    for number in range(80):
        (tmp_path / f"m{number}.py").write_text(CODE + "\n" * 700)
    told: list[int] = []
    project = reader.read([str(tmp_path)], Config())
    assert len(check.check(project, Config(), told.append, processes=2)) == 80
    assert sum(told) == 80
    assert max(told) < 20, "not only when a part is done"


def test_a_process_that_dies_is_told() -> None:
    assert list(parallel.spread(os._exit, [1], 1)) == [(1, None)]


SPREAD = """
import glob, sys, time
sys.path.insert(0, sys.argv[1])
from samedevice.migration import parallel
for _, number in parallel.spread(int, ["1"], 1):
    print(*(open(name).read() for name in glob.glob("/proc/self/task/*/children")), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_processes_end_with_the_one_that_is_killed() -> None:
    command = [sys.executable, "-c", SPREAD, str(Path(parallel.__file__).parents[2])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as whole:
        assert whole.stdout is not None
        [number] = whole.stdout.readline().split()
        worker = Path("/proc", number)
        assert worker.is_dir()
        whole.kill()
    for _ in range(100):
        if not worker.is_dir():
            return
        time.sleep(0.1)
    raise AssertionError("it is still there")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal of POSIX")
@pytest.mark.parametrize("command", [["check"], ["fix", "--yes"]])
def test_watching_judges_again_after_each_change(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "main.py").write_text(CODE)
    environment = os.environ | {"SAMEDEVICE_CACHE_DIR": str(tmp_path / "cache")}
    with subprocess.Popen(
        [sys.executable, "-m", "samedevice", *command, "--watch", "."],
        cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        seen = _until(process.stderr, "waiting for changes")
        assert ("1 finding in 1 file" if command == ["check"] else "1 file changed") in seen
        if command != ["check"]:
            seen = _until(process.stderr, "waiting for changes")  # its own change
        (tmp_path / "main.py").write_text(CODE + "x = torch.zeros(2).cuda()\n")
        seen = _until(process.stderr, "waiting for changes")
        assert ("2 findings in 1 file" if command == ["check"] else "1 file changed") in seen
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


def _until(stream: Any, word: str) -> str:
    """Return the lines of a stream up to one with a word."""
    lines = []
    for line in stream:
        lines.append(line)
        if word in line:
            break
    return "".join(lines)


def test_a_part_that_did_not_change_is_not_judged_again(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inferred: list[set[str]] = []
    infer = inference.infer

    def watched(project, program=None, *rest, **named):  # type: ignore[no-untyped-def]
        inferred.append({Path(path).name for path in program})
        return infer(project, program, *rest, **named)

    monkeypatch.setattr(inference, "infer", watched)
    project, memory = reader.read([str(large)], Config()), check.Memory()
    first = check.check(project, Config(), memory=memory)
    assert len(inferred) == 7
    inferred.clear()
    path = next(path for path in project.sources if path.endswith("a/main.py"))
    edited = source.from_text("import torch\n" + CODE, path)
    changed = project.replaced({**project.sources, path: edited}.values())
    again = check.check(changed, Config(), memory=memory)
    assert inferred == [{"main.py"}]
    assert again == check.check(changed, Config()) != first
    assert not any(text._tree for text in changed.sources.values())  # no trees are kept


def test_several_processes_divide_what_one_would_take_whole(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def here(work: Any, jobs: Sequence[Any], *_: Any) -> Iterator[tuple[Any, Any]]:
        asked.append(len(jobs))
        yield from ((job, work(job)) for job in jobs)

    monkeypatch.setattr(parallel, "spread", here)
    folder, config = [str(large / "a")], Config()  # some 50,000 lines
    alone = check.check(reader.read(folder, config), config)
    assert not asked
    assert check.check(reader.read(folder, config), config, processes=2) == alone != []
    assert len(asked) == 1 and asked.pop() > 1
    small = reader.read([str(large / "a" / "main.py")], config)
    assert check.check(small, config, processes=2) == alone
    assert not asked
