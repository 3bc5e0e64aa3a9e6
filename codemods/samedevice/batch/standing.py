"""How requests stand, in words: what one waits for, and whether it may be merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from .record import Record

STANDINGS = {
    "ready": "can be merged",
    "review": "waits for a review",
    "changes": "a reviewer asks for changes",
    "running": "its checks run",
    "failing": "a check fails",
    "conflicts": "conflicts with its target; `samedevice batch update` makes it anew",
    "behind": "its target has moved; `samedevice batch update` makes it anew",
    "blocked": "the forge does not let it be merged",
    "touched": "somebody added commits to its branch",
    "draft": "is a draft",
    "unknown": "the forge has not said yet",
    "open": "is open, and was not looked at since; `samedevice batch requests` does",
    "merged": "is merged",
    "closed": "was closed unmerged",
}
"""Each word that `standing` returns, and what it says of a request; the open ones come first."""

CHECKS = ("failing", "running")
REVIEW = ("changes", "review")


def standing(record: Record) -> str:
    """Return one of `STANDINGS` for a record's request: what is first in its way, or ""."""
    request = record.pull_request
    if request is None:
        return ""
    return request.state if request.state != "open" else next(iter(_in_its_way(record)), "ready")


def obstacle(record: Record, passed_over: Collection[str] = ()) -> str:
    """Return why a record's open request is not to be merged, "" where it may be."""
    for word in _in_its_way(record):
        if word not in passed_over:
            why = record.pull_request.why if record.pull_request else ""
            return f"{STANDINGS[word]}: {why}" if word == "blocked" and why else STANDINGS[word]
    return ""


def counts(records: Iterable[Record]) -> dict[str, int]:
    """Return how many requests stand how, in the order of `STANDINGS`."""
    found = Counter(filter(None, map(standing, records)))
    return {word: found[word] for word in STANDINGS if found[word]}


def _in_its_way(record: Record) -> list[str]:
    """Return all that is in the way of a record's open request, what weighs most first."""
    request = record.pull_request
    assert request is not None
    obstacles = {
        "touched": bool(request.head and record.commit and request.head != record.commit),
        "draft": request.draft,
        "conflicts": request.merge == "conflicts",
        "failing": request.checks == "failed",
        "changes": request.review == "changes",
        "running": request.checks == "running",
        "review": request.review == "wanted",
        "behind": request.merge == "behind",
        "blocked": request.merge == "blocked",
        "unknown": request.merge == "unknown",
        "open": request.merge == "",
    }
    return [word for word, there in obstacles.items() if there]
