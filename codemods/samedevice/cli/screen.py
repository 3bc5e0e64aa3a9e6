"""What commands print beside their reports: errors, progress, numbers of things."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from ..finding import UNDECIDED

if TYPE_CHECKING:
    from rich.console import Console

    from ..finding import Finding
    from ..migration.check import Step
    from ..reading.project import Project
    from ..reading.source import Source, SourceError


LONG = 200  # files from which a run shows its progress
LARGE = 100_000  # and characters in fewer files


NARROW = 60  # columns from which a name and what is said about it stand side by side


_quiet, _verbose = False, False


def listen(quiet: bool = False, verbose: bool = False) -> None:
    """Take how much this command is to say; every command begins with neither flag."""
    global _quiet, _verbose
    _quiet, _verbose = quiet, verbose and not quiet


def say(line: str) -> None:
    """Print a line of a summary on standard error, unless --quiet was given."""
    if not _quiet:
        typer.echo(line, err=True)


def is_quiet() -> bool:
    """Tell whether only errors and what was asked for are printed."""
    return _quiet


def unfollowed(
    findings: Iterable[Finding], sources: Mapping[str, Source], *, listed: bool = False
) -> str:
    """Return what is said of values that could not be followed, "" if there are none.

    Which command lists them is left out where they are `listed` already.
    """
    found = [finding for finding in findings if finding.rule == UNDECIDED]
    if not found:
        return ""
    from ..report.place import short_place

    found.sort(key=lambda finding: finding.left_to_callers)  # nothing waits for these
    places = list(dict.fromkeys(short_place(each.path, each.span, sources) for each in found))
    shown = ", ".join(places[:3]) + (", ..." if len(places) > 3 else "")
    more = "" if listed else " (`samedevice check --undecided` lists them)"
    callers = sum(finding.left_to_callers for finding in found)
    part = f" ({callers:,} left to callers)" if callers else ""
    return f"{len(found):,} undecided{part}: {shown}{more}"


def detail(line: str) -> None:
    """Print a line that only --verbose asks for."""
    if _verbose:
        typer.echo(line, err=True)


class Clock:
    """Tells with --verbose how long each step took."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def tell(self, step: str, what: str) -> None:
        """Print what was done since the last step, and how long that took."""
        now = time.perf_counter()
        detail(f"{step} {what} in {now - self._last:.2f} s")
        self._last = now


def make_console(stderr: bool = False) -> Console:
    """Return a console that prints texts as they are."""
    from rich.console import Console

    # Markup and emoji codes stay text: what is printed is mostly somebody's code.
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def track(paths: Sequence[str], title: str) -> Iterator[str]:
    """Yield `paths`, with a progress bar on a terminal when there are many."""
    if len(paths) < LONG or not _shown():
        yield from paths
        return
    from .progress import bar

    with bar() as progress:
        yield from progress.track(paths, description=title)


@contextlib.contextmanager
def working(title: str, project: Project) -> Iterator[Step]:
    """Show on a terminal how far a long run is; what it yields is called with the number of files
    done."""
    if not _is_long(project) or not _shown():
        yield lambda files: None
        return
    from .progress import Rounds, bar

    with bar() as progress:
        yield Rounds(progress, title, len(project.sources)).step


def _is_long(project: Project) -> bool:
    """Tell whether work on a project may take longer than a second or two."""
    sources = project.sources.values()
    return len(sources) >= LONG or sum(len(source.text) for source in sources) >= LARGE


def _shown() -> bool:
    """Tell whether a person sees standard error, and did not ask for quiet."""
    return not _quiet and make_console(stderr=True).is_terminal


def tell_errors(errors: Sequence[SourceError]) -> None:
    """Print what could not be worked on, and what helps."""
    from ..report.place import printable
    from ..report.text import show_errors

    show_errors(make_console(stderr=True), errors)
    old = [error.path for error in errors if error.message.startswith(_PYTHON_2)]
    if old:
        name = printable(old[0])
        typer.echo(f"Python 2? `samedevice modernize {name}` turns it into Python 3", err=True)


#: What Python 3 says to code that was written for Python 2.
_PYTHON_2 = (
    "Missing parentheses in call to",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
)


def looked_at(sources: Collection[str], errors: Sequence[SourceError]) -> int:
    """Return how many files were read and parsed."""
    return len(set(sources) - {error.path for error in errors})


def count(number: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def write_report(path: str, text: str) -> None:
    """Write a report to a file; raises `ConfigError` when that cannot be done."""
    from ..reading.config import ConfigError

    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"--report {path}: cannot be written: {error.strerror}") from None
