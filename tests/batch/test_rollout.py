"""When requests may be opened, and how many."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from samedevice.batch import rollout
from samedevice.batch.record import PullRequest, Record, Repository
from samedevice.batch.rollout import Gate, Rollout
from samedevice.reading.config import ConfigError

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)


def record(name: str = "acme/one", *owners: str, state: str = "", asked: str = "") -> Record:
    request = PullRequest("u", 1, state) if state else None
    return Record(
        Repository(name, "https://x.test/a"), owners=list(owners), pull_request=request, asked=asked
    )


def read(**table: Any) -> Rollout:
    return Rollout.read({key.replace("_", "-"): value for key, value in table.items()}, "[rollout]")


def test_without_a_rollout_everything_leaves() -> None:
    gate = Gate(Rollout(), [record(state="open")] * 9)
    assert gate.why_not(record()) == ""


def test_as_many_as_may_be_open() -> None:
    gate = Gate(
        read(open=2), [record(state="open"), record(state="merged"), record(state="closed")]
    )
    assert gate.why_not(record()) == ""
    assert gate.why_not(record()) == "2 requests are open, as many as may be"


def test_a_team_is_an_owner_or_else_the_group() -> None:
    gate = Gate(read(open_per_team=1), [record("acme/a", "@acme/vision", state="open")])
    assert gate.why_not(record("acme/b", "@acme/audio", "@acme/vision")) == (
        "@acme/vision has 1 open request, as many as a team may have"
    )
    assert gate.why_not(record("acme/c", "@acme/audio")) == ""
    assert "@acme/audio has" in gate.why_not(record("acme/d", "@acme/audio"))
    assert gate.why_not(record("acme/e")) == ""
    assert gate.why_not(record("other/e")) == ""
    assert gate.why_not(record("acme/f")).startswith("acme has 1 open request")


def test_windows_in_a_time_zone() -> None:
    weekdays = {"days": ["mon", "tue"], "from": "09:00", "to": "17:00"}
    berlin = read(window=[weekdays], zone="Europe/Berlin")
    gate = Gate(berlin, [])
    assert gate.why_not(record(), MONDAY) == ""
    assert gate.why_not(record(), MONDAY.replace(hour=16)) == (  # 17:00 in Berlin
        "no window is open; the next opens on Tue 2026-03-03 09:00 Europe/Berlin"
    )
    assert "Mon 2026-03-09 09:00" in gate.why_not(record(), MONDAY + timedelta(days=3))
    summer = datetime(2026, 6, 1, 7, 30, tzinfo=timezone.utc)  # 09:30 there
    assert gate.why_not(record(), summer) == ""


def test_a_window_over_midnight() -> None:
    night = read(window=[{"days": ["fri"], "from": "22:00", "to": "06:00"}])
    gate = Gate(night, [])
    friday = datetime(2026, 3, 6, 23, 0, tzinfo=timezone.utc)
    assert gate.why_not(record(), friday) == ""
    assert gate.why_not(record(), friday + timedelta(hours=6)) == ""
    assert "Fri 2026-03-13 22:00" in gate.why_not(record(), friday + timedelta(hours=7))
    assert "Fri 2026-03-06 22:00" in gate.why_not(record(), friday - timedelta(hours=20))


def test_a_rate_counts_what_was_opened_before() -> None:
    asked = (MONDAY - timedelta(minutes=50)).isoformat()
    gate = Gate(read(window=[{"rate": "2/hour"}]), [record(state="merged", asked=asked)])
    assert gate.why_not(record(), MONDAY) == ""
    assert gate.why_not(record(), MONDAY) == "2 opened in the last hour, as many as may be"
    assert gate.why_not(record(), MONDAY + timedelta(minutes=11)) == ""


def test_a_window_that_never_opens() -> None:
    gate = Gate(read(window=[{"rate": "0/day", "days": ["mon"]}]), [])
    assert "0 opened in the last day" in gate.why_not(record(), MONDAY)
    assert gate.why_not(record(), MONDAY + timedelta(days=1)) == "no window is open; none opens"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"opn": 1}, "opn: no such setting; there are zone, open, open-per-team, window"),
        ({"open": 0}, "open: expected a whole number above 0"),
        ({"open-per-team": True}, "open-per-team: expected a whole number"),
        ({"zone": "Mars/Olympus"}, "there is no time zone 'Mars/Olympus'"),
        ({"zone": 1}, "there is no time zone"),
        ({"window": {"days": []}}, "expected [[rollout.window]] tables"),
        ({"window": [{"days": ["monday"]}]}, "days: expected some of mon"),
        ({"window": [{"days": []}]}, "days: expected"),
        ({"window": [{"from": "9"}]}, 'from: expected a time, "09:30"'),
        ({"window": [{"rate": "ten/hour"}]}, 'rate: expected "10/hour"'),
        ({"window": [{"rate": "1/fortnight"}]}, "rate: expected"),
        ({"window": [{"at": "09:00"}]}, "at: no such setting"),
    ],
)
def test_what_cannot_be_read_is_told(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Rollout.read(table, "policy.toml: [rollout]")
    assert message in str(caught.value) and str(caught.value).startswith("policy.toml: [rollout]")


def test_the_table_is_in_the_policy_s_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('unsafe = true\n[rollout]\nopen = 3\n[[rollout.window]]\nrate = "1/day"\n')
    assert rollout.of_file(str(file)) == {"open": 3, "window": [{"rate": "1/day"}]}
    file.write_text("unsafe = true\n")
    assert rollout.of_file(str(file)) == {}
    file.write_text("rollout = 3\n")
    with pytest.raises(ConfigError, match="expected a table"):
        rollout.of_file(str(file))
