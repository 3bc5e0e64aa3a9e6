"""How a batch goes from run to run: what is proved, what is incomplete, what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from .record import Outcome, Record

VERDICTS = {
    "proved": "all that was found is fixed, and the proof passed",
    "unproved": "all that was found is fixed, and no proof shows it",
    "incomplete": "something is left that no fix was made for",
    "refused": "fixed, and held back: a proof is broken, or the policy says so",
    "clean": "nothing was found",
    "unknown": "not worked on to the end",
}
"""Each word that `verdict` returns, and what it says of a repository's programs."""


@dataclass
class Standing:
    """Where a batch stood after one of its runs over all repositories; `begun` is its first start.

    `reused` counts the repositories whose fix was taken over from an earlier attempt.
    """

    run: int
    begun: str = ""
    verdicts: Counter[str] = field(default_factory=Counter)
    found: int = 0
    fixed: int = 0
    left: int = 0
    reused: int = 0
    merged: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON's types."""
        return {**vars(self), "verdicts": dict(self.verdicts)}


def verdict(record: Record) -> str:
    """Return one of `VERDICTS` for the programs of a record's repository."""
    if record.outcome is Outcome.HELD:
        return "refused"
    if record.outcome not in (Outcome.MIGRATED, Outcome.UNCHANGED):
        return "unknown"
    if any(record.left.values()):
        return "incomplete"
    if not any(record.fixed.values()):
        return "clean"
    return "proved" if record.proof is not None and record.proof.passed else "unproved"


def trend(attempts: Iterable[Record]) -> list[Standing]:
    """Return where a batch stood after each run, the first one first.

    `attempts` are all of them, those of one repository beside each other and in order. What a run
    did not come to counts as the run before left it.
    """
    rows: dict[int, Standing] = {}
    last = [
        list(_of_one(repository))
        for _, repository in groupby(attempts, lambda one: one.repository.name)
    ]
    for run in range(1, max((one.run for each in last for one in each), default=0) + 1):
        row = rows[run] = Standing(run)
        for each in last:
            upto = [one for one in each if one.run <= run]
            if upto:
                _add(row, upto[-1])
    return list(rows.values())


@dataclass(frozen=True)
class _Seen:
    """What of an attempt the trend needs: a million records do not fit in memory."""

    run: int
    started: str
    verdict: str
    counts: tuple[int, int, int]
    reused: bool
    merged: bool


def _of_one(attempts: Iterable[Record]) -> Iterator[_Seen]:
    """Yield the last attempt of each run."""
    for _, same in groupby(attempts, lambda one: one.run):
        *_, one = same
        counts = (sum(one.found.values()), sum(one.fixed.values()), sum(one.left.values()))
        merged = one.pull_request is not None and one.pull_request.state == "merged"
        yield _Seen(one.run, one.started, verdict(one), counts, "fix" in one.reused, merged)


def _add(row: Standing, one: _Seen) -> None:
    row.verdicts[one.verdict] += 1
    row.found += one.counts[0]
    row.fixed += one.counts[1]
    row.left += one.counts[2]
    row.merged += one.merged
    if one.run == row.run:
        row.begun = min(row.begun or one.started, one.started)
        row.reused += one.reused
