"""The table of features says what is there: each flag and command of our column is in `--help`."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from samedevice.cli.check import Format

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
COMMANDS = ("check", "fix", "rules", "map", "init", "doctor", "batch", "explain", "server")


def rows() -> list[list[str]]:
    table = PAGE.read_text("utf-8").partition("<!-- features -->")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def help_of(command: str) -> str:
    words = [sys.executable, "-m", "samedevice", *filter(None, [command]), "--help"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def claims() -> list[tuple[str, str]]:
    """Return each flag of our column with its command."""
    found = []
    for row in rows():
        command = ""
        for code in re.findall(r"`([^`]+)`", row[1]):
            words = code.split()
            if words[0] in COMMANDS:
                command = words.pop(0)
            found += [(command, word) for word in words if word.startswith("--")]
            found += [(command, "")] if not words else []
    return sorted(set(found))


def test_no_row_of_daily_use_is_blank() -> None:
    assert len(rows()) > 30
    assert [row[0] for row in rows() if not row[1]] == []
    assert {len(row) for row in rows()} == {7}, "each tool has its cell"


@pytest.mark.parametrize(("command", "flag"), claims())
def test_what_is_claimed_is_in_the_help(command: str, flag: str) -> None:
    assert not flag or flag in help_of(command)


def test_forms_are_forms() -> None:
    named = {form for row in rows() for form in re.findall(r"--format (\w+)", row[1])}
    assert named == {form.value for form in Format} - {"text"}
