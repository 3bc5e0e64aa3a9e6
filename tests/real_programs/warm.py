"""A process that has imported the large libraries and forks for each run: a start costs nothing.

``python warm.py`` reads one request per line, ``Warm`` writes them. What a fork does before the
program begins is what a fresh interpreter does with ``shims`` on its path.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import json
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

SHIM = Path(__file__).with_name("shims") / "sitecustomize.py"
LIBRARIES = (
    "torch torch.utils.data torch._dynamo torchvision torchvision.datasets torchvision.models "
    "torchvision.transforms torch.utils.tensorboard numpy pandas matplotlib.pyplot scipy "
    "sklearn.preprocessing sklearn.metrics sklearn.model_selection tqdm PIL.Image einops gymnasium"
)


class Warm:
    """Calls programs through one such process."""

    def __init__(self, env: dict[str, str], libraries: str = LIBRARIES) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *libraries.split()],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def call(
        self, command: list[str], folder: Path, env: dict[str, str], limit: float
    ) -> tuple[int | None, str, str]:
        """Like ``stage._call`` for ``command``, which begins with the interpreter."""
        with TemporaryDirectory() as scratch:
            out, err = Path(scratch) / "out", Path(scratch) / "err"
            request = {
                "argv": command[1:],
                "cwd": str(folder),
                "env": env,
                "out": str(out),
                "err": str(err),
                "limit": limit,
            }
            assert self._process.stdin and self._process.stdout
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            status = json.loads(self._process.stdout.readline())
            texts = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
            return (status, *texts)  # type: ignore[return-value]


def serve() -> None:
    """Import the libraries, then fork for each line of the standard input."""
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(request)
        print(json.dumps(_wait(child, request["limit"])), flush=True)


def _wait(child: int, limit: float) -> int | None:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # workers that it left
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _become(request: dict[str, object]) -> None:
    os.setsid()
    atexit._clear()  # what is cleaned up at the end of the parent is not ours
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(str(request[name]), os.O_CREAT | os.O_WRONLY), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    env = request["env"]
    assert isinstance(env, dict)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(str(request["cwd"]))
    argv = request["argv"]
    assert isinstance(argv, list)
    module = argv.pop(0) and argv.pop(0) if argv[0] == "-m" else ""
    here = os.getcwd() if module else os.path.dirname(os.path.abspath(argv[0]))
    sys.path[0:1] = [here, *env["PYTHONPATH"].split(os.pathsep)]
    code = 0
    try:
        _shims()
        if module:
            sys.argv = [module, *argv]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            sys.argv = argv
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _shims() -> None:
    """Apply the shims anew, as this environment wants them."""
    sys.meta_path = [finder for finder in sys.meta_path if type(finder).__name__ != "_AfterImport"]
    spec = importlib.util.spec_from_file_location("sitecustomize", SHIM)
    assert spec and spec.loader
    shim = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shim)
    for name in [name for name in shim._AFTER if name in sys.modules]:
        shim._AFTER.pop(name)(sys.modules[name])


if __name__ == "__main__":
    serve()
