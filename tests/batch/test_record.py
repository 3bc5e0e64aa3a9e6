"""A record goes to JSON and comes back as it was."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from samedevice.batch.record import (
    SCHEMA,
    FileChange,
    Left,
    Outcome,
    Phase,
    Problem,
    Proof,
    PullRequest,
    Record,
    Repository,
    Run,
)


def full() -> Record:
    return Record(
        Repository("group/näme\u2028", "https://forge.example/x.git", options={"unsafe": True}),
        attempt=3,
        phase=Phase.PROVE,
        outcome=Outcome.HELD,
        reason="its diff has 900 lines",
        seconds={"clone": 0.5},
        found={"batch-not-moved": 2},
        not_fixed=[Left("a.py", 3, "batch-not-moved", "x", "no idea")],
        problems=[Problem("b.py", None, "cannot be decoded")],
        changed=[FileChange("a.py", 3, 2)],
        proof=Proof(
            "tests", "pytest", True, False, None, Run("passed", 0, 1.5, "ok"), ("no network",)
        ),
        pull_request=PullRequest("https://forge.example/x/1", 1),
        cut={"not_fixed": 5},
    )


def test_a_record_survives_json() -> None:
    record = full()
    line = record.dump()
    assert "\n" not in line and line.isascii()
    assert Record.load(line) == record


def test_every_field_is_in_the_json() -> None:
    data = full().to_json()
    assert data.pop("schema") == SCHEMA
    assert set(data) == {item.name for item in fields(Record)}


def test_what_a_later_version_adds_is_passed_over() -> None:
    data = full().to_json()
    data["more"] = data["repository"]["more"] = data["proof"]["more"] = 1
    assert Record.from_json(json.loads(json.dumps(data))) == full()


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"schema": 99}', '{"schema": 1}', '{"schema": 1, "repository": 1}']
)
def test_what_is_no_record_is_said_to_be_none(line: str) -> None:
    with pytest.raises(ValueError, match="record"):
        Record.load(line)


def test_phases_have_an_order() -> None:
    assert Phase.CLONE.number < Phase.COMMIT.number < Phase.PULL_REQUEST.number
