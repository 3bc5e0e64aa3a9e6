"""One process that has torch imported, and a fork of it for every program of a proof.

Most of a small program's time is the import of torch. A fork is as fresh as a new process in all
that these programs can notice: torch was imported and did nothing yet. `Forks.python` is given to a
proof as its interpreter; it hands what it was asked to run to the server.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

keep = SimpleNamespace()  # what must outlive the start of a program

_CLIENT = """#!{python} -SI
import array, json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
job = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
fds = array.array("i", [1, 2])
server.sendmsg([len(job).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
server.sendall(job)
answer = server.recv(64)
sys.exit(int(answer) if answer else 70)
"""


class Forks:
    """The server; `python` is the path of the interpreter that uses it."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "socket")
        env = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        self._server = subprocess.Popen([sys.executable, __file__, address], env=env)
        client = folder / "python"
        client.write_text(_CLIENT.format(python=sys.executable, address=address), "utf-8")
        client.chmod(0o755)
        self.python = str(client)
        deadline = time.monotonic() + 600  # the machine may be busy
        while not os.path.exists(address):
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the server did not start")
            time.sleep(0.05)

    def close(self) -> None:
        """End the server."""
        self._server.kill()
        self._server.wait()


def _serve(address: str) -> list[str]:
    """Answer until killed; in a fork, return the command line that it is to run."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{address}.new")
    listener.listen()
    os.rename(f"{address}.new", address)
    while True:
        connection, _ = listener.accept()
        with connection:
            head, control, *_ = connection.recvmsg(8, socket.CMSG_SPACE(8))
            fds = array.array("i", control[0][2])
            job = b""
            while len(job) < int.from_bytes(head, "big"):
                job += connection.recv(1 << 16)
            pid = os.fork()
            if pid == 0:
                listener.close()
                return _become(fds, *json.loads(job))
            for fd in fds:
                os.close(fd)
            _wait(connection, pid)


def _become(fds: array.array[int], argv: list[str], cwd: str, env: dict[str, str]) -> list[str]:
    for fd, target in zip(fds, (1, 2), strict=True):
        os.dup2(fd, target)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    return argv


def _wait(connection: socket.socket, pid: int) -> None:
    """Wait for a fork, and end it when nobody waits for it any more."""
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError):
                connection.sendall(str(code if code >= 0 else 128 - code).encode())
            return
        if select.select([connection], [], [], 0.01)[0]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return


def _warm() -> None:
    """Import what the programs would: torch brings its compiler in at the first optimizer."""
    import numpy  # noqa: F401
    import torch

    import samedevice.prove.virtual.accelerator
    import samedevice.prove.watch  # noqa: F401

    parameter = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.Adam([parameter])
    parameter.sum().backward()
    optimizer.step()
    gc.freeze()  # what is there stays shared with the forks


def _main() -> None:
    sys.path.pop(0)
    _warm()
    argv = _serve(sys.argv[1])
    sys.argv[:] = argv
    sys.path.insert(0, os.path.dirname(argv[0]))
    main = ModuleType("__main__")
    main.__file__ = argv[0]
    sys.modules["__main__"], keep.main = main, sys.modules["__main__"]
    code = compile(Path(argv[0]).read_bytes(), argv[0], "exec", dont_inherit=True)
    status: Any = 0
    try:
        exec(code, main.__dict__)
    except SystemExit as end:
        status = end.code
    # As Python ends, but for taking all of torch down, which takes longer than the program.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1 if status else 0)


if __name__ == "__main__":
    _main()
