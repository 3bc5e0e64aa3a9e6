"""After an error of devices in a running program: the operands with their history, and the repair.

`samedevice.excepthook` does this for a script, and `%load_ext samedevice` for a notebook or
IPython. Nothing is watched while the program runs: where the operands are is read off the frames
of the traceback, and how they got there off the code, which is not executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from .explain import Explanation
    from .finding import Origin
    from .migration.migrate import Outcome
    from .prove.clash import Clash
    from .reading.project import Project

_MOST = 500  # files that are read to find out how an operand got where it is
_NOTEBOOK = "notebook.ipynb"  # what the cells that were executed are called


def excepthook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback as Python does and, if it is about devices, what there is to know.

    For `sys.excepthook`.
    """
    sys.__excepthook__(kind, error, trace)
    with contextlib.suppress(Exception):  # the program's own error was told, and counts
        clash = _clash(error)
        if clash is not None:
            console = _console()
            _print(console, clash)
            _tell_of_files(console, error, clash)


def load_ipython_extension(shell: Any) -> None:
    """Tell of errors of devices in IPython and notebooks (called by `%load_ext samedevice`)."""
    shell.events.register("post_run_cell", _after_cell)


def unload_ipython_extension(shell: Any) -> None:
    """Stop it (called by `%unload_ext samedevice`)."""
    shell.events.unregister("post_run_cell", _after_cell)


def _after_cell(result: Any) -> None:
    error = getattr(result, "error_in_exec", None)
    if error is None:
        return
    with contextlib.suppress(Exception):  # the cell's own error was told, and counts
        clash = _clash(error)
        if clash is not None:
            console = _console(sys.stdout)  # where the cell's output is
            _print(console, _by_input(clash))
            _tell_of_cells(console, error)
            _offer(console)


def _clash(error: BaseException) -> Clash | None:
    if "torch" not in sys.modules:
        return None
    from .prove.failure import find_clash
    from .prove.lives import Lives

    return find_clash(error, Lives())


def _console(file: Any = None) -> Console:
    from rich.console import Console

    return Console(file=file, stderr=file is None, highlight=False, markup=False, emoji=False)


def _print(console: Console, clash: Clash) -> None:
    from .prove.display import render_clash

    shown: RenderableType = render_clash(clash)
    console.print()
    console.print(shown)


# a script


def _tell_of_files(console: Console, error: BaseException, clash: Clash) -> None:
    """Print where the operands got their places, and what is wrong, by reading the program."""
    from . import explain
    from .reading.config import load
    from .report.place import short_place
    from .report.text import show

    paths = _files(clash)
    if not paths:
        return
    config = load(paths)
    project = _project(paths)
    text = "".join(traceback.format_exception(error))
    found = explain.explain(text, project, config)
    if found is None or not found.path:
        return

    def where(origin: Origin) -> str:
        return short_place(origin.path, origin.span, project.sources)

    _tell_origins(console, found, project, where)
    if found.findings:
        console.print()
        show(console, found.findings, project.sources)
        if any(finding.fix is not None for finding in found.findings):
            console.print(f"`samedevice fix {_folder(clash)}` repairs it")


def _tell_origins(
    console: Console, found: Explanation, project: Project, where: Callable[[Origin], str]
) -> None:
    """Print how the operands of a statement got where they are, by their code."""
    for operand in found.operands:
        for origin in operand.origins:
            code = project.sources[origin.path].line(origin.span.line).strip()
            if (origin.path, origin.span.line) != (found.path, found.line):
                there = f"{operand.code} is there since {where(origin)}: {code}"
                console.print(f"  {there}", soft_wrap=True)


def _folder(clash: Clash) -> str:
    """Return the folder of the program: that of its script, if the failing file is in it."""
    script = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv[0] else os.getcwd()
    inside = os.path.abspath(clash.file).startswith(script + os.sep)
    folder = script if inside else os.path.dirname(os.path.abspath(clash.file))
    return os.path.relpath(folder)


def _files(clash: Clash) -> list[str]:
    """Return the files to read: those of the program's folder, or of a large one the frames'."""
    from .reading import files

    framed = [frame.file for frame in clash.frames if os.path.isfile(frame.file)]
    if not framed:
        return []
    found = files.find([_folder(clash)]).paths
    return found if len(found) <= _MOST else list(dict.fromkeys(map(os.path.relpath, framed)))


def _project(paths: list[str]) -> Project:
    from .reading import source
    from .reading.project import Project

    def read() -> Iterator[source.Source]:
        for path in paths:
            with contextlib.suppress(source.SourceError):
                yield source.read(path)

    return Project(read())


# a notebook


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()  # type: ignore[no-untyped-call,unused-ignore]
    return shell


def _input_of(file: str) -> str:
    """Return what IPython calls the cell that a code object's file stands for, such as "In[7]"."""
    named = getattr(getattr(_shell(), "compile", None), "format_code_name", lambda file: None)
    words = named(file)  # ("Cell", "In[7]"), since IPython 8
    return words[1] if words else ""


def _by_input(clash: Clash) -> Clash:
    """Name the cell of a clash by its number, as IPython's own traceback does, not by a file."""
    named = _input_of(clash.file)
    return replace(clash, file=named) if named else clash


def _cells() -> list[str]:
    """Return the cells that were executed, in order: the first one is In[1]."""
    return list(_shell().user_ns.get("In", ()))[1:]


def _tell_of_cells(console: Console, error: BaseException) -> None:
    """Print in which cells the operands got their places, by reading those that were executed."""
    from . import explain
    from .reading.config import load

    told = ["Traceback (most recent call last):"]
    for frame, line in traceback.walk_tb(error.__traceback__):
        number = re.fullmatch(r"In\[(\d+)\]", _input_of(frame.f_code.co_filename))
        if number is not None:
            told.append(f'  File "{_NOTEBOOK}:cell {number[1]}", line {line}, in <module>')
    told += traceback.format_exception_only(error)
    project = _notebook(_cells())
    found = explain.explain("\n".join(told), project, load(["."]))
    if found is None or not found.path:
        return

    def where(origin: Origin) -> str:
        cell = project.sources[origin.path].cell_of(origin.span.line) or (0, 0)
        return f"In[{cell[0] + 1}]:{cell[1]}"

    _tell_origins(console, found, project, where)


def _offer(console: Console) -> None:
    """Show how the cells that were executed would be repaired, and put that into the next one."""
    outcome = repaired(_cells())
    changed = _changed(outcome)
    if not changed:
        console.print("no repair was found in the cells that were run")
        return
    from .report import diff

    for number, before, after in changed:
        console.print(f"In[{number + 1}]", style="bold")
        old, new = before.split("\n"), after.split("\n")
        for hunk in diff.hunks(old, new):
            diff.show_hunk(console, hunk, old, new)
    _shell().set_next_input("\n\n".join(after for *_, after in changed), replace=False)
    cells_ = "cell" if len(changed) == 1 else "cells"
    console.print(f"the next input has the repaired {cells_}: run it in place of the old")


def _notebook(cells: list[str]) -> Project:
    """Return a project of one notebook that has these cells."""
    from .reading import source
    from .reading.project import Project

    code: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one}
        for one in cells
    ]
    notebook = {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Project([source.from_bytes(json.dumps(notebook).encode(), _NOTEBOOK)])


def repaired(cells: list[str]) -> Outcome:
    """Return what `fix` makes of cells in the order in which they were executed."""
    from .migration import migrate
    from .reading.config import load

    return migrate.migrate(_notebook(cells), load(["."]))


def _changed(outcome: Outcome) -> list[tuple[int, str, str]]:
    """Return the cells that a repair changes: their number from 0, old and new text."""
    if not outcome.changes:
        return []
    before, after = outcome.originals[_NOTEBOOK], outcome.sources[_NOTEBOOK]
    old, new = before.cells(before.text), after.cells(after.text)
    return [(number, old[number], text) for number, text in new.items() if old.get(number) != text]
