"""Records -> the report of a batch: a page, Markdown, JSON, CSV; and the text of a pull request."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..migration import write as write_
from ..reading.source import printable
from . import report_markdown, report_page
from .record import Outcome, Record
from .report_data import Totals, proof_word, seconds
from .standing import standing
from .trend import Standing, trend, verdict

_ORDER = (
    Outcome.FAILED,
    Outcome.HELD,
    Outcome.RUNNING,
    Outcome.MIGRATED,
    Outcome.ROLLED_BACK,
    Outcome.SKIPPED,
    Outcome.UNCHANGED,
)
_COLUMNS = (
    *("repository", "outcome", "phase", "reason", "error", "found", "fixed", "left", "files"),
    *("added", "removed", "proof", "seconds", "branch", "commit", "pull_request", "attempt"),
    *("run", "verdict", "standing", "waits"),
)


def write(records: Iterable[Record], folder: Path, attempts: Iterable[Record] = ()) -> list[Path]:
    """Write report.html, report.md, report.json and report.csv to the batch's folder.

    `records` are the latest of each repository, `attempts` all of them, for the trend.

    The `patch` and `changes` of the records are read from there; one that is missing is left out.
    Returns the files, the page first. Raises `SourceError` when one cannot be written.
    """
    listed = sorted(records, key=lambda one: (_ORDER.index(one.outcome), one.repository.name))
    totals = Totals.of(listed)
    runs = trend(attempts)
    written = {
        "report.html": report_page.page(listed, totals, folder, runs),
        "report.md": report_markdown.summary(listed, totals, runs),
        "report.json": "".join(_json(listed, totals, runs)),
        "report.csv": _csv(listed),
    }
    for name, text in written.items():
        write_.replace(str(folder / name), text.encode("utf-8", "backslashreplace"))
    return [folder / name for name in written]


def body(record: Record, folder: Path, limit: int = 60_000) -> str:
    """Return the text of a pull request for a record, in Markdown of at most `limit` characters.

    The reasons of the changes are read from the record's `changes` in the batch's folder.
    """
    return report_markdown.body(record, folder, limit)


def _json(records: list[Record], totals: Totals, runs: list[Standing]) -> Iterator[str]:
    """Yield {"version", "totals", "runs", "records"}: a record to a line, as in the JSON lines."""
    told = {"totals": totals.to_json(), "runs": [one.to_json() for one in runs]}
    yield f'{{"version": 1, {json.dumps(told)[1:-1]}, "records": [\n'
    for number, record in enumerate(records):
        yield record.dump() + ("," if number < len(records) - 1 else "") + "\n"
    yield "]}\n"


def _csv(records: Iterable[Record]) -> str:
    """Return one row for each record."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for one in records:
        row = (
            one.repository.name,
            one.outcome.value,
            one.phase.value,
            one.reason,
            one.error,
            sum(one.found.values()),
            sum(one.fixed.values()),
            sum(one.left.values()),
            len(one.changed),
            one.added,
            one.removed,
            proof_word(one),
            round(seconds(one), 1),
            one.branch,
            one.commit,
            one.pull_request.url if one.pull_request else "",
            one.attempt,
            one.run,
            verdict(one),
            standing(one),
            one.waits,
        )
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    """Return a value that a spreadsheet takes for text where it is text, and for no formula."""
    if isinstance(value, str):
        value = "\t".join(map(printable, value.split("\t")))
    if isinstance(value, str) and value.lstrip()[:1] in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"):
        return f"'{value}"
    return value
