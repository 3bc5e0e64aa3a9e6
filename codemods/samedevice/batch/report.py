"""Records -> the report of a batch: a page, Markdown, JSON, CSV; and the text of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .record import Record

BODY = 65_536
"""The most characters that GitHub takes for a pull request's text."""


def write(records: Iterable[Record], folder: Path) -> list[Path]:
    """Write report.html, report.md, report.json and report.csv to the batch's folder.

    `patch` and `changes` of the records are read from there. Returns the files, the page first.
    """
    raise NotImplementedError


def body(record: Record, folder: Path, limit: int = BODY) -> str:
    """Return the text of a pull request for a record, in Markdown of at most `limit` characters."""
    raise NotImplementedError
