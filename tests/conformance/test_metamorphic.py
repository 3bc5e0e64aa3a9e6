"""What is found in a program does not change when the program is written in another way.

`metamorphic.toml` lists what does not hold yet, with the cause.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from samedevice.migration.check import check, is_wrong
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project
from tests.fixtures.cases import cases

from .language import CLASH, TWIN, pairs
from .relations import (
    RELATIONS,
    Files,
    Relation,
    comments,
    padded,
    plain,
    repeated,
    telling_comments,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTED = Path(__file__).with_name("metamorphic.toml")
PENDING: dict[str, dict[str, str]] = tomllib.loads(LISTED.read_text("utf-8"))
#: Of about that many programs each relation is tested on one in `make test`, and on all by `slow`
#: tests.
SAMPLE = 48
#: What works on the text itself.
ON_TEXT = (comments, telling_comments)


def subjects() -> dict[str, Files]:
    """Return the programs that the relations are tested on: fixtures, and the language suite's."""
    found = {}
    for case in cases():
        for version in case.versions:
            files = case.files(version)
            python = {path: text for path, text in files.items() if path.endswith(".py")}
            found[f"{case.name}/{version}"] = python
    for pair in pairs():
        if pair.runs_here:
            for which in (CLASH, TWIN):
                found[f"{pair.name}/{which}"] = {"main.py": pair.program(which)}
    return found


SUBJECTS = subjects()


@pytest.mark.parametrize("name", RELATIONS)
def test_the_same_is_found_in_some(name: str) -> None:
    hold(name, [one for one in chosen(name) if is_sampled(name, one)])


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
def test_the_same_is_found_in_all(name: str) -> None:
    hold(name, chosen(name))


def chosen(name: str) -> list[str]:
    """Return the programs that a relation is tested on."""
    if RELATIONS[name] is not padded:  # it takes its time
        return list(SUBJECTS)
    return [one for one in SUBJECTS if len(SUBJECTS[one]) > 2]


def is_sampled(name: str, subject: str) -> bool:
    """Tell whether a relation is tested on a program each time: whatever other programs there are.

    So a new program moves no others in.
    """
    return zlib.crc32(f"{name} {subject}".encode()) % SAMPLE == 0


def hold(name: str, subjects: list[str]) -> None:
    """Assert that a relation holds for these programs, but for those that are listed."""
    listed = PENDING.get(name, {})
    different = {one: told for one in subjects if (told := difference(name, one))}
    new = {one: told for one, told in different.items() if one not in listed}
    assert not new, "\n".join(f"{one}: {told}" for one, told in new.items())
    mended = [one for one in subjects if one in listed and one not in different]
    assert not mended, f"they hold now: take them from metamorphic.toml: {mended}"


def test_pending_names_exist() -> None:
    """What is listed as pending is a relation and a program."""
    assert set(PENDING) <= set(RELATIONS)
    assert {one for causes in PENDING.values() for one in causes} <= set(SUBJECTS)


def difference(name: str, subject: str) -> str:
    """Return what a relation changes about a program's findings, in words; empty if nothing."""
    return changes(RELATIONS[name], SUBJECTS[subject]) or ""


def changes(relation: Relation, files: Files) -> str | None:
    """Return what a relation changes about the findings in files; None if it has nothing to do."""
    before = files if relation in ON_TEXT else plain(files)
    after = relation(before)
    if after is None:
        return None
    expected, got = found(before), found(after)
    if relation is repeated:  # what is wrong with a call is wrong with each
        expected, got = Counter(set(expected)), Counter(set(got))
    parts = (("lost", expected - got), ("new", got - expected))
    return "; ".join(f"{word}: {_told(which)}" for word, which in parts if which)


def _told(findings: Counter[tuple[str, bool]]) -> str:
    return ", ".join(
        f"{count} {rule}{'' if fix else ' without a fix'}"
        for (rule, fix), count in sorted(findings.items())
    )


def found(files: Files) -> Counter[tuple[str, bool]]:
    """Return the rules by which something is wrong, and whether there is a fix for it."""
    return _found(tuple(sorted(files.items())))


@cache
def _found(files: tuple[tuple[str, str], ...]) -> Counter[tuple[str, bool]]:
    project = Project([source.from_text(text, path) for path, text in files])
    findings = check(project, Config())
    assert not project.errors, project.errors
    return Counter((one.rule, one.fix is not None) for one in findings if is_wrong(one))
