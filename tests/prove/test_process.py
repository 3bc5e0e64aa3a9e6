"""Limits of a process, and that nothing of it stays behind."""

import os
import sys
import time
from pathlib import Path

import pytest

from samedevice.prove.process import Ended, Limits, supervise

posix = pytest.mark.skipif(os.name != "posix", reason="needs sessions and signals")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


def run(code: str, limits: Limits | None = None) -> Ended:
    return supervise([sys.executable, "-c", code], limits=limits or Limits())


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if sys.platform.startswith("linux"):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text("utf-8")
    return True


def test_output_and_exit_code() -> None:
    ended = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (ended.code, ended.cause, ended.left_behind) == (7, "exit", 0)
    assert ended.stdout.text.split() == ["out"]
    assert ended.stderr.text.split() == ["err"]
    assert ended.stdout.complete


def test_stdin_is_empty() -> None:
    assert run("import sys; print(repr(sys.stdin.read()))").stdout.text.strip() == "''"


def test_time_limit() -> None:
    ended = run("while True: pass", Limits(seconds=0.3))
    assert ended.cause == "time"
    assert ended.seconds < 5


@posix
def test_a_signal_is_a_negative_code() -> None:
    assert run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").code == -11


def test_endless_output_is_stopped_and_kept_small() -> None:
    ended = run("while True: print('x' * 1000)", Limits(output=3_000_000, seconds=60))
    assert ended.cause == "output"
    assert ended.stdout.size > 3_000_000
    assert len(ended.stdout.text) < 1_100_000
    assert "bytes left out" in ended.stdout.text


def test_long_output_keeps_both_ends_and_a_digest_of_all() -> None:
    code = "print('head'); print('x' * 3_000_000); print({!r})"
    one, two = run(code.format("tail")), run(code.format("tail"))
    other = run("print('head'); print('x' * 2_999_999 + 'y'); print('tail')")
    assert one.stdout.text.startswith("head")
    assert one.stdout.text.endswith("tail\n")
    assert not one.stdout.complete
    assert one.stdout.digest == two.stdout.digest != other.stdout.digest


@linux
def test_a_daemon_left_behind_is_ended() -> None:
    ended = run(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        print(os.getpid(), flush=True)\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    assert ended.code == 0
    assert ended.left_behind == 1
    assert not is_running(int(ended.stdout.text))


@posix
def test_children_that_multiply_are_ended() -> None:
    started = time.monotonic()
    ended = run(
        "import os, time\n"
        "for _ in range(5):\n"
        "    os.fork()\n"
        "os.write(1, b'%d\\n' % os.getpid())\n"
        "time.sleep(600)\n",
        Limits(seconds=3),
    )
    assert ended.cause == "time"
    assert time.monotonic() - started < 20
    pids = [int(word) for word in ended.stdout.text.split()]
    assert len(pids) > 8  # of 32; a busy machine is slow to start them
    assert not any(is_running(pid) for pid in pids)


@posix
def test_a_child_that_holds_the_pipe_does_not_hold_us() -> None:
    started = time.monotonic()
    ended = run("import subprocess; subprocess.Popen(['sleep', '600']); print('done')")
    assert ended.stdout.text == "done\n"
    assert time.monotonic() - started < 20


def test_a_command_that_cannot_be_started() -> None:
    with pytest.raises(OSError):
        supervise(["/no/such/program"], limits=Limits())


@linux
def test_the_command_ends_with_its_supervisor() -> None:
    code = (
        "import sys\n"
        "from samedevice.prove.run import Settings, run_program\n"
        "run_program(sys.argv[1], settings=Settings(on='cpu', record=False))\n"
    )
    import subprocess
    import tempfile

    pytest.importorskip("torch")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "main.py")
        pid_file = Path(folder, "pid")
        script.write_text(
            "import os, time\n"
            f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
            "time.sleep(600)\n",
            "utf-8",
        )
        parent = subprocess.Popen([sys.executable, "-c", code, str(script)])
        deadline = time.monotonic() + 60
        while not (pid_file.exists() and pid_file.read_text("utf-8")):
            assert time.monotonic() < deadline and parent.poll() is None
            time.sleep(0.05)
        parent.kill()  # SIGKILL: it can clean nothing up
        parent.wait()
        pid = int(pid_file.read_text("utf-8"))
        while is_running(pid):
            assert time.monotonic() < deadline
            time.sleep(0.05)
