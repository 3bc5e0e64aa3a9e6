"""Python processes of ours, and this one, without the working directory among their modules.

`python -m` and `python -c` put the working directory first on `sys.path`, so that a `selectors.py`
of the project that is looked at would run as Python's own. Processes of ours are started isolated
(`-I`), with the path of this one written out; this one's is tidied by `leave_folder`.

This module is imported while the working directory is still on the path, so it imports nothing but
what every Python has loaded before: not even `__future__`.
"""

import os
import sys


def leave_folder() -> None:
    """Take the working directory, and what PYTHONPATH names below it, off `sys.path`.

    To be called before anything else is imported. What Python itself imports before a program
    begins is out of reach: see docs/explanation/security.md.
    """
    sys.path[:] = path()


def path() -> list[str]:
    """Return `sys.path` without the working directory and what PYTHONPATH names below it.

    The folder of this package is kept, as the last one if it is such a folder: who runs samedevice
    from there trusts its files.
    """
    here = os.path.realpath(os.curdir)
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    below = {os.path.realpath(entry) for entry in named if not sys.flags.ignore_environment}
    below = {entry for entry in below if (entry + os.sep).startswith(os.path.join(here, ""))}
    kept = []
    for entry in filter(os.path.isabs, sys.path):
        real = os.path.realpath(entry)
        if real not in below and (real != here or _is_pythons(entry)):
            kept.append(entry)
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.realpath(ours) not in map(os.path.realpath, kept):
        kept.append(ours)
    return kept


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package in a process of its own.

    It finds what this process finds, but nothing in the working directory.
    """
    return code(
        f"import runpy; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)",
        *arguments,
    )


def code(text: str, *arguments: str) -> list[str]:
    """Return the command that runs statements in a process of its own, as `command` does."""
    words = [sys.executable, "-I"]
    if sys.dont_write_bytecode:
        words.append("-B")
    if sys.flags.utf8_mode:
        words += ["-X", "utf8"]
    return [*words, "-c", f"import sys; sys.path[:] = {ascii(path())}; {text}", *arguments]


def _is_pythons(entry: str) -> bool:
    """Tell whether a folder is the standard library's, or one for installed packages."""
    library = os.path.dirname(os.__file__)
    folders = (library, os.path.join(library, "lib-dynload"))
    return entry in folders or os.path.basename(entry) in ("site-packages", "dist-packages")
