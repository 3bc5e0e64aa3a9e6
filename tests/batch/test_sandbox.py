"""Commands that take too much or reach out are stopped, and what is said to hold does."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from samedevice.batch import sandbox
from samedevice.batch.sandbox import Limits, Result

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
shut = pytest.mark.skipif(sandbox.sandbox() != "bwrap", reason="needs bubblewrap")
LIMITS = Limits(seconds=20, memory=200 << 20, disk=20 << 20, output=1 << 20)


def run(folder: Path, code: str, limits: Limits = LIMITS, hide: tuple[Path, ...] = ()) -> Result:
    place = folder / "repository"
    place.mkdir(exist_ok=True)
    command = [sys.executable, "-S", "-c", code]
    return sandbox.run(command, cwd=place, work=folder, limits=limits, hide=hide)


def test_an_end_of_its_own(tmp_path: Path) -> None:
    assert run(tmp_path, "print('hello')").status == "passed"
    failed = run(tmp_path, "import sys; print('one'); sys.exit('two')")
    assert (failed.status, failed.code, failed.tail) == ("failed", 1, "one\ntwo")


def test_a_command_that_is_none(tmp_path: Path) -> None:
    none = sandbox.run(["no-such-program"], cwd=tmp_path, work=tmp_path, limits=LIMITS)
    assert none.status in ("refused", "failed")
    assert "no-such-program" in none.tail


def test_time_and_output(tmp_path: Path) -> None:
    assert run(tmp_path, "while True: pass", replace(LIMITS, seconds=0.3)).status == "time"
    assert run(tmp_path, "while True: print('x' * 10000)").status == "output"


@linux
def test_memory_of_one_process_and_of_many(tmp_path: Path) -> None:
    assert run(tmp_path, "x = []\nwhile True: x.append(bytearray(1 << 20))").status == "memory"
    many = "import os, time\nos.fork(), os.fork(), os.fork()\nx = bytearray(40 << 20)\n"
    assert run(tmp_path, many + "time.sleep(20)").status == "memory"


@linux
def test_disk_in_one_file_and_in_many(tmp_path: Path) -> None:
    one = run(tmp_path, "open('x', 'wb').write(bytes(30 << 20))")
    assert "File too large" in one.tail
    many = "for n in range(10**6):\n    open(f'{n}', 'wb').write(bytes(1 << 20))"
    assert run(tmp_path, many).status == "disk"


@linux
def test_nothing_is_left_running(tmp_path: Path) -> None:
    code = "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(61.25)"
    assert run(tmp_path, code).status == "passed"
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert b"61.25" not in entry.read_bytes(), entry
        except OSError:
            continue


def test_the_environment_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_TOKEN", "t0ken")
    said = run(tmp_path, "import os; print(dict(os.environ))").stdout.text
    assert "t0ken" not in said and str(tmp_path / "home") in said


@shut
def test_nothing_outside_is_written_and_hidden_folders_are_empty(tmp_path: Path) -> None:
    work, hidden = tmp_path / "hidden" / "work", tmp_path / "hidden"
    work.mkdir(parents=True)
    (hidden / "state").write_text("secret")
    code = f"import os; print(os.listdir({str(hidden)!r})); open({str(tmp_path / 'x')!r}, 'w')"
    result = run(work, code, hide=(hidden,))
    assert result.stdout.text.strip() == "['work']"
    assert "Read-only file system" in result.stderr.text
    assert run(work, "open('x', 'w').write('y')").status == "passed"


@shut
def test_the_network_is_there_only_if_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection({server.getsockname()!r}, 2)"
        assert run(tmp_path, code).status == "failed"
        assert run(tmp_path, code, replace(LIMITS, network=True)).status == "passed"


def test_what_held_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "sandbox", lambda: "")
    assert "no network" not in sandbox.held(LIMITS)
    assert "no sandbox on this machine" in sandbox.held(LIMITS)
    monkeypatch.setattr(sandbox, "sandbox", lambda: "unshare")
    assert "no network" in sandbox.held(LIMITS)
    assert "no network" not in sandbox.held(replace(LIMITS, network=True))


@linux
def test_marked_processes_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    environment = {**os.environ, sandbox.MARK: str(tmp_path)}
    ours = subprocess.Popen(["sleep", "60"], env=environment)
    other = subprocess.Popen(["sleep", "60"], env={**environment, sandbox.MARK: "another"})
    try:
        sandbox.end_marked(str(tmp_path))
        assert ours.wait(10) == -9
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
