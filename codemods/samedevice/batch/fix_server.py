"""A process that has read the rules and tables, and forks one that is ready for each fix.

It reads requests from its standard input and answers each when it is done: `{"root": ...,
"policy": {...}, "answer": ..., "title": ...}` with the exit code of the process that did it,
`{"code": 0}`, or null where it ran out of time. It ends with its input.
(The server of multiprocessing would import the program that uses it again in each process.)
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import time
from typing import Any

from .. import map as map_
from ..migration import migrate
from ..reading import config
from ..reading.project import Project
from ..reading.source import from_text
from . import fix
from .guard import end_with_parent, limit
from .policy import Policy

_WARM_UP = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\nprint(model(torch.ones(2)))\n"


def main() -> None:
    """Answer requests until there are no more."""
    # What is printed by accident must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    program = Project([from_text(_WARM_UP, "warm_up.py")])
    migrate.migrate(program, config.Config())
    map_.page(program, config.Config())
    gc.collect()
    gc.freeze()  # what is never collected is never written, so its memory stays shared
    for line in sys.stdin:
        answers.write(json.dumps({"code": _serve(json.loads(line))}) + "\n")
        answers.flush()


def _serve(request: dict[str, Any]) -> int | None:
    policy = Policy().with_table(request["policy"], "the request")
    if not hasattr(os, "fork"):  # then one server serves one request
        fix.answer(request["root"], policy, request["answer"], request["title"])
        return 0
    server = os.getpid()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            end_with_parent(server)
            limit({"address_space": policy.fix_memory << 20})
            fix.answer(request["root"], policy, request["answer"], request["title"])
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + policy.fix_seconds
    pause = 0.001
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    main()
