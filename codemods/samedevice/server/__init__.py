"""The language server: findings, fixes and places in an editor, by the Language Server Protocol.

`analysis` knows files and findings and nothing of the protocol, `edits` turns places and texts into
those of the protocol, `protocol` holds a session, which `sessions` (what the editor tells),
`questions` and `actions` (what it asks for) use. Needs pygls: `samedevice[server]`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys

from . import actions, questions, sessions
from .messages import Bounded
from .protocol import Server

__all__ = ["Server", "serve"]


def serve(port: int | None = None) -> None:
    """Serve one editor on standard input and output, or on `port` of this machine."""
    gc.disable()  # a session collects between two changes, not during one
    server = Server()
    for features in (sessions, questions, actions):
        features.register(server)
    if port is None:
        messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        with contextlib.redirect_stdout(sys.stderr):  # only messages go out there
            server.start_io(Bounded(sys.stdin.buffer), messages)  # type: ignore[arg-type]
    else:
        server.start_tcp("127.0.0.1", port)
