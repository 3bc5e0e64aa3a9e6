"""What all forms of the report need: totals, and the files that belong to a record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .record import Outcome, Record
from .standing import STANDINGS, standing
from .trend import VERDICTS, verdict


@dataclass
class Totals:
    """Sums over the records of a batch; findings by rule, seconds of all workers together."""

    repositories: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    proofs: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    fixed: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    files: int = 0
    lines: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    pull_requests: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    started: str = ""
    ended: str = ""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Totals:
        """Add up records."""
        total = cls()
        for one in records:
            total.repositories += 1
            total.outcomes[one.outcome.value] += 1
            total.proofs[proof_word(one)] += 1
            total.found.update(one.found)
            total.fixed.update(one.fixed)
            total.left.update(one.left)
            total.files += one.files
            total.lines += one.lines
            total.changed += len(one.changed) + one.cut.get("changed", 0)
            total.added += one.added
            total.removed += one.removed
            total.pull_requests += one.pull_request is not None
            total.verdicts[verdict(one)] += 1
            total.requests[standing(one)] += one.pull_request is not None
            total.waits[one.waits] += bool(one.waits) and one.outcome is Outcome.MIGRATED
            total.seconds += seconds(one)
            if one.started:
                total.started = min(total.started or one.started, one.started)
            total.ended = max(total.ended, one.ended)
        total.requests, total.waits = +total.requests, +total.waits
        return total

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON's types."""
        # not `asdict`, which makes a Counter of a Counter's pairs
        return {**vars(self), "seconds": round(self.seconds, 1)}


def counted(number: int, noun: str) -> str:
    """Return a number of things, in words: "1 file", "2,000 repositories"."""
    if number != 1:
        ending = "es" if noun.endswith(("x", "ch")) else "s"
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else noun + ending
    return f"{number:,} {noun}"


def requests(totals: Totals) -> str:
    """Return how many requests stand how, in words; "" without any."""
    order = [word for word in STANDINGS if totals.requests[word]]
    return ", ".join(f"{totals.requests[word]:,} {word}" for word in order)


def verdicts(totals: Totals) -> str:
    """Return how many repositories have which verdict, in words."""
    order = [word for word in VERDICTS if totals.verdicts[word]]
    return ", ".join(f"{totals.verdicts[word]:,} {word}" for word in order)


def seconds(record: Record) -> float:
    """Return how long a record's attempt worked; "infer" is a part of "fix"."""
    return sum(spent for phase, spent in record.seconds.items() if phase != "infer")


def proof_word(record: Record) -> str:
    """Return what the proof showed: "passed", "broken", "no proof" or "not run"."""
    if record.proof is None:
        return "not run"
    if record.proof.passed:
        return "passed"
    return "broken" if record.proof.broken else "no proof"


def rules_by_count(totals: Totals) -> list[str]:
    """Return the rules that found something, the most frequent first."""
    found = totals.found + totals.fixed
    return sorted(found, key=lambda rule: (-found[rule], rule))


def patch(record: Record, folder: Path) -> str | None:
    """Return a record's patch as text; None without one."""
    data = _file(record.patch, folder)
    return None if data is None else data.decode("utf-8", "replace")


def reasons(record: Record, folder: Path) -> list[dict[str, Any]]:
    """Return the changes of a record as path, line, rule and why; [] where they are not known."""
    data = _file(record.changes, folder)
    if data is None:
        return []
    try:
        changed = json.loads(data)["changed"]
        return [
            {key: one[key] for key in ("path", "line", "rule", "why")}
            for one in changed
            if one["rule"]
        ]
    except (ValueError, KeyError, TypeError):
        return []  # somebody edited the file; the patch tells the same without the reasons


def has_map(record: Record, folder: Path) -> bool:
    """Tell whether a record's map is there, for a link to it."""
    path = _inside(record.map, folder)
    return path is not None and path.is_file()


def _file(name: str, folder: Path) -> bytes | None:
    """Return a file under the folder; None for one that is missing or lies elsewhere."""
    path = _inside(name, folder)
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None


def _inside(name: str, folder: Path) -> Path | None:
    """Return a path under the folder; None without one and for one that leads elsewhere."""
    try:
        path = (folder / name).resolve()
        return path if name and path.is_relative_to(folder.resolve()) else None
    except (OSError, ValueError):
        return None
