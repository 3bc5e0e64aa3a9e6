"""How a batch stands, on a terminal: outcomes, what is worked on, rate and time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..report.place import printable
from .record import Outcome, Record

_STYLES = {
    Outcome.MIGRATED: "green",
    Outcome.UNCHANGED: "green",
    Outcome.HELD: "yellow",
    Outcome.SKIPPED: "yellow",
    Outcome.FAILED: "red",
}
_SHOWN = 12  # repositories in work, and problems, that are listed


@dataclass
class Tally:
    """How many repositories stand how.

    `done` were finished in this run, from `started` to `now` (None: it goes on). `active`: a
    process works on them.
    """

    total: int
    counts: Counter[str] = field(default_factory=Counter)
    running: dict[str, Record] = field(default_factory=dict)
    problems: list[Record] = field(default_factory=list)
    done: int = 0
    started: float = field(default_factory=time.time)
    now: float | None = None
    active: bool = True

    def take(self, record: Record) -> None:
        """Count a record as it is now."""
        name = record.repository.name
        if record.outcome is Outcome.RUNNING:
            self.running[name] = record
            return
        self.running.pop(name, None)
        self.done += 1
        self.counts[record.outcome.value] += 1
        if record.outcome.needs_attention:
            self.problems = [record, *self.problems][:_SHOWN]

    @property
    def finished(self) -> int:
        """How many repositories have a final outcome."""
        return sum(self.counts[outcome.value] for outcome in Outcome if outcome.is_final)

    @property
    def rate(self) -> float:
        """Repositories per second of this run."""
        seconds = (self.now or time.time()) - self.started
        return self.done / seconds if seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until all are done at this rate; None when that is not known."""
        rest = self.total - self.finished
        return rest / self.rate if self.rate and rest else None if rest else 0.0

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = [self._head(), self._outcomes()]
        if self.running:
            parts.append(self._running())
        if not self.active and self.finished < self.total:
            parts.append(Text("nobody works on it: `samedevice batch resume` goes on"))
        parts += [problem(record) for record in self.problems]
        return Group(*parts)

    def _head(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        told = f"{self.finished:,} of {self.total:,}"
        rate = f"{self.rate * 60:,.1f} per minute" if self.done else ""
        left = "" if not self.left or not self.active else f"{duration(self.left)} left"
        bar = ProgressBar(total=max(self.total, 1), completed=self.finished, width=30)
        grid.add_row(bar, told, rate, left)
        return grid

    def _outcomes(self) -> RenderableType:
        text = Text()
        for outcome in Outcome:
            count = len(self.running) if outcome is Outcome.RUNNING else self.counts[outcome.value]
            if count:
                text.append(f"{count:,} {outcome.value}  ", _STYLES.get(outcome, ""))
        return text

    def _running(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("repository", "after", "for"):
            table.add_column(column, no_wrap=True)
        for record in [*self.running.values()][:_SHOWN]:
            began = datetime.fromisoformat(record.started).timestamp()
            table.add_row(
                Text(printable(record.repository.name)),
                record.phase.value,
                duration((self.now or time.time()) - began),
            )
        more = len(self.running) - _SHOWN
        return Group(table, Text(f"and {more:,} more")) if more > 0 else table


def of_counts(
    total: int, counts: Mapping[str, int], running: list[Record], problems: list[Record]
) -> Tally:
    """Return the tally of a batch as its state has it."""
    tally = Tally(total, Counter(counts))
    tally.running = {record.repository.name: record for record in running}
    tally.problems = problems
    return tally


def problem(record: Record) -> Text:
    """Return one line about a repository that needs a person."""
    text = Text(f"{record.outcome.value} ", _STYLES.get(record.outcome, ""))
    why = " ".join(printable(record.error or record.reason).split())
    text.append(f"{printable(record.repository.name)}: {why}", "")
    return text


def duration(seconds: float) -> str:
    """Return a duration for people: "42 s", "3 min", "5.1 h", "12 d"."""
    seconds = max(seconds, 0.0)
    for size, unit, limit in ((1, "s", 120), (60, "min", 120), (3600, "h", 72)):
        if seconds < size * limit:
            number = seconds / size
            return f"{number:.1f} {unit}" if unit == "h" else f"{number:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"
