"""Exit codes, and one clear message for what a user can mend."""

from __future__ import annotations

import codecs
import errno
import functools
import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn, ParamSpec

import typer

from .screen import listen, make_console

P = ParamSpec("P")


CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room for what is written


def _unwritable(error: UnicodeError) -> tuple[str, int]:
    """Replace what an output's encoding lacks: arrows by ASCII's, other characters by their number.

    A path or a line of code may hold anything, and a code page of Windows has 256 characters.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    for arrow, plain in (("\u2192", "->"), ("\u21b3", ">")):
        lacking = lacking.replace(arrow, plain)
    return lacking.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error("samedevice", _unwritable)


def exit_codes(command: Callable[P, int]) -> Callable[P, None]:
    """Exit with the code that `command` returns; one clear message for what a user can mend."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from ..reading.config import ConfigError
        from ..reading.source import SourceError

        listen()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="samedevice")
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except (ConfigError, SourceError) as error:
            fail(str(error))
        except BrokenPipeError:
            no_more_output()
            code = FAILED
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            code = INTERRUPTED
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                no_more_output()
                fail(f"{error.filename or 'the output'}: cannot be written: {error.strerror}")
            import traceback

            traceback.print_exc()
            fail("this is a fault in samedevice; please report it with the lines above")
        raise typer.Exit(code)

    return run


def no_more_output() -> None:
    """Keep Python from writing what is left to a reader that went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str) -> NoReturn:
    """Print an error and end with its exit code."""
    tell_error(message)
    raise typer.Exit(FAILED)


def tell_error(message: str) -> None:
    """Print an error; what it names of somebody's files steers no terminal."""
    from rich.text import Text

    from ..reading.source import printable

    line = Text.assemble(("error: ", "bold red"), "\n".join(map(printable, message.split("\n"))))
    make_console(stderr=True).print(line, soft_wrap=True)
