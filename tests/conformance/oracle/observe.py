"""Run programs on the virtual accelerator and write down where each of their values was.

`python start.py --serve` reads one JSON request per line and writes one JSON answer per line.
A request has `id`, `folder`, `entry` (a script, "-m module" or "pytest"), `args`, `roots` (the
folders whose files are rewritten), `report` (a file) and `limit` (seconds). An answer has `id`,
`code` and the end of what the program wrote. torch is imported once; each program is a fork.

`python start.py --once REQUEST` runs one in this process.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn


def run(request: dict[str, Any]) -> None:
    """Run a program in this process, as `python entry` would, on the virtual accelerator."""
    import torch

    from samedevice.prove.device import bring_up

    from .instrument import Finder, Table
    from .record import Recorder

    torch.set_num_threads(1)
    bring_up("cuda", 1)
    os.chdir(request["folder"])
    recorder = Recorder(Table(), Path(request["report"]))
    recorder.install()
    atexit.register(recorder.write)
    Finder(recorder.table, request["roots"]).install()
    entry: str = request["entry"]
    sys.argv = [entry, *request["args"]]
    if entry == "pytest":
        import pytest

        sys.argv = ["pytest", *request["args"]]
        raise SystemExit(pytest.main(request["args"]))
    main = ModuleType("__main__")
    if entry.startswith("-m "):
        sys.path.insert(0, request["folder"])
        spec = importlib.util.find_spec(entry[3:])
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{entry[3:]}.__main__")
        assert spec is not None and spec.origin is not None, entry
        path = Path(spec.origin)
        vars(main).update(__spec__=spec, __package__=spec.parent, __loader__=spec.loader)
        sys.argv[0] = str(path)
    else:
        path = Path(request["folder"], entry)
        sys.path.insert(0, str(path.parent))
    vars(main).update(__file__=str(path), __builtins__=__builtins__)
    sys.modules["__main__"] = main
    exec(recorder.table.compile(path.read_bytes(), str(path)), vars(main))


def _become(request: dict[str, Any], output: int) -> NoReturn:
    """Turn this forked process into the requested program."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(request["limit"])
    code = 0
    try:
        run(request)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        signal.alarm(10)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


class OutOfTime(KeyboardInterrupt):
    """A program ran past its limit; what it told so far counts. pytest ends a session by it."""


def _stop(*_: object) -> NoReturn:
    raise OutOfTime


def serve() -> None:
    """Serve the requests on standard input, one after the other, until it ends."""
    import torch  # here and not in each child
    import torch._dynamo  # which the first optimizer of each child would import

    from samedevice.prove.device import bring_up

    torch.set_num_threads(1)
    bring_up("cuda", 1)
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        with tempfile.TemporaryFile() as output:
            pid = os.fork()
            if pid == 0:
                _become(request, output.fileno())
            _, status = os.waitpid(pid, 0)
            output.seek(0)
            said = output.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"id": request["id"], "code": code, "said": said[-2000:]}), flush=True)


def main(arguments: list[str]) -> None:
    """Do what the command line asks for."""
    match arguments:
        case ["--serve"]:
            serve()
        case ["--once", path]:
            request = json.loads(Path(path).read_text("utf-8"))
            signal.signal(signal.SIGALRM, _stop)
            signal.alarm(request["limit"])
            run(request)
