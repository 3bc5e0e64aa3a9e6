"""CODEOWNERS as Gitea and Forgejo read it."""

from __future__ import annotations

import re
import time

import pytest

from samedevice.batch.owners import _fits, _steps, owners_by_expression


def test_every_line_that_fits_counts() -> None:
    text = (
        "# who reviews what\n"
        ".*\\.py @acme/python  # all of it\n"
        "src/[^/]+\\.py @ann\n"
        "!docs/.* @bob\n"
        "(a|b) @never\n"
        "nobody\n"
    )
    assert owners_by_expression(text, ["src/a.py"]) == ["@acme/python", "@ann", "@bob"]
    assert owners_by_expression(text, ["src/deep/a.py"]) == ["@acme/python", "@bob"]
    assert owners_by_expression(text, ["docs/x.md"]) == []
    assert owners_by_expression(text, ["docs/a.py", "src/b.py"]) == [
        "@acme/python", "@ann", "@bob"
    ]  # fmt: skip


@pytest.mark.parametrize("expression", ["a(b)", "[a-z]", "a?", "a{2}", "^a$", "a|b", "\\d+", "+"])
def test_what_is_passed_over(expression: str) -> None:
    assert _steps(expression) is None
    assert owners_by_expression(f"{expression} @ann\n", ["a"]) == []


@pytest.mark.parametrize(
    "expression",
    [".*", "a.*b", "[^/]*", "[^/]+/[^/]+", "src/.+\\.py", "a+b*", "x", "\\.github/.*", "a.c", ""],
)
def test_as_a_regular_expression_would(expression: str) -> None:
    steps = _steps(expression)
    assert steps is not None
    for path in (
        "",
        "x",
        "ab",
        "aab",
        "a/b",
        "abc",
        "src/a.py",
        "src/.py",
        "src/d/a.py",
        ".github/x",
    ):
        assert _fits(steps, path) == bool(re.fullmatch(expression, path)), path


def test_a_hostile_one_takes_no_longer() -> None:
    steps = _steps(".*a" * 60)
    assert steps is not None
    started = time.process_time()
    assert not _fits(steps, "a" * 50 + "b" * 4_000)
    assert owners_by_expression(f"{'.*a' * 60} @ann\n" * 4_000, ["a" * 300] * 100) == []
    assert time.process_time() - started < 5
