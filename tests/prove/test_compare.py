"""What counts as the same output."""

import pytest

from samedevice.prove.compare import differing_line, differing_loss, normalise
from samedevice.prove.process import Captured
from samedevice.prove.record import Losses, Record


def captured(text: str, size: int | None = None) -> Captured:
    return Captured(text, len(text) if size is None else size, str(hash(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("took 3.2s", "took <timings>"),
        ("took 3.2 seconds, 5ms each", "took <timings>, <timings> each"),
        ("[00:12<00:03, 4.53it/s]", "[<timings><<timings>, <timings>]"),
        ("2024-05-01 12:30:01,123 start", "<timings> start"),
        ("at 2024-05-01T12:30:01.5Z", "at <timings>"),
        ("1e-3 s", "<timings>"),
        ("loss 0.123 after 3 steps", "loss 0.123 after 3 steps"),
        ("3 sheep, 5 models, 7 minima", "3 sheep, 5 models, 7 minima"),
        ("version 1.2.3s1", "version 1.2.3s1"),
    ],
)
def test_timings(text: str, expected: str) -> None:
    assert normalise(text, ["timings"]) == expected
    assert normalise(text, []) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("saved to /tmp/abc/model.pt.", "saved to <paths>"),
        ("C:\\Users\\me\\model.pt", "<paths>"),
        ("1/2 and a/b", "1/2 and a/b"),
        ("/", "/"),
    ],
)
def test_paths(text: str, expected: str) -> None:
    assert normalise(text, ["paths"]) == expected


def test_addresses() -> None:
    text = "<Net object at 0x7f12ab34cd56>"
    assert normalise(text, ["addresses"]) == "<Net object at <addresses>>"
    assert normalise(text, ["timings", "paths"]) == text


def test_same_output() -> None:
    assert differing_line(captured("a\nb\n"), captured("a\nb\n")) == ""


def test_first_difference() -> None:
    told = differing_line(captured("a\nb\nc\n"), captured("a\nx\ny\n"))
    assert told == "line 2: 'b' before, 'x' after"
    assert (
        differing_line(captured("a\n"), captured("a\nb\n")) == "line 2: nothing before, 'b' after"
    )


def test_trailing_space_counts() -> None:
    assert differing_line(captured("a\n"), captured("a")) != ""


def test_ignored_differences() -> None:
    one, two = captured("took 1.0s\n"), captured("took 2.0s\n")
    assert differing_line(one, two) != ""
    assert differing_line(one, two, ["timings"]) == ""
    assert differing_line(one, two, ["paths"]) != ""


def test_an_output_that_was_not_kept_whole_is_never_taken_for_the_same() -> None:
    one, two = captured("took 1.0s\n", 1 << 30), captured("took 2.0s\n", 1 << 30)
    assert differing_line(one, two, ["timings"]) != ""


def record(*values: float | None) -> Record:
    return Record(losses=Losses(len(values), 0, list(values)))


def test_losses() -> None:
    assert differing_loss(record(1.0, 2.0), record(1.0, 2.0)) == ""
    assert differing_loss(record(1.0, None), record(1.0, None)) == ""
    assert differing_loss(record(1.0, 2.0), record(1.0, 2.0000000001)).startswith("loss 2")
    assert differing_loss(record(1.0), record(1.0, 2.0)) == "loss 2: 'none' before, 2.0 after"
