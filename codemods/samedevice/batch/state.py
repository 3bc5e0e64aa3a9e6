"""What a batch knows, on disk: SQLite, and beside it the patches and lists of changes.

One row for each repository of the list, and one for each attempt at it. A row is written in one
transaction after the files that it names, so a process that is killed at any point leaves either
the row before a phase or the one after it. (Losing power may cost the rows of the last seconds,
never the database; `resume` then does that work again.)
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..migration import write
from ..reading.config import ConfigError
from .record import Outcome, Record, Repository

SCHEMA = 1

_TABLES = """
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,      -- as JSON, so that any name fits
    entry TEXT NOT NULL             -- Repository as JSON
);
CREATE TABLE attempt (
    repository INTEGER NOT NULL REFERENCES repository (id),
    number INTEGER NOT NULL,
    phase TEXT NOT NULL,            -- the last one that was finished
    outcome TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    seconds REAL NOT NULL,
    versions TEXT NOT NULL,
    error TEXT NOT NULL,
    record TEXT NOT NULL,           -- Record as JSON
    PRIMARY KEY (repository, number)
);
CREATE INDEX attempt_outcome ON attempt (outcome, ended, repository, number);
CREATE INDEX attempt_ended ON attempt (ended);
CREATE VIEW latest AS
    SELECT * FROM attempt AS one WHERE NOT EXISTS (
        SELECT 1 FROM attempt AS other
        WHERE other.repository = one.repository AND other.number > one.number
    );
"""


class State:
    """The state of one batch. A context manager; every method may raise `ConfigError`.

    One process writes at a time (`lock`), any number may read. Used by one thread.
    """

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self.folder = folder
        self._database = database
        self._guard: sqlite3.Connection | None = None

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        if self._guard is not None:
            self._guard.close()

    def lock(self) -> None:
        """Keep other processes from running this batch until this one ends, however it ends."""
        if self._guard is not None:
            return
        guard = sqlite3.connect(self.folder / "lock.sqlite", timeout=0.2, isolation_level=None)
        try:
            guard.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            guard.close()
            raise ConfigError(
                f"{self.folder}: another process is running this batch; "
                "`samedevice batch status` shows how far it is"
            ) from None
        self._guard = guard

    def is_locked(self) -> bool:
        """Tell whether another process runs this batch."""
        guard = sqlite3.connect(self.folder / "lock.sqlite", timeout=0, isolation_level=None)
        try:
            guard.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        finally:
            guard.close()
        return False

    def last_end(self) -> str:
        """Return when the last attempt ended, "" when none did."""
        row = self._one("SELECT max(ended) FROM attempt")
        return str(row[0] or "") if row else ""

    def setting(self, key: str) -> Any:
        """Return a setting of the batch, None when it has none."""
        row = self._one("SELECT value FROM setting WHERE key = ?", key)
        return None if row is None else json.loads(row[0])

    def set(self, key: str, value: Any) -> None:
        """Keep a setting of the batch."""
        with self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO setting VALUES (?, ?)",
                (key, json.dumps(value)),
            )

    def add(self, repositories: Iterable[Repository]) -> None:
        """Add the repositories of the list."""
        with self._database:
            self._database.executemany(
                "INSERT INTO repository (name, entry) VALUES (?, ?)",
                ((json.dumps(one.name), json.dumps(asdict(one))) for one in repositories),
            )

    def save(self, record: Record, files: Mapping[str, bytes] | None = None) -> None:
        """Write a record in the place of what was there of its attempt, and first its files."""
        for name, data in (files or {}).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write.replace(str(path), data)
        row = self._one("SELECT id FROM repository WHERE name = ?", _key(record))
        if row is None:
            raise ConfigError(f"{record.repository.name!r} is not in this batch")
        with self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row[0],
                    record.attempt,
                    record.phase.value,
                    record.outcome.value,
                    record.started,
                    record.ended,
                    sum(seconds for name, seconds in record.seconds.items() if name != "infer"),
                    json.dumps(record.versions),
                    record.error.encode("utf-8", "backslashreplace").decode(),
                    record.dump(),
                ),
            )

    def file(self, name: str) -> bytes | None:
        """Return one of the batch's files; None when it is not there."""
        try:
            return (self.folder / name).read_bytes() if name else None
        except OSError:
            return None

    def repositories(self) -> Iterator[tuple[Repository, Record | None]]:
        """Yield the repositories in the list's order, each with its latest record."""
        query = """SELECT repository.id, entry, record FROM repository
            LEFT JOIN latest ON latest.repository = repository.id
            WHERE repository.id > ? ORDER BY repository.id LIMIT 500"""
        last = 0
        while rows := self._all(query, last):  # in pages: others write meanwhile
            last = rows[-1][0]
            for _, entry, record in rows:
                known = None if record is None else Record.load(record)
                yield Repository(**json.loads(entry)), known

    def attempt(self, repository: Repository, number: int) -> Record | None:
        """Return one attempt at a repository, None where there was none."""
        row = self._one(
            """SELECT record FROM attempt JOIN repository ON repository.id = attempt.repository
            WHERE name = ? AND number = ?""",
            json.dumps(repository.name),
            number,
        )
        return None if row is None else Record.load(row[0])

    def records(self, every: bool = False) -> Iterator[Record]:
        """Yield the latest record of each repository, or those of all attempts, in order."""
        table = "attempt" if every else "latest"
        query = f"""SELECT repository, number, record FROM {table}
            WHERE (repository, number) > (?, ?) ORDER BY repository, number LIMIT 500"""
        last = (0, 0)
        while rows := self._all(query, *last):
            last = rows[-1][:2]
            for _, _, record in rows:
                yield Record.load(record)

    def campaign(self) -> tuple[int, str]:
        """Return the number of the batch's last run over all repositories, and when it began."""
        number, begun = self.setting("campaign") or (1, "")
        return int(number), str(begun)

    def counts(self) -> dict[str, int]:
        """Return how many repositories stand how, by outcome; "waiting" have no record yet.

        Those of an earlier run over all of them wait, too.
        """
        rows = self._all(
            "SELECT outcome, count(*) FROM latest WHERE started >= ? GROUP BY outcome",
            self.campaign()[1],
        )
        found = {str(outcome): int(count) for outcome, count in rows}
        total = self.total()
        return {"waiting": total - sum(found.values()), **found}

    def total(self) -> int:
        """Return how many repositories the list has."""
        row = self._one("SELECT count(*) FROM repository")
        return int(row[0]) if row else 0

    def ended(self, since: str) -> int:
        """Return how many attempts ended after a time."""
        row = self._one("SELECT count(*) FROM attempt WHERE ended > ?", since)
        return int(row[0]) if row else 0

    def running(self) -> list[Record]:
        """Return the records that are worked on, or were when the batch was killed."""
        rows = self._all("SELECT record FROM latest WHERE outcome = ?", Outcome.RUNNING.value)
        return [Record.load(row[0]) for row in rows]

    def waits(self) -> dict[str, int]:
        """Return why requests are not opened yet, and how many for each reason."""
        found = Counter(
            one.waits for one in self.records() if one.waits and one.outcome is Outcome.MIGRATED
        )
        return dict(found.most_common())

    def last_failures(self, count: int) -> list[Record]:
        """Return the failed and the held back, the latest first."""
        rows = self._all(
            "SELECT record FROM latest WHERE outcome IN (?, ?) ORDER BY ended DESC LIMIT ?",
            Outcome.FAILED.value,
            Outcome.HELD.value,
            count,
        )
        return [Record.load(row[0]) for row in rows]

    def _one(self, query: str, *values: Any) -> Any:
        return self._database.execute(query, values).fetchone()

    def _all(self, query: str, *values: Any) -> list[Any]:
        return self._database.execute(query, values).fetchall()


def create(folder: Path) -> State:
    """Begin a batch in a folder; raises `ConfigError` when there is one already."""
    path = folder / "batch.sqlite"
    if path.exists():
        raise ConfigError(
            f"{folder}: there is a batch already; `samedevice batch resume` goes on with it, and "
            "--folder names another place"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n")
        new = folder / f"batch.sqlite.{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        database = sqlite3.connect(new)
        with database:
            database.executescript(_TABLES)
            database.execute("INSERT INTO setting VALUES ('schema', ?)", (json.dumps(SCHEMA),))
        database.close()
        os.rename(new, path)  # a batch is there whole or not at all
    except OSError as error:
        raise ConfigError(f"{folder}: {error.strerror}") from None
    return open_(folder)


def open_(folder: Path) -> State:
    """Open the batch in a folder; raises `ConfigError` when there is none that can be read."""
    path = folder / "batch.sqlite"
    if not path.is_file():
        raise ConfigError(f"{folder}: there is no batch; `samedevice batch run` begins one")
    try:
        database = sqlite3.connect(path, timeout=30)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        state = State(folder, database)
        schema = state.setting("schema")
    except sqlite3.Error as error:
        raise ConfigError(f"{path}: {error}") from None
    if schema != SCHEMA:
        state.__exit__()
        raise ConfigError(
            f"{path}: of version {schema}, and this samedevice has version {SCHEMA}: "
            "go on with the samedevice that began it, or name another --folder"
        )
    return state


def _key(record: Record) -> str:
    return json.dumps(record.repository.name)
