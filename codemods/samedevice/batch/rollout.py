"""How fast requests are opened: windows of time, a rate, and how many may be open.

What may not leave yet stays where it is, migrated and not delivered, with the reason in its record;
the next `samedevice batch resume` looks again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from ..reading.config import ConfigError
from .policy import read_toml
from .record import Record

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {"minute": 60, "hour": 3600, "day": 86400}


@dataclass(frozen=True)
class Window:
    """When requests may be opened: on these days (0 is Monday), from `start` until before `end`.

    Where `end` is not after `start`, it is that of the next day. At most `rate` in `seconds`.
    """

    days: tuple[int, ...] = tuple(range(7))
    start: time = time(0)
    end: time = time(0)
    rate: int | None = None
    seconds: int = 3600

    def holds(self, at: datetime) -> bool:
        """Tell whether a time, in the rollout's zone, is in it."""
        if self.start < self.end:
            return at.weekday() in self.days and self.start <= at.time() < self.end
        late = at.weekday() in self.days and at.time() >= self.start
        return late or ((at.weekday() - 1) % 7 in self.days and at.time() < self.end)


@dataclass(frozen=True)
class Rollout:
    """When requests are opened, and how many may be open: in all, and for each team.

    A team is a code owner of the changed files; without code owners it is the group that the
    repository is in. Without windows it is always.
    """

    windows: tuple[Window, ...] = ()
    zone: str = "UTC"
    open: int | None = None
    open_per_team: int | None = None

    @classmethod
    def read(cls, table: Mapping[str, Any], where: str) -> Rollout:
        """Return what a `[rollout]` table says; raises `ConfigError`, which names `where`."""
        _known(table, ("zone", "open", "open-per-team", "window"), where)
        zone = table.get("zone", "UTC")
        if not isinstance(zone, str) or _zone(zone) is None:
            raise ConfigError(f"{where}: zone: there is no time zone {zone!r}")
        for key in ("open", "open-per-team"):
            number = table.get(key)
            if number is not None and (type(number) is not int or number < 1):
                raise ConfigError(f"{where}: {key}: expected a whole number above 0")
        windows = table.get("window", [])
        if not isinstance(windows, list) or not all(isinstance(one, dict) for one in windows):
            raise ConfigError(f"{where}: expected [[rollout.window]] tables")
        return cls(
            tuple(_window(one, f"{where}: [[rollout.window]]") for one in windows),
            zone,
            table.get("open"),
            table.get("open-per-team"),
        )

    def next_opening(self, now: datetime) -> datetime | None:
        """Return the next minute at which a window is open; None where none opens in a week."""
        at = now.astimezone(_zone(self.zone)).replace(second=0, microsecond=0)
        for _ in range(8 * 24 * 60):
            at += timedelta(minutes=1)
            if any(one.holds(at) and one.rate != 0 for one in self.windows):
                return at
        return None


def of_file(path: str) -> dict[str, Any]:
    """Return the `[rollout]` table of a policy's file, {} for none; raises `ConfigError`."""
    table = read_toml(path).get("rollout", {})
    Rollout.read(table, f"{path}: [rollout]")
    return dict(table)


class Gate:
    """Lets requests out as a rollout says; knows those that are open and when they were opened."""

    def __init__(self, rollout: Rollout, records: Iterable[Record]) -> None:
        self._rollout = rollout
        self._open: Counter[str] = Counter()
        self._all = 0
        opened = []
        for record in records:
            if record.pull_request is not None and record.pull_request.state == "open":
                self._count(record)
            if record.asked:
                opened.append(datetime.fromisoformat(record.asked))
        self._opened = deque(sorted(opened))

    def why_not(self, record: Record, now: datetime | None = None) -> str:
        """Return why a record's request has to wait; "" (and it counts as open) where not."""
        now = now or datetime.now(timezone.utc)
        rollout = self._rollout
        why = self._late(now)
        if not why and rollout.open is not None and self._all >= rollout.open:
            why = "1 request is" if rollout.open == 1 else f"{rollout.open:,} requests are"
            why += " open, as many as may be"
        if not why and rollout.open_per_team is not None:
            full = [team for team in teams(record) if self._open[team] >= rollout.open_per_team]
            if full:
                most = rollout.open_per_team
                has = "1 open request" if most == 1 else f"{most:,} open requests"
                why = f"{full[0]} has {has}, as many as a team may have"
        if not why:
            self._count(record)
            self._opened.append(now)
        return why

    def _late(self, now: datetime) -> str:
        rollout = self._rollout
        if not rollout.windows:
            return ""
        here = now.astimezone(_zone(rollout.zone))
        open_ = [one for one in rollout.windows if one.holds(here)]
        for one in open_:
            since = now - timedelta(seconds=one.seconds)
            if one.rate is None or sum(at > since for at in self._opened) < one.rate:
                return ""
        if open_:
            unit = next(name for name, size in _UNITS.items() if size == open_[0].seconds)
            return f"{open_[0].rate:,} opened in the last {unit}, as many as may be"
        opens = rollout.next_opening(now)
        when = (
            f"the next opens on {opens:%a %Y-%m-%d %H:%M} {rollout.zone}" if opens else "none opens"
        )
        return f"no window is open; {when}"

    def _count(self, record: Record) -> None:
        self._all += 1
        self._open.update(teams(record))


def teams(record: Record) -> Sequence[str]:
    """Return whose requests a record's one counts for."""
    group = record.repository.name.rpartition("/")[0] or record.repository.name
    return record.owners or [group]


def _window(table: Mapping[str, Any], where: str) -> Window:
    _known(table, ("days", "from", "to", "rate"), where)
    days = table.get("days", list(_DAYS))
    if not isinstance(days, list) or not days or not set(map(str, days)) <= set(_DAYS):
        raise ConfigError(f"{where}: days: expected some of {', '.join(_DAYS)}")
    rate, seconds = _rate(table.get("rate"), where)
    start, end = (_time(table.get(key, "00:00"), f"{where}: {key}") for key in ("from", "to"))
    return Window(tuple(_DAYS.index(day) for day in days), start, end, rate, seconds)


def _time(text: Any, where: str) -> time:
    try:
        return time.fromisoformat(text)
    except (TypeError, ValueError):
        raise ConfigError(f'{where}: expected a time, "09:30"') from None


def _rate(text: Any, where: str) -> tuple[int | None, int]:
    if text is None:
        return None, 3600
    number, _, unit = str(text).partition("/")
    if not number.isdecimal() or unit not in _UNITS:
        raise ConfigError(f'{where}: rate: expected "10/hour", or of a minute or a day')
    return int(number), _UNITS[unit]


def _zone(name: str) -> tzinfo | None:
    if name == "UTC":
        return timezone.utc  # also where no table of time zones is installed
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def _known(table: Any, keys: Sequence[str], where: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: expected a table")
    for key in table:
        if key not in keys:
            raise ConfigError(f"{where}: {key}: no such setting; there are {', '.join(keys)}")
