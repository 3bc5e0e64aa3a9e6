"""How far a long run is: files done of all, and how long it will take once that can be said."""

from __future__ import annotations

from collections import deque

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from .screen import make_console

_FROM = 0.1  # of all files: before that, no estimate is shown
_LOOK_BACK = 8.0  # seconds in which the estimated end must not have moved
_MOVED = 0.1  # by more than this share of what is left
_SAMPLES = 2  # a second


def bar() -> Progress:
    """Return a display with a sign of life that moves by itself, and the files done of all."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(separator=" of "),
        TextColumn("files"),
        TimeElapsedColumn(),
        Left(),
        console=make_console(stderr=True),
        transient=True,
    )


class Left(ProgressColumn):
    """The time that is left, while the estimate is stable."""

    def __init__(self) -> None:
        super().__init__()
        self._ends: deque[tuple[float, float]] = deque(maxlen=int(_LOOK_BACK * _SAMPLES) + 1)

    def render(self, task: Task) -> Text:
        """Return "about 40 s left", or nothing while there is no estimate."""
        left = self.left(task.elapsed or 0.0, task.completed, task.total or 0.0)
        if left is None:
            return Text("")
        shown = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
        return Text(f"about {shown} left", "progress.remaining")

    def left(self, elapsed: float, done: float, total: float) -> float | None:
        """Return how many seconds are left, None as long as that is a guess.

        It is one until a tenth is done, and while the end it leads to has moved by a tenth of what
        is left in the last eight seconds.
        """
        if self._ends and elapsed < self._ends[-1][0]:  # a new round
            self._ends.clear()
        if not done or done >= total or done < _FROM * total:
            return None
        end = elapsed * total / done
        if not self._ends or elapsed - self._ends[-1][0] >= 1 / _SAMPLES:
            self._ends.append((elapsed, end))
        if elapsed - self._ends[0][0] < _LOOK_BACK:
            return None
        ends = [foretold for _, foretold in self._ends]
        left = end - elapsed
        return left if max(ends) - min(ends) <= _MOVED * left else None


class Rounds:
    """Counts the files that are done; `fix` goes through all of them several times."""

    def __init__(self, progress: Progress, title: str, files: int) -> None:
        self._progress, self._title, self._files = progress, title, files
        self._round = 1
        self._task = progress.add_task(title, total=files)

    def step(self, files: int) -> None:
        """Take that so many more files are done."""
        if files and self._progress.finished:
            self._round += 1
            self._progress.reset(self._task, description=f"{self._title}, round {self._round}")
        self._progress.advance(self._task, files)
