"""A program that an earlier run has seen is judged by what was touched since."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from samedevice import inference
from samedevice.finding import Finding
from samedevice.migration import cache, check, glance, migrate
from samedevice.migration.cache import Cache
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

from .server.mutations import mutated

FIXTURES = Path(__file__).parents[1] / "fixtures"

LIBRARY = """\
import torch


def mask(x):
    return x * torch.ones(x.size(0))


def alone(x):
    return x + torch.zeros(x.size(0))


def last(x):
    noise = torch.rand(x.size(0))
    return x - torch.eye(x.size(0)) + noise


def bare(x):
    return x.exp()
"""
PROGRAM = """\
import torch
from library import mask

model = torch.nn.Linear(3, 3).cuda()
other = torch.nn.Linear(3, 3).cuda()
for _ in range(3):
    x = model(torch.rand(4, 3))
    y = other(torch.rand(4, 3))
    print(mask(x).sum(), torch.rand(4, 3) + x, mask(y) + torch.zeros(3))
"""
PROGRAM += "".join(
    f"print(model(torch.rand({n}, 3)) + other(torch.rand({n}, 3)))\n" for n in range(9)
)


class Runs:
    """Checks of a project, each in a run of its own, and which units each inference evaluated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts = {"library.py": LIBRARY, "program.py": PROGRAM}
        self.inferred: list[bool] = []
        infer = inference.infer

        def watched(project, program=None, step=None, focus=None, **named):  # type: ignore[no-untyped-def]
            self.inferred.append(focus is None)
            return infer(project, program, step or (lambda files: None), focus, **named)

        monkeypatch.setattr(inference, "infer", watched)

    def project(self) -> Project:
        """Return the project as it is now, with nothing known of it."""
        return Project([source.from_text(text, path) for path, text in self.texts.items()])

    def check(self) -> tuple[list[Finding], dict[str, int]]:
        """Return what a run with the cache finds and counts, equal to what one without does."""
        project, placed = self.project(), dict[str, int]()
        known = Cache(project, Config())
        self.inferred.clear()
        found = check.check(
            project, Config(), cache=known, placed=placed, quick=glance.since, whole=True
        )
        known.write()
        inferred, counted = [*self.inferred], dict[str, int]()
        assert found == check.check(self.project(), Config(), placed=counted)
        assert {p: n for p, n in placed.items() if n} == {p: n for p, n in counted.items() if n}
        self.inferred[:] = inferred
        return found, placed

    def edit(self, path: str, old: str, new: str) -> bool:
        """Edit a file and check; tell whether a whole inference was needed."""
        assert old in self.texts[path]
        self.texts[path] = self.texts[path].replace(old, new)
        self.check()
        return True in self.inferred


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    """A project that a run has seen."""
    monkeypatch.setenv("SAMEDEVICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "WORTHWHILE", 0)
    runs = Runs(monkeypatch)
    runs.check()
    assert runs.inferred == [True]
    return runs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x.exp()", "x.exp() + 1"),
        ("x + torch.zeros(x.size(0))", "x + torch.zeros(x.size(0)) + 1"),
        ("def bare", "# more\n# lines\ndef bare"),
        ("return x + torch", "# a comment\n    return x + torch"),
        ("    noise = torch.rand", "    size = 3\n    noise = torch.rand"),
    ],
)
def test_an_edit_of_what_a_function_does_takes_no_whole_inference(
    runs: Runs, old: str, new: str
) -> None:
    assert not runs.edit("library.py", old, new)
    assert runs.inferred, "but one of what it touches"
    assert not runs.edit("library.py", new, old)
    assert not runs.inferred  # the texts that were kept


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("library.py", "def bare(x)", "def bare(x, y=None)"),
        ("library.py", "import torch\n", "import torch\nSIZE = 3\n"),
        ("library.py", "x.exp()", "x + torch.rand(x.size(0))"),  # a fix more
        ("library.py", "x * torch.ones(x.size(0))", "x.cpu() * 2"),  # others get something else
        ("program.py", "torch.rand(4, 3) + x", "torch.rand(4, 3) - x"),
        ("library.py", "x.exp()", "x.exp()  # samedevice: ignore"),
    ],
)
def test_any_other_edit_waits_for_the_whole(runs: Runs, path: str, old: str, new: str) -> None:
    assert runs.edit(path, old, new)
    runs.texts[path] += "# the end\n"
    runs.check()
    assert runs.inferred and True not in runs.inferred  # it was kept in its turn


def test_many_edits_are_compared_with_the_last_whole(runs: Runs) -> None:
    for number in range(4):
        assert not runs.edit("library.py", "x.exp()", f"x.exp() + {number} - x.exp()")


def test_a_fix_infers_what_a_check_has_judged_by_a_part_of_it(runs: Runs) -> None:
    assert not runs.edit("library.py", "x.exp()", "x.exp() + 1")
    project = runs.project()
    outcome = migrate.migrate(project, Config(), cache=Cache(project, Config()))
    fresh = migrate.migrate(runs.project(), Config())
    assert outcome.changes == fresh.changes and len(fresh.changes) == 2
    assert outcome.remaining == fresh.remaining


def test_texts_that_are_broken_or_gone_are_none(runs: Runs) -> None:
    (kept,) = cache.folder().glob("*.texts.json")
    whole = kept.read_text()
    for number, text in enumerate(("", "{}", whole[:-40], whole.replace("A", "B"))):
        kept.write_text(text)
        assert runs.edit("library.py", "x.exp()", f"x.exp() + {number} - x.exp()")
    kept.unlink()
    assert runs.edit("library.py", "x.exp()", "x.exp() * 2")


def test_small_programs_are_not_kept(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "WORTHWHILE", 50_000)
    assert runs.edit("library.py", "x.exp()", "x.exp() + 1")


def test_edits_at_random_are_judged_as_by_a_whole_check(runs: Runs) -> None:
    random_ = random.Random(5)
    touched = 0
    for before in sorted(FIXTURES.glob("projects/*/before")):
        paths = sorted(before.rglob("*.py"))
        texts = {path.as_posix(): path.read_text("utf-8") for path in paths}
        runs.texts = dict(texts)
        runs.check()
        for _ in range(10):
            path = random_.choice([*texts])
            runs.texts = texts | {path: mutated(texts[path], random_)}
            if runs.project().tree(path) is not None:
                runs.check()
                touched += bool(runs.inferred) and True not in runs.inferred
    assert touched > 15
